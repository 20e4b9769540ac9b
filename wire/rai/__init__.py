"""Rai: cache-backed publish and subscribe over brokers, in messages of relaxed JSON."""
