"""Zenoh in the harness: ``protocol`` says what there is, ``tester`` plays against a node, ``peers`` are our own."""
