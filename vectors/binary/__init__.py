"""Binary layouts, task by task."""
