"""The tester's side of Pathfinder: what it says, what it understands, and what a case has at hand."""
