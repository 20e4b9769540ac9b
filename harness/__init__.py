"""Harness: links, traces, drivers, reference peers, implementations under test.

Internal to goldwire: ``import goldwire`` is what stays the same between versions (docs/api.md).
"""
