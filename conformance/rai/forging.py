"""Sessions that prove nothing, and messages that are not what they seem: what cases about trust and digests share."""

from collections.abc import Callable

from msgspec.structs import replace

from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import AUTH, Auth, Message, inbox


def mute(node: NodeUnderTest, user: str = "") -> TestSession:
    """Return a session that answers no proof, and beats only when it is told to."""
    session = node.session(user)
    session.answers_auth = session.beats = False
    return session


def proof(session: TestSession, since: int = 0) -> Event | None:
    """Read until the node has sent a session an auth message, and return it; ``None`` when it does not."""
    own = inbox(session.session, AUTH)
    return session.broker.wait_for(
        lambda event: event.form is Auth and event.subject == own, since=since, thing="an auth message"
    )


def surely_proof(session: TestSession, since: int = 0) -> tuple[str, Auth]:
    """Return the session of the node, and what its auth message says; raises ``NotAnswered`` when none comes."""
    found = session.surely(proof(session, since), "auth message")
    assert isinstance(found.body, Auth)
    return found.message.session, found.body


def ask_for_everything(session: TestSession, subject: str) -> None:
    """Ask for an ack, an image, a snapshot and a dictionary, and subscribe by name, by wildcard and by list."""
    session.start(subject, return_="start", ack=True, initial=True)
    session.snapshot_request(subject, "snap")
    session.dictionary_request("words", "dict")
    session.start_wild(f"{subject.rpartition('.')[0]}.>", return_="wild", ack=True)
    session.send_list([subject], ["list"])
    session.stop(subject + ".x", return_="stop", ack=True)


def forgeries() -> list[Callable[[Message], Message]]:
    """Return ways to make the digest of a message wrong, or to change what it covers."""
    return [
        lambda message: replace(message, digest=""),
        lambda message: replace(message, digest=message.digest[:-1]),
        lambda message: replace(message, digest=message.digest[:8]),
        lambda message: replace(message, digest=message.digest[:11] * 2),
        lambda message: replace(message, digest=message.digest + "A"),
        lambda message: replace(message, digest=message.digest.swapcase()),
        lambda message: replace(message, digest=message.digest[::-1]),
        lambda message: replace(message, digest=other_first(message.digest)),
        lambda message: replace(message, digest=message.digest[:10] + other_first(message.digest[10:])),
        lambda message: replace(message, seqno=message.seqno + 1),
        lambda message: replace(message, seqno=message.seqno + 2**32),
        lambda message: replace(message, signed=with_member(message.signed)),
    ]


def other_first(text: str) -> str:
    """Return a text with another first letter."""
    return ("B" if text[0] == "A" else "A") + text[1:]


def with_member(signed: bytes) -> bytes:
    """Return what is signed with one member more, which stands first."""
    return b'{"more":1' + (b"" if signed == b"{}" else b",") + signed[1:]
