"""Fuzz: the search for frames and sequences that break an implementation.

Internal to goldwire: ``import goldwire`` is what stays the same between versions (docs/api.md).
"""
