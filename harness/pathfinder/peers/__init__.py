"""The reference peers of Pathfinder: a file per role, and what they are made of."""
