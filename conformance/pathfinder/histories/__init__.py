"""Histories of Pathfinder: long conversations of several clients with a server."""
