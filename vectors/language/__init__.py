"""Layouts that are texts of a language with a grammar in ABNF, task by task."""
