"""Where the faults of the Zenoh peers are collected."""

from harness.faults import Variants

FAULTS = Variants()
fault = FAULTS
