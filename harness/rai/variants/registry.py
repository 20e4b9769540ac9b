"""Where the faults, the oddities and the defects of the peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.rai.variants.faults")
ODDITIES = Variants("harness.rai.variants.oddities")
DEFECTS = Variants("harness.rai.variants.defects")

fault, oddity, defect = FAULTS, ODDITIES, DEFECTS
