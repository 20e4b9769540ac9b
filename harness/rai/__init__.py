"""The Rai protocol for cache-backed publish and subscribe: its peers, and the tester's side of it."""
