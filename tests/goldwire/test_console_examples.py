"""The examples of README.md and docs/ci are played as they stand there, with real things for their placeholders.

The files that they name are put where they are played (``Stage``), under those very names. What cannot have the name
that it has there (an address, a version, ten minutes) is replaced, as the table says, which also says what makes a long
one short. A line without an entry fails, and so does an entry without its line.
"""

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from console_examples import ALL_PAGES, ROOT, complaint_about, examples_of
from stage import CASE, Stage

PAGES = ("README.md", "docs/ci/README.md")


class How(NamedTuple):
    """How a line is played."""

    needs: str = ""
    """What the stage makes for it, by the names of the stage's functions."""
    instead: dict[str, str] = {}
    """What of it is replaced, by what; in braces stands what the stage has."""
    also: str = ""
    """What makes it short."""
    status: int = 0
    says: str = ""
    """A regular expression that is found in what it prints."""
    serves: str = ""
    """A protocol: it runs until it is interrupted, which it is when it was spoken to at the address that it prints."""
    marks: tuple[pytest.MarkDecorator, ...] = ()


ROUTER, SERVER = {"tcp/127.0.0.1:7447": "{zenoh}"}, {"tcp/127.0.0.1:4711": "{pathfinder}"}
HERE = {"tcp/127.0.0.1:7447": "{free}", "tcp/127.0.0.1:4711": "{free}", "listen …": "listen {free}"}
RUN = "goldwire test zenoh --iut … --report out"
ONE, PING, SOME = f"-k {CASE}", "-k test_a_ping", "-k test_some_request_is_promised"
NEEDS_NODE = pytest.mark.skipif(
    shutil.which("node") is None and "CI" not in os.environ, reason="node is not there to run JavaScript"
)

NEEDS_REDIS = pytest.mark.skipif(
    shutil.which("redis-server") is None and "CI" not in os.environ, reason="redis-server is not there"
)

EXAMPLES: dict[str, How] = {
    "goldwire init zenoh --command './build/router --port {port}'": How(says="next: goldwire test zenoh --iut "),
    "goldwire test zenoh --iut tcp/127.0.0.1:7447": How("zenoh", ROUTER, ONE, says="AS EXPECTED"),
    "goldwire test zenoh --iut ./mine.toml": How("mine", also=ONE, says="AS EXPECTED"),
    "goldwire test zenoh --iut peer:": How(also=ONE, says="AS EXPECTED"),
    "goldwire test zenoh --iut … -k ZI-011": How("mine", {"…": "./mine.toml"}, says="AS EXPECTED"),
    "goldwire test zenoh --iut … --for 10m -k test_histories": How(
        instead={"…": "peer:", "10m": "1s"}, says="AS EXPECTED"
    ),
    "goldwire test zenoh --iut … -x": How("mine", {"…": "./mine.toml"}, ONE, says="AS EXPECTED"),
    "goldwire test rai --iut ./mine.toml --link redis": How(
        instead={"./mine.toml": "peer:"},
        also="-k test_some_image_is_shown",
        says="AS EXPECTED",
        marks=(NEEDS_REDIS,),
    ),
    RUN: How(instead={"…": "peer:"}, also=ONE, says=r"out/index\.html"),
    "goldwire diff main/out branch/out": How("runs", status=1, says=r"Broken.*\n +ZI-"),
    "pytest --pyargs conformance.zenoh.cases --goldwire-iut peer:": How(also=ONE, says=r"\d passed"),
    "goldwire test pathfinder --iut tcp/127.0.0.1:4711": How("pathfinder", SERVER, PING, says="AS EXPECTED"),
    "goldwire test pathfinder --iut paf": How("pafd", also=PING, says="AS EXPECTED"),
    "goldwire test pathfinder --iut ./my-client.toml": How("my_client", also="-k publish", says="AS EXPECTED"),
    "goldwire test urbit --iut docs/examples/urbit.toml": How(
        instead={"docs": f"{ROOT}/docs"}, also=SOME, says="AS EXPECTED", marks=(NEEDS_NODE,)
    ),
    "goldwire test urbit --iut … --path loss=0.1,jitter=0.05": How(
        instead={"…": "peer:"}, also=SOME, says="AS EXPECTED"
    ),
    "goldwire fuzz net zenoh --iut ./mine.toml --for 10m": How("mine", {"10m": "1s"}, says="NOTHING FOUND"),
    "goldwire fuzz net zenoh --iut … --seed-trace capture.pcapng": How(
        "zenoh_capture", {"…": "peer:"}, "--for 1s", says="NOTHING FOUND"
    ),
    "goldwire fuzz net zenoh --defect all --for 60s --out planted": How(
        instead={"60s": "20s"}, status=1, says=r"(?m)^FOUND"
    ),
    "goldwire replay findings/zenoh-router-crash-78c9324b": How(
        instead={"findings": f"{ROOT}/docs/findings"}, also="--iut peer:", says="FIXED"
    ),
    "goldwire audit pathfinder capture.pcapng": How("capture", says="AS EXPECTED"),
    "goldwire record tcp/127.0.0.1:4711 --listen tcp/127.0.0.1:4712 --out capture.pcapng": How(
        "pathfinder", SERVER | {"tcp/127.0.0.1:4712": "{free}"}, says="1 connections", serves="pathfinder"
    ),
    "goldwire codec check zenoh/network-message -- ./my-codec": How("my_codec"),
    "goldwire codec check zenoh/network-message --frames 10000 -- ./my-codec": How("my_codec", {"10000": "500"}),
    "goldwire pipeline ingest zenoh out captures/*.pcapng findings --lake lake": How("out captures findings"),
    "goldwire pipeline judge zenoh --lake lake --master 'local[2]'": How("lake", marks=(pytest.mark.spark,)),
    "goldwire pipeline summary --lake lake": How("lake", says="ZI-015"),
    "goldwire pipeline triage --lake lake": How("lake", says="ZI-015"),
    "goldwire explain ZI-015": How(says="ZI-015"),
    "goldwire rules zenoh": How(says="ZI-015"),
    "goldwire decode zenoh/network-message 3eac0222020003612f62": How(says="a/b"),
    "goldwire peer zenoh --listen tcp/127.0.0.1:7447": How(instead=HERE, serves="zenoh"),
    "goldwire peer zenoh --listen … --fault ZI-011": How(instead=HERE, serves="zenoh"),
    "goldwire peer pathfinder --listen tcp/127.0.0.1:4711": How(instead=HERE, serves="pathfinder"),
    "goldwire dissector zenoh > goldwire_zenoh.lua": How(),
    "goldwire test zenoh --iut ./mine.toml --report out --max-time 15m": How("mine", also=ONE, says="AS EXPECTED"),
    "goldwire report out": How("out"),
}

IN_CI = ("goldwire test zenoh --iut eclipse-zenoh==1.5.1", "goldwire selfcheck zenoh")
"""Minutes each, or a router from PyPI: continuous integration plays them as they stand, outside of these tests."""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An empty one."""
    with ExitStack() as until:
        yield Stage(tmp_path, until)


def of_goldwire() -> list[str]:
    lines = [line for page in PAGES for line in examples_of(page)]
    return [line for line in lines if not line.startswith("pip install")]


def test_every_example_is_played_and_nothing_else() -> None:
    lines = set(of_goldwire())
    assert len(lines) > 30
    assert {*EXAMPLES, *IN_CI} == lines
    script = (ROOT / ".ci/run").read_text()
    assert [line for line in IN_CI if f"{line.removeprefix('goldwire ')}" not in script] == []


def test_what_pip_is_asked_for_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    lines = [line for page in PAGES for line in examples_of(page) if line.startswith("pip install")]
    asked = [name for line in lines for name in re.findall(r"\[([\w,]+)\]", line)]
    assert asked
    assert set(asked) <= set(extras)


@pytest.mark.parametrize("page", ALL_PAGES)
def test_commands_and_options_of_every_page_are_known(page: str) -> None:
    wrong = {line: complaint_about(line) for line in examples_of(page) if line.startswith("goldwire ")}
    assert {line: complaint for line, complaint in wrong.items() if complaint} == {}


@pytest.mark.slow(seconds=3)  # each: it starts a goldwire, some also a node
@pytest.mark.parametrize("line", [pytest.param(line, marks=how.marks) for line, how in EXAMPLES.items()])
def test_examples_are_green(line: str, stage: Stage) -> None:
    how = EXAMPLES[line]
    for name in how.needs.split():
        make: Callable[[], None] = getattr(stage, name)
        make()
    for old, new in how.instead.items():
        line = line.replace(old, new.format(**stage.addresses))
    done = stage.play(f"{line} {how.also}".rstrip(), how.serves)
    said = done.stdout + done.stderr
    assert done.returncode == how.status, said
    assert "Traceback" not in said
    assert re.search(how.says, said), said
