"""Implementations under test: what is known of them, and how they are started, told to act, and ended."""
