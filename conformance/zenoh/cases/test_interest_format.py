"""zenoh-interests, "INTEREST Wire Format (0x19)": INTERESTs that are cut off, do not fit, or are oddly spelled.

Each goes over a session of its own where there can be one. A token that matches exists, so that whoever reads a
message leniently has something to answer with. The interest id is 5 throughout.
"""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import EntitySet, set_of, token
from wire.primitives import vle
from wire.zenoh.values import DeclareFinal, EntityKind, Extension, Mode, WireExpr

T = EntityKind.TOKEN
ID = 5


def hold_a_token(node: NodeUnderTest) -> None:
    """Have somebody declare a token, and make sure that it would be listed."""
    node.other.declare_token("a/1")
    if token("a/1") not in node.interest(Mode.CURRENT_FUTURE, T, key="a/*").snapshot().declared:
        raise Inconclusive("a proper interest does not list the token")


def answers(node: NodeUnderTest, *messages: bytes) -> list[Event]:
    """Send each message at the end of a batch; return what comes under the id, and see that sessions still work."""
    came = []
    for message in messages:
        session = node.fresh()
        if session.ended:
            break
        since = session.place
        session.offend(message)
        if not session.ended:
            session.barrier()
        came += [event for event in session.received(since) if event.interest_id == ID]
    return came


def restricted(node: NodeUnderTest) -> bytes:
    """Return a suffix with its length: the key of the token that exists, where a scope was before."""
    key = node.key("a/*").encode()
    return bytes([len(key)]) + key


@rule("ZI-028")
def test_interest_id_of_33_bits(node: NodeUnderTest) -> None:
    """Send CurrentFuture with the id 2^32 + 5, and with one of 49 bits that ends in the same 32.

    Nothing is answered under the id 5.
    """
    hold_a_token(node)
    # CurrentFuture, the id, tokens (08).
    came = answers(node, bytes.fromhex("79858080801008"), bytes.fromhex("798580808090807f08"))
    assert not came, "an id that does not fit is cut down and answered"


@rule("ZI-032")
def test_interest_without_options(node: NodeUnderTest) -> None:
    """Send Current and CurrentFuture that end after the id, or within it.

    They are not answered.
    """
    hold_a_token(node)
    # 3905 and 7905 end behind the id, 39 before it, 3985 within it.
    came = answers(node, *(bytes.fromhex(text) for text in ("3905", "7905", "39", "3985")))
    assert not came, "an INTEREST without options is answered"


@rule("ZI-034")
def test_scope_of_17_bits(node: NodeUnderTest) -> None:
    """Send CurrentFuture with the scope 65536, and with one of 32 bits that ends in 16 zero bits.

    It is not answered as if the scope were 0.
    """
    hold_a_token(node)
    suffix = restricted(node)
    # The options 78 are tokens, R, N and M; the scopes stand behind them.
    came = answers(node, bytes.fromhex("790578808004") + suffix, bytes.fromhex("79057880808408") + suffix)
    assert not came, "a scope that does not fit is cut down and answered"


@rule("ZI-036")
def test_suffix_of_length_zero(node: NodeUnderTest) -> None:
    """Ask through an alias and a suffix of length 0, with another interest right behind it.

    The alias alone is meant, and the next message begins after the length; or the empty suffix is refused.
    """
    hold_a_token(node)
    node.other.declare_token("a/1/x")
    plain = node.fresh()
    key = WireExpr(None, plain.declare_keyexpr("a/1"))
    if node.interest(Mode.CURRENT_FUTURE, T, key=key, session=plain).snapshot().declared != set_of(token("a/1")):
        raise Inconclusive("the alias without a suffix does not list the token")
    session = node.fresh()
    alias = session.declare_keyexpr("a/1")
    node.settle()
    since = session.place
    # The alias with a length of 0; the other interest begins with the byte behind that.
    session.offend(bytes([0x79, ID, 0x78, alias, 0]), bytes([0x79, ID + 1, 0x08]))
    for asked in ID, ID + 1:
        session.wait_for_final(asked, since)
    came = session.received(since)
    finals = {event.interest_id for event in came if isinstance(event.body, DeclareFinal)}
    if session.ended:
        assert ID not in finals, "the length of an empty suffix is not read"
        node.shows("ZI-036", "R10", "B")
        return
    session.barrier()
    assert finals >= {ID, ID + 1}, "the length of an empty suffix is not read"
    listed = EntitySet(entity for event in came if event.interest_id == ID and (entity := session.entity(event)))
    assert listed == set_of(token("a/1")), "an empty suffix adds something to the scope"


@rule("ZI-037")
def test_suffix_that_does_not_fit_its_length(node: NodeUnderTest) -> None:
    """Send CurrentFuture with a suffix that is a byte short, whose length is cut off, or takes 17 bits.

    They are not answered.
    """
    hold_a_token(node)
    suffix = restricted(node)[1:]
    # One byte less than is announced, and a length that wraps to the right one at 16 bits.
    short, endless = bytes([len(suffix) + 1]) + suffix, vle(65536 + len(suffix)) + suffix
    came = answers(node, *(bytes.fromhex("79057800") + tail for tail in (short, endless, b"", b"\x80")))
    assert not came, "a suffix that does not fit its length is answered"


@rule("ZI-038")
def test_extension_behind_options_and_key(node: NodeUnderTest) -> None:
    """Send CurrentFuture with a QoS extension, unrestricted and with a key.

    Both are answered as without it.
    """
    hold_a_token(node)
    qos = (Extension(1, 5),)
    unrestricted = node.interest(Mode.CURRENT_FUTURE, T, extensions=qos, session=node.fresh()).reply()
    assert unrestricted.declared == set_of(token("a/1")), "the extension behind the options is taken for something else"
    keyed = node.interest(Mode.CURRENT_FUTURE, T, key="a/*", extensions=qos, session=node.fresh()).reply()
    assert keyed.declared == set_of(token("a/1")), "the extension behind the key is taken for something else"


@rule("ZI-038")
def test_extension_behind_an_alias(node: NodeUnderTest) -> None:
    """Send CurrentFuture with an alias without suffix and a QoS extension.

    It is answered as without the extension.
    """
    node.other.declare_token("a/1")
    plain, extended = node.fresh(), node.fresh()
    alias = WireExpr(None, plain.declare_keyexpr("a/1"))
    if node.interest(Mode.CURRENT_FUTURE, T, key=alias, session=plain).snapshot().declared != set_of(token("a/1")):
        raise Inconclusive("the alias without an extension does not list the token")
    alias = WireExpr(None, extended.declare_keyexpr("a/1"))
    qos = (Extension(1, 5),)
    reply = node.interest(Mode.CURRENT_FUTURE, T, key=alias, extensions=qos, session=extended).reply()
    assert reply.declared == set_of(token("a/1")), "the extension behind the scope is taken for something else"


@rule("ZI-039")
def test_interest_that_ends_within_its_extensions(node: NodeUnderTest) -> None:
    """Send CurrentFuture with Z set: without any extension, with half of one, and with one that announces another.

    They are not answered.
    """
    hold_a_token(node)
    # f9 is CurrentFuture with Z. Nothing behind it, a header without its value, one more announced, 3 of 4 bytes
    # missing.
    came = answers(node, *(bytes.fromhex(f"f90508{tail}") for tail in ("", "21", "a105", "420401")))
    assert not came, "an INTEREST that ends within its extensions is answered"
