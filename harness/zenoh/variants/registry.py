"""Where the faults and the oddities of the Zenoh peers are collected."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.zenoh.variants.faults")
ODDITIES = Variants("harness.zenoh.variants.oddities")

fault, oddity = FAULTS, ODDITIES
