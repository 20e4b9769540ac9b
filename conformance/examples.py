"""How property cases search: a fixed budget of examples, the same ones every time."""

import os

from hypothesis import HealthCheck, Phase, settings

QUICK = "GOLDWIRE_QUICK"
"""The environment variable with which the kill matrix asks for fewer examples, and none of them made small."""

GATE = settings(
    max_examples=15 if os.environ.get(QUICK) else 40,
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.generate) if os.environ.get(QUICK) else tuple(Phase),
    suppress_health_check=list(HealthCheck),
)
"""How the gate searches."""

AS_FOUND = settings(GATE, phases=(Phase.explicit, Phase.generate))
"""How it searches where every failure takes a wait to be seen: what fails is not made smaller."""
