"""The tester's side of Pathfinder: the messages that it sends and reads, and what a case works with."""
