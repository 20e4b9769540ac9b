"""Where the faults and the oddities of the Pathfinder peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.pathfinder.variants.faults")
ODDITIES = Variants("harness.pathfinder.variants.oddities")

fault, oddity = FAULTS, ODDITIES
