"""Generating traffic: files of varied sessions, each made by its seed and number alone, and what is planted there."""

from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random

import msgspec

from harness.protocol import load as load_protocol
from harness.worker_pool import worker_pool
from reports.progress import OnProgress
from reports.traffic.interleaving import InterleavedCapture
from reports.traffic.playback import PlayedSession, Template, TemplatePlayer, variation_of
from reports.traffic.templates import unseen
from wire.files import write_file, written_whole

PLANTED = "planted.ndjson"
ABOUT = "traffic.json"

FRAMES_OF_A_FILE = 1_000_000
"""Frames of a file, by default."""

EPOCH, HOUR = 1_767_225_600, 3600
"""When the first file begins, in seconds since 1970, and how long after it the next does."""


class Planted(msgspec.Struct, frozen=True):
    """A rule that is broken in a session, the ``number`` of the packet with which that begins, and the lie.

    ``declared``: whether the lie is about the rule, and does not merely break it on the way.
    """

    file: str
    number: int
    rule: str
    fault: str
    declared: bool


class MadeFile(msgspec.Struct, frozen=True):
    """A file that was made: how much is in it."""

    file: str
    packets: int
    sessions: int
    frames: int
    bytes: int


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """What was generated, and from what: the file ``traffic.json`` beside the captures.

    ``faults`` are in the templates, ``unseen`` those that a monitor might see, and none did, in the cases that hold
    the ``pattern``.
    """

    protocol: str
    seed: int
    violations: float
    templates: int
    lies: int
    faults: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    pattern: str = ""
    rules: tuple[str, ...]
    sessions: int
    frames: int
    broken: int
    planted: int
    files: tuple[MadeFile, ...]


class TrafficPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What each file is to be: at least so many ``frames``, a share of ``violations`` among its sessions."""

    protocol: str
    folder: Path
    seed: int
    frames: int
    violations: float


def generate(
    protocol: str,
    folder: Path,
    known: Sequence[Template],
    *,
    frames: int,
    seed: int,
    files: int,
    violations: float,
    workers: int,
    on_progress: OnProgress,
    pattern: str = "",
) -> Traffic:
    """Write captures into a folder, with at least so many frames, and which violations are planted in them.

    What is in a file depends on the seed, its number and the frames of a file: the first files of a larger run are
    those of a smaller one. ``violations`` is the share of sessions in which a rule is broken; ``pattern`` the one that
    the templates were made with. OSError when a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Rounded up: at least as many as were asked for.
    each = -(-frames // files)
    plan = TrafficPlan(protocol=protocol, folder=folder, seed=seed, frames=each, violations=violations)
    made: list[MadeFile] = []
    broken = planted = 0
    # In its place last of all: where it stands, everything is there.
    with written_whole(folder / PLANTED) as draft:
        with draft.open("wb") as file:
            encode = msgspec.json.Encoder().encode
            for number, (one, lines, count) in enumerate(_files(plan, known, files, workers), 1):
                made.append(one)
                broken += count
                planted += len(lines)
                file.writelines(encode(line) + b"\n" for line in lines)
                on_progress(number, files)
        lies = [template for template in known if template.fault]
        about = Traffic(
            protocol=protocol,
            seed=seed,
            violations=violations,
            templates=len(known),
            lies=len(lies),
            faults=tuple(sorted({template.fault for template in lies})),
            unseen=unseen(protocol, known),
            pattern=pattern,
            rules=tuple(sorted({rule for template in lies for rule in template.rules})),
            sessions=sum(one.sessions for one in made),
            frames=sum(one.frames for one in made),
            broken=broken,
            planted=planted,
            files=tuple(made),
        )
        write_file(folder / ABOUT, msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n")
    return about


File = tuple[MadeFile, list[Planted], int]
"""A file, what is planted in it, and in how many sessions."""


def _files(plan: TrafficPlan, known: Sequence[Template], files: int, workers: int) -> Iterator[File]:
    work = partial(made_file, plan, known)
    if min(workers, files) == 1:
        yield from map(work, range(1, files + 1))
        return
    # Processes, as drawing sessions is Python from end to end; spawned, as a progress bar's thread may hold locks.
    with worker_pool(min(workers, files), context=get_context("spawn")) as pool:
        yield from pool.map(work, range(1, files + 1))


def made_file(plan: TrafficPlan, known: Sequence[Template], number: int) -> File:
    """Write one file."""
    path = plan.folder / f"{plan.protocol}-{number:04}.pcap"
    # From names and numbers alone: a file is the same whoever makes it, and in whatever order.
    random = Random(f"{plan.protocol} {plan.seed} {number}")
    planted: list[Planted] = []
    broken = 0
    with (
        written_whole(path) as draft,
        InterleavedCapture(draft, random, (EPOCH + number * HOUR) * 1_000_000_000) as capture,
    ):
        for place, template in capture.take(sessions(plan, known, random)):
            broken += bool(template.rules)
            for rule in template.rules:
                planted.append(Planted(path.name, place, rule, template.fault, rule in template.declared))
    made = MadeFile(path.name, capture.packets, capture.sessions, capture.frames, path.stat().st_size)
    return made, planted, broken


def sessions(plan: TrafficPlan, known: Sequence[Template], random: Random) -> Iterator[tuple[Template, PlayedSession]]:
    """Draw sessions until there are enough frames; every fault is as likely as any other."""
    variation = variation_of(plan.protocol)
    protocol = load_protocol(plan.protocol)
    framing = protocol.usual_framing
    # Made once: a player has its template's frames parsed, which costs more than many plays of it.
    good: list[TemplatePlayer] = []
    lying: dict[str, list[TemplatePlayer]] = {}
    for template in known:
        players = lying.setdefault(template.fault, []) if template.fault else good
        players.append(TemplatePlayer(template, variation, framing))
    lies = list(lying.values())
    frames = 0
    while frames < plan.frames:
        # By fault first, then by template: a fault with three templates is no likelier than one with one.
        chosen = random.choice(lies) if lies and random.random() < plan.violations else good
        player = random.choice(chosen)
        played = player.play(random)
        frames += played.frames
        yield player.template, played
