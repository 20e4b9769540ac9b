"""The reference peers: a publisher and a subscriber."""
