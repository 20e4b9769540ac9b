"""Histories: long, random conversations with a node over several sessions, judged step by step against a model."""
