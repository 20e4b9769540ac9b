"""Links: how frames travel between the tester, implementations and our own peers."""
