"""Where the faults, the oddities and the defects of the Zenoh peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.zenoh.variants.faults")
ODDITIES = Variants("harness.zenoh.variants.oddities")
DEFECTS = Variants("harness.zenoh.variants.defects")

fault, oddity, defect = FAULTS, ODDITIES, DEFECTS
