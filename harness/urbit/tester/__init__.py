"""The tester's side: either end of a conversation, and what a case works with."""
