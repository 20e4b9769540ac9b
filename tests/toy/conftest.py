"""Nothing to collect here: the toy's folders are complete only in a copy of the rooms (tests/shape/test_toy.py)."""

collect_ignore = ["conformance", "harness", "vectors", "wire"]
