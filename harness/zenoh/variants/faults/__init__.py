"""The faults of the reference peers: each a small lie next to the truth, listed by the rules that it breaks."""
