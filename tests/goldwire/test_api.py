"""The public face: what it exports, that it is light, and that docs/api.md is true."""

import doctest
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import goldwire
from goldwire import rooms, served_peer
from harness.protocol import load

DOCS = Path(__file__).resolve().parents[2] / "docs" / "api.md"
FRAME = bytes.fromhex("3eac0222020003612f62")


def test_the_examples_of_its_page_are_true() -> None:
    said = doctest.testfile(str(DOCS), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert said.attempted > 10
    assert said.failed == 0


def test_every_public_name_is_there_and_on_the_page() -> None:
    page = DOCS.read_text()
    for name in goldwire.__all__:
        assert getattr(goldwire, name) is not None
        assert name in page or name.startswith("__"), name
    assert set(goldwire.__all__) <= set(dir(goldwire))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'goldwire' has no attribute 'decoed'"):
        goldwire.decoed  # noqa: B018


def test_its_version_is_that_of_the_distribution() -> None:
    assert goldwire.__version__ == "0.1.0"


def test_importing_it_loads_no_room() -> None:
    code = (
        f"import sys, goldwire; print(sorted(set(sys.modules) & {{*{rooms.ROOMS}, 'construct', 'msgspec', 'click'}}))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "[]\n"


@pytest.mark.parametrize("engine", [None, "reference", "python"])
def test_a_frame_goes_both_ways_in_every_engine(engine: str | None) -> None:
    value = goldwire.decode("zenoh/network-message", FRAME, engine=engine)
    assert value["declaration"]["key_suffix"] == "a/b"
    assert goldwire.encode("zenoh/network-message", value, engine=engine) == FRAME


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(goldwire.UnknownLayout, match="no layout is called 'zenoh/batsch'"):
        goldwire.decode("zenoh/batsch", b"")
    with pytest.raises(goldwire.UnknownLayout, match="no layout is called 'zenoh/batsch'"):
        goldwire.vectors("zenoh/batsch")
    with pytest.raises(goldwire.MissingEngine, match="no engine is called 'quick'; there are reference"):
        goldwire.decode("zenoh/batch", b"", engine="quick")
    with pytest.raises(goldwire.BadDescription, match="known are pathfinder, rai, urbit, zenoh"):
        goldwire.rules("zeno")
    with pytest.raises(goldwire.BadDescription, match="unknown protocol 'zeno'"):
        goldwire.peer("zeno")


def test_a_gate_with_options_is_that_of_the_command(tmp_path: Path) -> None:
    summary = goldwire.gate("zenoh", select="ZI-070", profile="deployed", strict=True, report=tmp_path)
    assert (summary.exit, summary.profile, summary.strictness.value, summary.unexpected) == (
        0,
        "deployed",
        "strict",
        {},
    )
    assert summary.rules["ZI-070"].cases
    assert summary == msgspec.json.decode((tmp_path / "summary.json").read_bytes(), type=goldwire.RunSummary)
    assert (tmp_path / "index.html").is_file()


def test_a_gate_against_nobody() -> None:
    with pytest.raises(goldwire.BadRun, match="unknown implementation 'nobody:' of zenoh") as caught:
        goldwire.gate("zenoh", "nobody:")
    assert caught.value.status == 2


@pytest.mark.slow  # waits for somebody to listen
def test_a_gate_against_an_address_where_nobody_listens() -> None:
    summary = goldwire.gate("zenoh", "tcp/127.0.0.1:1", select="ZI-070")
    assert (summary.exit, summary.played) == (3, 0)
    assert "tcp/127.0.0.1:1" in summary.not_started


@pytest.mark.slow  # confirmed on a fresh connection, after waiting for what must not come
def test_a_peer_with_a_fault_breaks_its_rule() -> None:
    with goldwire.peer("zenoh", fault="ZI-070") as peer:
        assert peer.role == "router"
        summary = goldwire.gate("zenoh", peer.address(), select="ZI-070")
    assert summary.exit == 1
    assert summary.unexpected.keys() == {"ZI-070"}


def test_a_peer_that_dials_is_told_where() -> None:
    with pytest.raises(goldwire.BadDescription, match="a client of zenoh dials: say where with connect="):
        goldwire.peer("zenoh", "client")
    with goldwire.peer("zenoh") as router, goldwire.peer("zenoh", "client", connect=router.address()) as client:
        assert client.alive()
        assert router.alive()


@pytest.mark.parametrize("wrong", [{"fault": "ZI-999"}, {"oddity": "shy"}, {"fault": "ZI-070", "oddity": "ZI-070"}])
def test_a_variant_that_does_not_exist(wrong: dict[str, str]) -> None:
    with pytest.raises(goldwire.BadDescription):
        goldwire.peer("zenoh", **wrong)  # type: ignore[arg-type]  # only texts are given


def test_a_peer_has_the_defects_that_are_asked_for() -> None:
    defects = load("pathfinder").defects
    assert defects is not None
    for text, number in (("dies-of-a-long-name", 1), ("text", 2), ("all", len(defects.of_role("server")))):
        made = served_peer._variant(load("pathfinder"), "server", None, None, text)
        assert made is not None
        assert sum(issubclass(made, each.peer) for each in defects.all.values()) == number
    with pytest.raises(goldwire.BadDescription, match="no fault of a server is called 'all'"):
        goldwire.peer("pathfinder", fault="all")
