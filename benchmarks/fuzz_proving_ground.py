"""How many of the defects that are planted in the reference peers a network campaign finds, with feedback and without.

::

    python benchmarks/fuzz_proving_ground.py --for 5m --seeds 3 --write scoreboard.md
    python benchmarks/fuzz_proving_ground.py zenoh --for 60s --seeds 1
    python benchmarks/fuzz_proving_ground.py --results played.ndjson  # goes on where it was ended
    python benchmarks/fuzz_proving_ground.py --planted depth  # in peers that have no others

Each campaign begins with an empty folder, against a peer that has all defects of its role at once, or all of a kind.
What a finding is about is tried, not read: its smallest test is played on peers that have one defect each, and it has
found those of which something shows. On a peer without any defect nothing may show: that would accuse an innocent.
"""

import statistics
import tempfile
from collections.abc import Iterator, Sequence, Set
from itertools import product
from pathlib import Path

import click
import msgspec

from conformance.suite import Suite
from fuzz.net import campaign as campaigns
from fuzz.net.campaign import NetworkCampaign
from fuzz.net.finding import NetworkFinding
from fuzz.net.node_on_trial import NodeOnTrial, reproduce
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial, usual_transport
from harness.iuts.description import resolve
from harness.peers.variants import Variant
from harness.protocol import load as load_protocol
from vectors.check_command import interrupted_by_signal
from vectors.durations import read_time
from wire.files import write_file

TRIES = 10
"""How often a finding is tried of which nothing has shown: some go by which of two sessions comes first."""

ALL = "all"
"""Planted are all defects of a role."""

DEPTH = "depth"
"""The kind of the defects that show in states to which several steps lead."""


class PlayedCampaign(msgspec.Struct, frozen=True):
    """What one campaign of a role came to: after how many seconds it found each defect, by name.

    ``planted`` are the defects that its peer had, ``all`` or those of a kind. ``unexplained`` are findings of which no
    defect alone shows anything, ``innocent`` those that a healthy peer shows as well.
    """

    protocol: str
    role: str
    seconds: float
    workers: int
    seed: int
    feedback: bool
    tests: int
    found: dict[str, float]
    unexplained: tuple[str, ...]
    innocent: tuple[str, ...]
    planted: str = ALL


def defects_of(protocol: str, role: str, planted: str = ALL) -> list[Variant]:
    """Return the defects of a role, all or those of a kind."""
    defects = load_protocol(protocol).defects
    return defects.of_role(role, "" if planted == ALL else planted) if defects is not None else []


def run(
    protocol: str, role: str, seed: int, seconds: float, workers: int, *, feedback: bool, planted: str = ALL
) -> PlayedCampaign:
    """Run one campaign, and try what its findings are about."""
    with tempfile.TemporaryDirectory(prefix="goldwire-proving-") as folder:
        campaign = NetworkCampaign(
            protocol=protocol,
            iut=f"peer:{role}",
            role=role,
            seconds=seconds,
            seed=seed,
            workers=workers,
            out=Path(folder),
            transport=usual_transport(resolve(f"peer:{role}", protocol)),
            feedback=feedback,
            options=("--defect", planted),
        )
        report = campaigns.run(campaign, load(protocol)[role])
        # What a campaign found that was cut short says nothing of one of this length, and is not to be kept.
        if report.interrupted:
            raise KeyboardInterrupt
        findings = [each.finding for each in report.findings]
    found, unexplained, innocent = explained(protocol, role, findings, defects_of(protocol, role, planted))
    return PlayedCampaign(
        protocol=protocol,
        role=role,
        seconds=seconds,
        workers=workers,
        seed=seed,
        feedback=feedback,
        planted=planted,
        tests=report.total("tests"),
        found=found,
        unexplained=unexplained,
        innocent=innocent,
    )


def explained(
    protocol: str, role: str, findings: Sequence[NetworkFinding], planted: Sequence[Variant]
) -> tuple[dict[str, float], tuple[str, ...], tuple[str, ...]]:
    """Return when each defect was found first, what no defect explains, and what shows of a healthy peer."""
    about: dict[str, set[str]] = {each.signature: set() for each in findings}
    for _ in range(TRIES):
        left = [each for each in findings if not about[each.signature]]
        for name in ("", *(each.name for each in planted)) if left else ():
            for signature in shown(protocol, role, name, left):
                about[signature].add(name)
    found: dict[str, float] = {}
    for each in findings:
        # What a healthy peer shows is shown by each that has a defect, and is about none.
        for name in about[each.signature] if "" not in about[each.signature] else ():
            found[name] = min(found.get(name, each.origin.seconds), each.origin.seconds)
    innocent = tuple(each.sentence for each in findings if "" in about[each.signature])
    return found, tuple(each.sentence for each in findings if not about[each.signature]), innocent


def shown(protocol: str, role: str, defect: str, findings: Sequence[NetworkFinding]) -> Iterator[str]:
    """Yield the signatures of the findings of which something shows with one defect, or without any."""
    options = ("--defect", defect) if defect else ()
    job = FuzzJob(protocol=protocol, iut=f"peer:{role}", role=role, seconds=0, seed=0, out="", options=options)
    suite = Suite(protocol)
    description, transport = on_trial(job, suite)
    node = NodeOnTrial(suite, description, load(protocol)[role], profile="document", transport=transport)
    try:
        node.take_time()
        is_fresh = True
        for each in findings:
            seen = reproduce(node, each.test, times=each.times, fresh=not is_fresh)
            is_fresh = seen is None and each.times == 1
            if seen is not None:
                yield each.signature
    finally:
        node.stop()


# --- the scoreboard -------------------------------------------------------------------------------------------------


def page(campaigns: Sequence[PlayedCampaign], command: str) -> Iterator[str]:
    """Write the scoreboard of some campaigns."""
    results: dict[tuple[str, str, str], list[PlayedCampaign]] = {}
    for each in campaigns:
        results.setdefault((each.protocol, each.role, each.planted), []).append(each)
    yield "# The proving ground of network fuzzing"
    yield ""
    yield "Made by:"
    yield ""
    yield f"    {command}"
    yield ""
    yield "Of the defects that are planted in our peers, so many were found by campaigns of that length, with feedback"
    yield "and without; a number for each seed. No case of the suites comes by any of them. Those of depth are among"
    yield "them: they show in states to which several steps lead."
    yield ""
    yield "| role | planted | found | without feedback | of depth | found | without feedback | tests | |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for asked, played in results.items():
        planted = defects_of(*asked)
        cells = [
            f"{len(names)} | {_scores(names, played, feedback=True)} | {_scores(names, played, feedback=False)}"
            for names in ({each.name for each in planted}, {each.name for each in planted if DEPTH in each.rules})
        ]
        tests = sum(each.tests for each in played)
        accused = sum(len(each.innocent) for each in played)
        odd = f"{accused} innocent" if accused else ""
        yield f"| {_label(*asked)} | {' | '.join(cells)} | {tests:,} | {odd} |"
    for asked, played in results.items():
        yield ""
        yield f"## {_label(*asked)}"
        yield ""
        yield "Seconds after which each was found, the median of the campaigns that did, and in how many of them."
        yield ""
        yield "| defect | kind | what it does | with feedback | without |"
        yield "|---|---|---|---|---|"
        for each in defects_of(*asked):
            ways = [[one for one in played if one.feedback is way] for way in (True, False)]
            cells = " | ".join(_times(each.name, way) for way in ways)
            yield f"| {each.name} | {each.rules[0]} | {each.sentence} | {cells} |"
        for one in played:
            for what, sentences in (("no defect alone shows", one.unexplained), ("a HEALTHY peer shows", one.innocent)):
                yield from (f"\nSeed {one.seed}, {_way(one)}: {what}: {sentence}" for sentence in sentences)


def _way(one: PlayedCampaign) -> str:
    return f"{'with' if one.feedback else 'without'} feedback"


def _label(protocol: str, role: str, planted: str) -> str:
    return f"{protocol} {role}" + (f", {planted} alone" if planted != ALL else "")


def _scores(names: Set[str], played: Sequence[PlayedCampaign], *, feedback: bool) -> str:
    return ", ".join(str(len(names & each.found.keys())) for each in played if each.feedback is feedback)


def _times(name: str, played: Sequence[PlayedCampaign]) -> str:
    times = [each.found[name] for each in played if name in each.found]
    if not played:
        return "not played"
    return f"{statistics.median(times):.0f} s, {len(times)} of {len(played)}" if times else f"0 of {len(played)}"


@click.command()
@click.argument("protocols", nargs=-1)
@click.option("--role", help="Only this role; default: all that have defects.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--first", type=click.IntRange(min=0), default=1, show_default=True, help="The first seed.")
@click.option("--for", "seconds", callback=read_time, default="5m", show_default=True, help="Of each campaign.")
@click.option("--workers", type=click.IntRange(min=1), default=campaigns.usual_workers(), show_default=True)
@click.option("--feedback", type=click.Choice(("both", "with", "without")), default="both", show_default=True)
@click.option("--planted", metavar="KIND", default=ALL, show_default=True, help="What the peer has: all, or a kind.")
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add what each campaign came to there, and play none again that stands there.",
)
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), help="Write the page as well.")
def main(
    protocols: tuple[str, ...],
    role: str | None,
    seeds: int,
    first: int,
    seconds: float,
    workers: int,
    feedback: str,
    planted: str,
    results: Path | None,
    write: Path | None,
) -> None:
    """Say how many planted defects campaigns find."""
    known = played_before(results) if results is not None else []
    roles = [
        (protocol, each)
        for protocol in protocols or ("zenoh", "pathfinder", "urbit", "rai")
        for each in load(protocol)
        if role in (None, each) and defects_of(protocol, each, planted)
    ]
    ways = [way for way in (True, False) if feedback in ("both", "with" if way else "without")]
    with interrupted_by_signal():
        for (protocol, each), seed, way in product(roles, range(first, first + seeds), ways):
            asked = (protocol, each, seconds, workers, seed, way, planted)
            one = next((old for old in known if asked == asked_of(old)), None)
            if one is None:
                one = run(protocol, each, seed, seconds, workers, feedback=way, planted=planted)
                known.append(one)
                if results is not None:
                    write_file(results, b"".join(msgspec.json.encode(each) + b"\n" for each in known))
            click.echo("\n".join(said_of(one)))
    if write is not None:
        options = [*protocols, *([f"--role {role}"] if role else []), f"--for {seconds:g}s", f"--first {first}"]
        options += [f"--seeds {seeds}", f"--workers {workers}", f"--feedback {feedback}", f"--planted {planted}"]
        command = " ".join(["python benchmarks/fuzz_proving_ground.py", *options])
        # Of all that is known of campaigns like these: they may have been played in several sittings.
        alike = [each for each in known if (each.seconds, each.workers) == (seconds, workers)]
        write_file(write, "\n".join(page(alike, command)) + "\n")


def played_before(results: Path) -> list[PlayedCampaign]:
    """Read what campaigns came to that were played before."""
    lines = results.read_bytes().splitlines() if results.exists() else []
    return [msgspec.json.decode(each, type=PlayedCampaign) for each in lines]


def asked_of(one: PlayedCampaign) -> tuple[object, ...]:
    """Return what was asked for."""
    return one.protocol, one.role, one.seconds, one.workers, one.seed, one.feedback, one.planted


def said_of(one: PlayedCampaign) -> Iterator[str]:
    """Say what a campaign came to, in some lines."""
    planted = defects_of(one.protocol, one.role, one.planted)
    missing = [each.name for each in planted if each.name not in one.found]
    asked = f"{_label(one.protocol, one.role, one.planted)}, seed {one.seed}"
    yield (
        f"{asked}, {_way(one)}: "
        f"{len(one.found)} of {len(planted)} found, {one.tests:,} tests; missed: {', '.join(missing) or 'none'}"
    )
    for what, said in (("unexplained", one.unexplained), ("INNOCENT ACCUSED", one.innocent)):
        yield from (f"   {what}: {sentence}" for sentence in said)


if __name__ == "__main__":
    main()
