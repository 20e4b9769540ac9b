"""The cases of Urbit's session-based notifications, a file per section of the document or per thing it speaks of."""
