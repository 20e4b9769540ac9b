"""Mismatches: what a node did in a history that the model rules out."""


class Mismatch(Exception):
    """The node did what it must not, or did not what it must; ``rule`` is what that breaks.

    ``thing`` is what never came, where waits of other plays have a name for it (``harness.timing.Silences``).
    """

    def __init__(self, rule: str, what: str, *, thing: str = "") -> None:
        super().__init__(what)
        self.rule = rule
        self.what = what
        self.thing = thing
