"""Where the oddities of the Zenoh peers are collected."""

from harness.faults import Variants

ODDITIES = Variants()
oddity = ODDITIES
