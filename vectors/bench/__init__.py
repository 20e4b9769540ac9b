"""How fast the engines are, beside codecs written by hand and by others."""
