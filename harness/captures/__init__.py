"""Captures: recordings of TCP and UDP as files, read as sessions and written as packets; the recording proxy."""
