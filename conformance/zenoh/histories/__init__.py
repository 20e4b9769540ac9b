"""Histories of Zenoh: what sessions do, the model of what each must and may be told, and what is compared."""
