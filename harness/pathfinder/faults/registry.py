"""Where the faults of the Pathfinder server and client are collected."""

from harness.faults import Variants

FAULTS = Variants()
fault = FAULTS
