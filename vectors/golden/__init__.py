"""The files of golden vectors: made, checked, loaded, exported."""
