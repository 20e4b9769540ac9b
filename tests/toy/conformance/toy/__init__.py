"""Toy's rules, cases and monitors."""
