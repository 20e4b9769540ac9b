"""Where the faults, the oddities and the defects of the Pathfinder peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.pathfinder.variants.faults")
ODDITIES = Variants("harness.pathfinder.variants.oddities")
DEFECTS = Variants("harness.pathfinder.variants.defects")

fault, oddity, defect = FAULTS, ODDITIES, DEFECTS
