"""Where the oddities of the Pathfinder server and client are collected."""

from harness.faults import Variants

ODDITIES = Variants()
oddity = ODDITIES
