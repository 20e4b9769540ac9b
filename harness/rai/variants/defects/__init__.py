"""Defects of Rai's nodes, as programs have them that keep the document: what a fuzzer is to find."""
