"""The tester's side of Toy: what it says, and what it understands."""
