"""The tester's side of Zenoh: what it says, what it understands, and what a case has at hand."""
