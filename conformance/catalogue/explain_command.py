"""``goldwire explain``: all that is known of one rule, one reading or one case."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

import click

from conformance.cases import Case
from conformance.catalogue.completion import rules_and_readings
from conformance.catalogue.loading import CatalogueError, protocols
from conformance.catalogue.rules import Catalogue, Reading, Rule
from conformance.contract.expectations import BadExpectations, Expectation, parse_expectations
from conformance.gate.failure_page import labelled, rule_lines
from conformance.gate.printing import print_lines
from conformance.suite import Suite
from harness.command import WrongUsage
from harness.protocol import IncompleteProtocol
from vectors.golden import loader
from wire import completion

ALIKE = 3
"""Names that are proposed for one that there is not."""

PROFILES = ("document", "deployed")


@click.command()
@click.argument("name", metavar="RULE|READING|CASE", shell_complete=rules_and_readings)
@click.option(
    "--protocol",
    metavar="NAME",
    shell_complete=completion.protocols,
    help="Only of this protocol: several have a reading R04.",
)
def explain(name: str, protocol: str | None) -> None:
    """Explain a rule (ZI-015), a reading (R04) or a case (test_modes.test_current…) of any protocol.

    Of a rule: what it says and where, what it needs, which readings there are, how it is verified, which faults prove
    that, and what real nodes are known to do.

    \b
    Examples:
      goldwire explain ZI-015
      goldwire explain R04 --protocol zenoh
      goldwire explain test_final.test_interest_right_behind_a_final
    """
    known = protocols()
    if protocol is not None and protocol not in known:
        raise WrongUsage(f"unknown protocol {protocol!r}: known are {', '.join(known)}")
    try:
        suites = [Suite(each) for each in known if protocol in (None, each)]
        found = [lines for suite in suites if (lines := list(explained(name, suite)))]
        if not found:
            raise WrongUsage(_unknown(name, suites))
    except (CatalogueError, IncompleteProtocol, BadExpectations) as error:
        raise click.ClickException(str(error)) from None
    print_lines([line for lines in found for line in (*lines, "")][:-1], sys.stdout)


def explained(name: str, suite: Suite) -> Iterator[str]:
    """Yield what a protocol knows of a name, in lines; nothing where it has no such rule, reading or case."""
    catalogue = suite.catalogue
    if (rule := catalogue.rules.get(name.upper())) is not None:
        yield from _rule(rule, suite)
    elif (reading := catalogue.readings.get(name.upper())) is not None:
        yield from _reading(reading, catalogue)
    else:
        for case in suite.cases:
            if name in (case.name, case.name.partition(".")[2]):
                yield from _case(case, suite)


def _rule(rule: Rule, suite: Suite) -> Iterator[str]:
    catalogue = suite.catalogue
    yield from rule_lines(rule)
    yield from labelled("protocol", suite.protocol)
    yield from labelled("binds", rule.binds)
    yield from labelled("on paper", rule.reason)
    yield from labelled("needs", "\n".join(_named(each, catalogue) for each in rule.needs))
    for each in rule.readings:
        yield from labelled("reading", "\n".join(_answers(catalogue.readings[each])))
    judging = [case for case in suite.cases if rule.id in case.marks.rules]
    yield from labelled("cases", "\n".join(f"{case.name}: {case.sentence}" for case in judging))
    if any(monitor.rule == rule.id for monitor in suite.monitors):
        yield from labelled("monitor", "it is judged in everything that is said, in plays and recordings")
    yield from labelled("vectors", "\n".join(_vectors(rule.id, suite.protocol)))
    proofs = (("faults", suite.harness.faults), ("oddities", suite.harness.oddities))
    for label, variants in proofs:
        about = variants.about(rule.id)
        yield from labelled(label, "\n".join(f"{each.name} ({each.role}): {each.sentence}" for each in about))
    yield from labelled("known", "\n".join(_known(rule.id, judging, suite.protocol)))
    if judging:
        yield from labelled("try", f"goldwire test {suite.protocol} --iut … -k {rule.id}")


def _reading(reading: Reading, catalogue: Catalogue) -> Iterator[str]:
    yield f"{reading.id}  {reading.question}"
    yield from labelled("protocol", catalogue.protocol)
    yield from labelled("answers", "\n".join(_answers(reading)[1:]))
    open_to_it = [rule for rule in catalogue.rules.values() if reading.id in rule.readings]
    yield from labelled("rules", "\n".join(f"{rule.id}: {rule.gist}" for rule in open_to_it))


def _case(case: Case, suite: Suite) -> Iterator[str]:
    yield f"{case.name}  {case.sentence}"
    yield from labelled("protocol", suite.protocol)
    yield from labelled("then", case.requirement)
    yield from labelled("rules", "\n".join(_named(each, suite.catalogue) for each in case.marks.rules))
    yield from labelled("needs", "\n".join(_named(each, suite.catalogue) for each in case.marks.needs))
    yield from labelled("roles", ", ".join(sorted(case.marks.roles)) or "all")
    yield from labelled("over", ", ".join(sorted(case.marks.transports)))
    yield from labelled("try", f"goldwire test {suite.protocol} --iut … -k {case.name}")


def _named(rule: str, catalogue: Catalogue) -> str:
    return f"{rule}: {catalogue.rules[rule].gist}"


def _answers(reading: Reading) -> list[str]:
    """Return a reading's question, and its answers with the profiles that accept them."""
    lines = [f"{reading.id}: {reading.question}"]
    for option, answer in reading.options.items():
        profiles = [each for each in PROFILES if option in getattr(reading, each)]
        lines.append(f"{option}: {answer} ({'accepted in ' + ' and '.join(profiles) if profiles else 'not accepted'})")
    return lines


def _vectors(rule: str, protocol: str) -> list[str]:
    """Return how many golden vectors of each layout look at a rule."""
    counts = Counter(
        layout
        for layout in loader.layouts()
        if layout.startswith(f"{protocol}/")
        for vector in loader.load(layout)
        if rule in vector.rules
    )
    return [f"{count} of {layout}" for layout, count in counts.items()]


def _known(rule: str, judging: Sequence[Case], protocol: str) -> Iterator[str]:
    """Yield what the expectations that come with goldwire say of a rule."""
    folder = files("conformance").joinpath(protocol, "expectations")
    for file in sorted(folder.iterdir(), key=lambda each: each.name) if folder.is_dir() else ():
        name = file.name.removesuffix(".toml")
        for entry in parse_expectations(file.read_text(encoding="utf-8"), Path(str(file))).entries:
            if (entry.rule and entry.names(rule)) or (entry.case and any(entry.names(case.name) for case in judging)):
                yield f"{name}{_limits(entry)}: {entry.outcome.value}: {entry.reason}"


def _limits(entry: Expectation) -> str:
    roles = f" as {' and '.join(entry.roles)}" if entry.roles else ""
    profile = f" in profile {entry.profile}" if entry.profile else ""
    return f"{' ' * bool(entry.versions)}{entry.versions}{roles}{profile}"


def _unknown(name: str, suites: Sequence[Suite]) -> str:
    names = [
        each
        for suite in suites
        for each in (*suite.catalogue.rules, *suite.catalogue.readings, *(case.name for case in suite.cases))
    ]
    alike = dict.fromkeys(get_close_matches(name, names, ALIKE) + get_close_matches(name.upper(), names, ALIKE))
    rest = f"; alike are {', '.join(alike)}" if alike else "; goldwire rules PROTOCOL lists the rules"
    return f"there is no rule, reading or case {name!r}{rest}"
