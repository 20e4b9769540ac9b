"""Wire: grammars of the documents, and every codec that is made of them.

Internal to goldwire: ``import goldwire`` is what stays the same between versions (docs/api.md).
"""
