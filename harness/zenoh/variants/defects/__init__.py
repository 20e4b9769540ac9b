"""Defects of Zenoh nodes, as programs have them that keep the documents: what a fuzzer is to find."""
