"""Where the faults and the oddities of the peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.rai.variants.faults")
ODDITIES = Variants("harness.rai.variants.oddities")

fault, oddity = FAULTS, ODDITIES
