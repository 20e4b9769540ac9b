"""Conformance: rules, cases, monitors, verdicts.

Internal to goldwire: ``import goldwire`` is what stays the same between versions (docs/api.md).
"""
