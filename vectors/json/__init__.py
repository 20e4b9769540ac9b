"""Layouts of JSON, task by task."""
