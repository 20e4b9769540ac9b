"""Faults and oddities of the peers."""
