"""Where the faults and the oddities of Toy's peers are collected: they are loaded when somebody asks for them."""

from harness.peers.variants import Variants

FAULTS = Variants("harness.toy.variants.faults")
ODDITIES = Variants("harness.toy.variants.oddities")

fault, oddity = FAULTS, ODDITIES
