"""Urbit's session-based notifications: publisher and subscriber, and the tester's side of either."""
