"""Network fuzzing of Urbit's session-based notifications."""
