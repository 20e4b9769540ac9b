"""What a protocol is: all of its parts or a refusal that names the one that is missing, and what to do."""

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

import harness
from harness.errors import BadDescription
from harness.iuts.description import resolve
from harness.links.framing import LengthPrefixed
from harness.peers.variants import Variants
from harness.protocol import IncompleteProtocol, WireProtocol, known, load


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Declare a protocol in a folder of its own beside the others, and return its name."""
    name = f"declared_{abs(hash(request.node.name))}"
    monkeypatch.setattr(harness, "__path__", [*harness.__path__, str(tmp_path)])
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()

    def declare(text: str) -> str:
        (folder / "protocol.py").write_text(textwrap.dedent(text))
        return name

    return declare


@pytest.mark.parametrize("name", known())
def test_a_protocol_agrees_with_its_description(name: str) -> None:
    """Our own peer is described twice: as a protocol's, and as an implementation under test."""
    definition, described = load(name), resolve("peer:", name)
    assert (definition.name, tuple(definition.roles), definition.dials) == (
        name,
        described.roles,
        frozenset(described.dials),
    )
    assert {*definition.framings} - {"tls"} <= {*described.transports}
    for kind in (definition.faults, definition.oddities):
        assert kind.all
        assert {each.role for each in kind.all.values()} <= definition.roles.keys()


def test_an_unknown_protocol_is_told_what_is_known() -> None:
    with pytest.raises(BadDescription, match="unknown protocol 'nothing': known are pathfinder, rai, urbit, zenoh"):
        load("nothing")
    with pytest.raises(
        IncompleteProtocol, match=re.escape("'links' is no protocol: there is no harness/links/protocol.py")
    ):
        load("links")


def test_a_missing_declaration_is_named(declared) -> None:
    name = declared("LAYOUT = 'a/b'")
    with pytest.raises(IncompleteProtocol, match=rf"harness/{name}/protocol.py declares no PROTOCOL = WireProtocol\("):
        load(name)


def test_a_missing_part_is_named(declared) -> None:
    name = declared("""
        from harness.protocol import WireProtocol
        from harness.zenoh.protocol import PROTOCOL as other
        PROTOCOL = WireProtocol(
            name=__name__.split(".")[1], layout="zenoh/batch", framings=other.framings, roles=other.roles,
            node_under_test=other.node_under_test, conversations=other.conversations,
            faults=other.faults, oddities=other.oddities,
        )
    """)
    with pytest.raises(
        IncompleteProtocol, match=rf"harness/{name}/protocol.py: .*argument: 'probe'; harness/protocol.py"
    ):
        load(name)


def test_a_module_that_its_folders_lack_is_named(declared) -> None:
    name = declared("import importlib; importlib.import_module(__name__.replace('.protocol', '.tester'))")
    with pytest.raises(
        IncompleteProtocol, match=rf"harness/{name}/protocol.py: No module named 'harness.{name}.tester'"
    ):
        load(name)


def test_a_class_that_its_folders_lack_is_named(declared, tmp_path: Path) -> None:
    name = declared("from .driver import Driver")
    (tmp_path / name / "driver.py").touch()
    with pytest.raises(IncompleteProtocol, match=rf"harness/{name}/protocol.py: cannot import name 'Driver'"):
        load(name)


def test_what_is_missing_elsewhere_is_no_part_of_the_protocol(declared) -> None:
    name = declared("import a_package_that_nobody_has")
    with pytest.raises(ModuleNotFoundError, match="a_package_that_nobody_has"):
        load(name)


def test_another_name_than_that_of_its_folder_is_refused(declared) -> None:
    name = declared("from harness.zenoh.protocol import PROTOCOL")
    with pytest.raises(IncompleteProtocol, match=f"it is called 'zenoh', and stands in the folder {name}/"):
        load(name)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"layout": "zenoh/nothing"}, "layout: there is no 'zenoh/nothing'; wire/zenoh/ names its layouts in LAYOUTS"),
        (
            {"framings": {"tls": load("zenoh").framings["tcp"]}},
            "framings: say how a frame stands in a stream of bytes, under 'tcp'",
        ),
        ({"roles": {}, "dials": frozenset()}, "roles: name the reference peer of at least one role"),
        ({"dials": frozenset({"king"})}, "dials: king: not among the roles router, client"),
        (
            {"roles": {"king": load("zenoh").roles["router"]}},
            "roles: Router is called 'king' here, and 'router' by itself",
        ),
        (
            {"framings": {**load("zenoh").framings, "tpc": LengthPrefixed()}},
            "framings: tpc: known transports are tcp, udp, tcp-stream, ux, tls",
        ),
        (
            {"faults": Variants("harness.zenoh.variants.none")},
            "faults: there is no harness/zenoh/variants/none; make a module or a folder of it",
        ),
        (
            {"oddities": Variants("harness.none.variants")},
            "oddities: there is no harness/none/variants; make a module or a folder of it",
        ),
        (
            {"layout": "zenoh/nothing", "tempo": 0.0},
            "layout: there is no 'zenoh/nothing'; wire/zenoh/ names its layouts in LAYOUTS; tempo: 0 is",
        ),
        ({"tempo": 0.0}, "tempo: 0 is no pace: 1 is ours, more is faster"),
    ],
)
def test_parts_that_contradict_each_other_are_named(changes: dict[str, object], told: str) -> None:
    zenoh: WireProtocol = load("zenoh")
    with pytest.raises(IncompleteProtocol, match=re.escape(f"harness/zenoh/protocol.py: {told}")):
        replace(zenoh, **changes)


def test_a_role_that_dials_by_itself_is_said_to_dial() -> None:
    with pytest.raises(IncompleteProtocol, match="dials: a client dials by itself, so it belongs here"):
        replace(load("pathfinder"), dials=frozenset())
