"""Histories: what the document's sentences do together, over several sessions, subjects and minutes.

Each is generated from a seed (``conformance/rai/histories/``) and compared after every move with what is known of
everybody. ``-k 'test_values[17]'`` plays the history of another seed.
"""
