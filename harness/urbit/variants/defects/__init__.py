"""Defects of Urbit's peers, as programs have them that keep the document: what a fuzzer is to find."""
