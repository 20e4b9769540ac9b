"""Pathfinder in the harness: ``protocol`` says what there is, ``tester`` plays, ``peers`` are our own."""
