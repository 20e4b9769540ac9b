"""How property cases search: a fixed budget of examples, the same ones every time."""

from hypothesis import HealthCheck, Phase, settings

GATE = settings(
    # Each example is a play over real links. Forty find every seeded fault that a property case is to find, and cost
    # seconds; whoever wants more searches by fuzzing, which has no budget.
    max_examples=40,
    # The gate is to say the same of the same implementation on every machine, and to leave no files behind.
    derandomize=True,
    database=None,
    # Time is the implementation's: one that is slow is not wrong, and a lost answer has a time-out of its own.
    deadline=None,
    # One failure is enough to accuse, and each further one costs as much to make small.
    report_multiple_bugs=False,
    # They warn of slow or rare examples, which is a matter of the implementation again.
    suppress_health_check=list(HealthCheck),
)
"""How the gate searches."""

WITHOUT_SHRINKING = settings(GATE, phases=(Phase.explicit, Phase.generate))
"""How it searches where every failure takes a wait to be seen: what fails is not made smaller."""
