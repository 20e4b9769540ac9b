"""The mutation score: the reference peers' own source is changed by machine, and the gate has to notice."""
