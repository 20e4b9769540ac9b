"""Cases for the Pathfinder document: one file per section, each case named after its stimulus."""
