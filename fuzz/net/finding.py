"""Findings of network campaigns: a folder each, with what a person needs to see it and what tries it again.

::

    findings/zenoh-router-harm-3f2a…/
      finding.json         what shows, by which moves, where it came from
      README.md            what happens in one sentence, the moves with what they say, the command that tries it again
      trace.pcapng         the smallest test that does it, for Wireshark
      node.log             the last that the implementation printed
      test_regression.py   the same moves as a test for pytest
      vector.json          what is said in it, as frames of the layout with their fields

Two findings whose symptoms have the same key are one (``fuzz.net.symptoms``).
"""

import platform
import shlex
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec

from conformance.catalogue.rules import Profile
from fuzz.findings import FINDING, README, BadFinding
from fuzz.net.moves import FuzzMove, NetworkTest, Says, in_words, spelled_out
from fuzz.net.symptoms import KINDS, Symptom
from fuzz.net.targets import ReframedTarget
from fuzz.net.targets import load as load_targets
from harness.captures.traces import write_pcapng
from harness.protocol import load
from harness.trace import Trace
from wire.escaping import escaped
from wire.files import write_file, written_whole
from wire.message_lines import message_lines

TRACE, LOG, REGRESSION, VECTOR = "trace.pcapng", "node.log", "test_regression.py", "vector.json"

LONGEST_LINE = 160
"""Characters of a message in a line of a README; the rest is in the trace."""


class NetworkOrigin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a finding comes from: the campaign's ``seed``, the ``worker``, after how many ``tests`` and ``seconds``.

    ``time`` is ISO 8601 in UTC.
    """

    seed: int
    worker: int
    tests: int
    seconds: float
    time: str


class NetworkFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="finding", tag="net"):
    """A test by which an implementation shows a symptom, each time or, where it grows, when played ``times`` times.

    ``iut`` is the implementation as the user named it, ``implementation`` what it is called, in that ``version``;
    ``found`` the test as the campaign came to it, ``test`` the smallest that was seen to do it; ``layout`` that of the
    messages; ``options`` are those of our own peer's process, where it has a planted defect; ``expect`` is the file of
    what is expected of it, where the user had named one.
    """

    signature: str
    protocol: str
    role: str
    iut: str
    version: str
    transport: str
    profile: Profile
    layout: str
    symptom: Symptom
    test: NetworkTest
    found: NetworkTest
    times: int
    origin: NetworkOrigin
    options: tuple[str, ...] = ()
    expect: str = ""
    implementation: str = ""
    goldwire: str = ""
    python: str = ""

    @property
    def name(self) -> str:
        """The name of its folder."""
        return finding_name(self.protocol, self.role, self.symptom)

    @property
    def sentence(self) -> str:
        """What happens, in one sentence."""
        symptom = self.symptom
        rule = f"{symptom.rule}: " if symptom.rule else ""
        behind = f", after {' and '.join(symptom.about)}" if symptom.about else ""
        return f"{KINDS[symptom.kind]}: {rule}{symptom.what.partition(chr(10))[0]}{behind}"

    @property
    def replay_command(self) -> str:
        """What tries it again, but for the folder."""
        return "goldwire replay"


def finding_name(protocol: str, role: str, symptom: Symptom) -> str:
    """Return the name of a finding's folder."""
    return f"{protocol}-{role}-{symptom.kind}-{symptom.digest}"


def stamped(finding: NetworkFinding) -> NetworkFinding:
    """Return a finding with the versions of what found it."""
    return msgspec.structs.replace(finding, goldwire=version("goldwire"), python=platform.python_version())


def moment() -> str:
    """Return the time for an origin."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_finding(out: Path, finding: NetworkFinding, trace: Trace | None) -> tuple[Path, bool]:
    """Write a finding into a folder of findings; return its own folder, and whether it is new there."""
    folder = out / finding.name
    # Known from an earlier campaign: it stays as it is, as somebody may be looking at it.
    if (folder / FINDING).exists():
        return folder, False
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / README, "\n".join(_readme(folder, finding)) + "\n")
    write_file(folder / LOG, f"{finding.symptom.output}\n" if finding.symptom.output else "")
    write_file(folder / REGRESSION, regression(finding))
    write_file(folder / VECTOR, _vector(finding))
    if trace is not None:
        with written_whole(folder / TRACE) as draft:
            target = load_targets(finding.protocol)[finding.role]
            own = target.framings if isinstance(target, ReframedTarget) else load(finding.protocol).framings
            write_pcapng(trace, draft, own)
    # Last, so that a folder with this file is a whole finding.
    write_file(folder / FINDING, msgspec.json.format(msgspec.json.encode(finding), indent=2) + b"\n")
    return folder, True


def read_finding(folder: Path) -> NetworkFinding:
    """Read a finding; ``BadFinding`` if the folder holds none, or not a whole one."""
    try:
        return msgspec.json.decode((folder / FINDING).read_bytes(), type=NetworkFinding)
    except (FileNotFoundError, NotADirectoryError):
        raise BadFinding(f"{folder} is not the folder of a finding: there is no {FINDING}") from None
    except (OSError, ValueError) as error:
        raise BadFinding(f"{folder}: {FINDING} cannot be read: {error}") from None


# --- what a person reads ----------------------------------------------------------------------------------------


def _readme(folder: Path, finding: NetworkFinding) -> Iterator[str]:
    origin = finding.origin
    yield f"# {finding.protocol}, {finding.role}: {finding.sentence}"
    yield ""
    yield f"Seen of {finding.iut}{f' ({finding.version})' if finding.version else ''} over {finding.transport}."
    yield from textwrap.wrap(
        f"Found by `goldwire fuzz net` with `--seed {origin.seed}`, worker {origin.worker}, after {origin.tests} tests "
        f"in {origin.seconds:.0f} s, {origin.time}, goldwire {finding.goldwire}, Python {finding.python}.",
        100,
    )
    yield ""
    yield f"    {finding.replay_command} {shlex.quote(str(folder))}"
    yield ""
    yield "tries it again: exit status 0 and FIXED, or 1 and STILL THERE, or DIFFERENT."
    yield ""
    yield f"What was said, {f'{finding.times} times over, ' if finding.times > 1 else ''}move by move:"
    yield ""
    for move in finding.test:
        for line in annotated(move, finding.layout):
            yield f"    {line}"
    yield ""
    yield f"* `{TRACE}`: these moves on the wire; `{LOG}`: the last that the implementation printed"
    yield f"* `{REGRESSION}`: the same as a test for pytest; `{VECTOR}`: what is said, field by field"


def annotated(move: FuzzMove, layout: str, *, whole: bool = False) -> Iterator[str]:
    """Yield a move as a person would write it, behind what it says; ``whole`` as code that can be run."""
    if isinstance(move, Says) and move.level == "message":
        for data in move.data:
            for line in message_lines(layout, data):
                text = escaped(line.text)
                yield f"# {text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + ' …'}"
    yield in_words(move, whole=whole)


def regression(finding: NetworkFinding) -> str:
    """Return a finding as a test for pytest."""
    function = "_".join(["test", finding.role.replace("-", "_"), finding.symptom.kind, finding.signature])
    # Whatever a test is: each name is given before it is used.
    moves = [line for move in spelled_out(finding.test) for line in annotated(move, finding.layout, whole=True)]
    more = f", transport={finding.transport!r}"
    more += f", profile={finding.profile!r}" if finding.profile != "document" else ""
    more += f", expectations={finding.expect!r}" if finding.expect else ""
    more += f", about={finding.symptom.rule!r}" if finding.symptom.rule else ""
    more += f", options={finding.options!r} if iut == {finding.iut!r} else ()" if finding.options else ""
    lines = [
        '"""' + " ".join(escaped(finding.sentence).split()).replace("\\", "\\\\").replace('"""', "'''") + ".",
        "",
        "Written by goldwire fuzz net. GOLDWIRE_IUT names another implementation than that which it was found in.",
        '"""',
        "",
        "import os",
        "",
        "import goldwire",
        "",
        "",
        f"def {function}() -> None:",
        f"    iut = os.environ.get({'GOLDWIRE_IUT'!r}, {finding.iut!r})",
        f"    with goldwire.fuzzed_node({finding.protocol!r}, iut{more}) as node:",
    ]
    indent = " " * 8
    if finding.times > 1:
        lines.append(f"{indent}for _ in node.times({finding.times}):")
        indent += " " * 4
    lines += [indent + line for line in moves or ["pass"]]
    lines.append(f"{' ' * 8}node.is_well()")
    return "\n".join(lines) + "\n"


def _vector(finding: NetworkFinding) -> bytes:
    said = [
        {"data": data.hex(), "messages": [escaped(line.text) for line in message_lines(finding.layout, data)]}
        for move in finding.test
        if isinstance(move, Says) and move.level == "message"
        for data in move.data
    ]
    return msgspec.json.format(msgspec.json.encode({"layout": finding.layout, "messages": said}), indent=2) + b"\n"
