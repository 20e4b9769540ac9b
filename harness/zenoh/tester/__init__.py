"""The tester's side of Zenoh: the messages that it sends and reads, and what a case works with."""
