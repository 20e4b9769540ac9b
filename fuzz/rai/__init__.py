"""Network fuzzing of Rai's nodes."""
