"""The variants of Zenoh's peers: faults break a rule, oddities keep one in an unusual way."""
