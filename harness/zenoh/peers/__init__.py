"""The reference peers of Zenoh: a file per role, and what they are made of."""
