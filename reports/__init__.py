"""Reports: exports of runs, recordings, the lake and its pipeline.

Internal to goldwire: ``import goldwire`` is what stays the same between versions (docs/api.md).
"""
