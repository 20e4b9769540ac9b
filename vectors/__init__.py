"""Vectors: the golden test vectors, and the checks of codecs.

Internal to goldwire: ``import goldwire`` is what stays the same between versions (docs/api.md).
"""
