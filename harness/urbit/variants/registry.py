"""Where the faults and the oddities of the peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.urbit.variants.faults")
ODDITIES = Variants("harness.urbit.variants.oddities")

fault, oddity = FAULTS, ODDITIES
