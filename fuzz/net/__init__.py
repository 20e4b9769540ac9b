"""Network fuzzing: tests of several sessions against an implementation that runs, and what they find."""
