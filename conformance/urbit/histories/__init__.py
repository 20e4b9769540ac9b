"""Histories of Urbit's ships: several subscribers with one publisher, and a subscriber with whatever publisher."""
