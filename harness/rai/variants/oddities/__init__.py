"""Oddities: each keeps the rules in an unusual way."""
