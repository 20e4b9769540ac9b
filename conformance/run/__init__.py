"""A run: its settings, its records, its summary."""
