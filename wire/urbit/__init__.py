"""Urbit's session-based notifications: nouns, checksums and signatures, of which its packets are made."""
