"""The tester tested: faults must be caught, innocent peers must pass."""
