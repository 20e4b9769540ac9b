"""Toy in the harness: ``protocol`` says what there is, ``tester`` plays against a server, ``peers`` are our own."""
