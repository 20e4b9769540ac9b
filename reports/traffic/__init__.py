"""Generated traffic: captures of sessions in which it is known who breaks which rule, as many frames as one wants."""
