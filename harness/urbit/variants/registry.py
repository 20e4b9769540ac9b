"""Where the faults, the oddities and the defects of the peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.urbit.variants.faults")
ODDITIES = Variants("harness.urbit.variants.oddities")
DEFECTS = Variants("harness.urbit.variants.defects")

fault, oddity, defect = FAULTS, ODDITIES, DEFECTS
