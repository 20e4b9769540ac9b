"""The reference peers of Toy: one file per role."""
