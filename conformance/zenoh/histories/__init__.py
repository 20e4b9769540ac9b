"""Histories of Zenoh: what sessions say, the model of what each must and may be told, and what is compared."""
