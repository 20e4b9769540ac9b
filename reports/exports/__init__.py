"""Exports: a finished run in the forms that others read."""
