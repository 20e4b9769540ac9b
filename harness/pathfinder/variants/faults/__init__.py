"""The faults of the reference server and client: each a small lie next to the truth, listed by the rules it breaks."""
