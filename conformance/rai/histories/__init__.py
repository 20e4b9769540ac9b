"""Histories of Rai's nodes: several subscribers with one publisher, and a subscriber with several publishers."""
