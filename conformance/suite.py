"""A suite: all that a protocol brings to conformance, in one place.

A protocol is a folder ``conformance/<protocol>/``, and what stands in it has the same names for every protocol:

==================  ====================================================================================================
``rules.toml``      its rules, with ``readings.toml`` and ``documents.toml`` beside it: the catalogue
``cases/``          files ``test_<section>.py`` with functions that ``conformance.cases.rule`` marks
``monitors/``       a package whose ``MONITORS`` is a ``Monitors``; what they know of a session stands in ``state.py``
``expectations/``   what is known to be wrong with an implementation, a file for each; there may be none
``histories/``      what histories need of it: moves, a teller, a model, a comparison; docs/histories.md lists the files
``strategies.py``   Hypothesis strategies for the property cases, if it has any
``model.py``        the reference peer that property cases compare the implementation with
``stimuli.py``      what several files of cases send, ``answers.py`` what several of them read in what comes back
==================  ====================================================================================================

The rest of the room reaches the first three through a suite, and the harness's half of a protocol through
``harness.protocol``. The others are loaded by the protocol's own cases only, so nobody else need know their names.
"""

from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from conformance.cases import Case, cases
from conformance.catalogue.loading import load_catalogue
from conformance.catalogue.rules import Catalogue
from conformance.monitors import Monitors
from conformance.verdicts import Outcome, when_broken
from harness.protocol import IncompleteProtocol, WireProtocol
from harness.protocol import load as load_protocol


class Suite:
    """What a protocol brings: ``harness`` is the harness's half of it, ``catalogue`` its rules and readings.

    ``IncompleteProtocol`` says which part is missing, or which names a rule that does not exist; ``CatalogueError``
    says what is wrong with the catalogue.
    """

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.harness: WireProtocol = load_protocol(protocol)
        self.catalogue: Catalogue = _catalogue(protocol)
        self.monitors: Monitors[Any] = _monitors(protocol)
        self._check("monitors", {monitor.rule for monitor in self.monitors})

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Its cases, in the order of files and lines.

        Loaded when somebody asks: cases bring Hypothesis with them, and who judges recordings plays none.
        """
        found = tuple(cases(self.protocol, self.harness.usual_transport))
        self._check("cases", {rule for case in found for rule in case.marks.rules + case.marks.needs})
        return found

    def broken(self, rule: str) -> Outcome:
        """Return the outcome of a rule that is broken."""
        found = self.catalogue.rules[rule]
        return when_broken(found.strength, follows=bool(found.follows))

    def _check(self, folder: str, rules: set[str]) -> None:
        """Refuse a rule that is not in the catalogue: a typing error would leave the one that was meant untested."""
        if unknown := sorted(rules - self.catalogue.rules.keys()):
            raise IncompleteProtocol(
                f"conformance/{self.protocol}/{folder}/: {', '.join(unknown)} not in rules.toml; correct or add it"
            )


@cache  # a run makes several suites of its protocol, and to read the files takes longer than to play most cases
def _catalogue(protocol: str) -> Catalogue:
    return load_catalogue(protocol)


def _monitors(protocol: str) -> Monitors[Any]:
    name = f"conformance.{protocol}.monitors"
    if find_spec(name) is None:
        raise IncompleteProtocol(f"{protocol!r} has no monitors: add conformance/{protocol}/monitors/")
    found = vars(import_module(name)).get("MONITORS")
    if not isinstance(found, Monitors):
        raise IncompleteProtocol(f"conformance/{protocol}/monitors/ declares no MONITORS = Monitors(…)")
    return found
