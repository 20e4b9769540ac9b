"""The cases of Toy, one file per section of its document that says what somebody does."""
