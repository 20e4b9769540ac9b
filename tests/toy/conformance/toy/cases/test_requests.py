"""Toy, "3. Requests": what the server answers."""

from conformance.cases import rule
from harness.toy.tester.node_under_test import NodeUnderTest

SERVER = ("server",)


@rule("TOY-005", roles=SERVER)
def test_requests_at_once(node: NodeUnderTest) -> None:
    """Send three requests before reading anything; each is answered under its own ticket, in whatever order."""
    asked = [node.main.send_load("a"), node.main.send_load("b"), node.main.send_save("c", b"1")]
    answered = sorted(answer.ticket for answer in node.main.answers(*asked))
    assert answered == asked, f"the tickets {asked} wait for an answer, and the server has answered {answered}"


@rule("TOY-006", roles=SERVER)
def test_save_then_load(node: NodeUnderTest) -> None:
    """Save a key twice and load it; the second value comes, and neither SAVE is answered with one."""
    assert node.main.save("a", b"first") is None, "a SAVE is answered with F set"
    assert node.main.save("a", b"second") is None, "a SAVE is answered with F set"
    found = node.main.load("a")
    assert found == b"second", f"the key was saved as b'second', and the server says {found!r}"


@rule("TOY-006", roles=SERVER)
def test_load_what_nobody_has_saved(node: NodeUnderTest) -> None:
    """Load a key that nobody has saved; no value comes."""
    found = node.main.load("nobody")
    assert found is None, f"nobody has saved the key, and the server says {found!r}"


@rule("TOY-006", roles=SERVER)
def test_save_nothing(node: NodeUnderTest) -> None:
    """Save the empty value and load it; the value comes, or by another reading none."""
    node.main.save("a", b"")
    found = node.main.load("a")
    assert not found, f"the key was saved as b'', and the server says {found!r}"
    # The document leaves that open (readings.toml): what the server follows is noted, and the profile decides.
    node.shows("TOY-006", "R01", "A" if found == b"" else "B")
