"""Faults: each breaks one rule."""
