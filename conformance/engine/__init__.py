"""The engine: plays cases against an implementation and confirms what does not pass."""
