"""The Rai monitors: the truth is kept, each lie is seen, and what may be due to the record accuses nobody."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.findings import judge_conversations
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.rai.users import PROFILE, password, secret_of
from harness.trace import Direction, Entry, EntryKind, Trace
from wire import envelope
from wire.rai.values import (
    BYE,
    HB,
    HELLO,
    NOTHING,
    SNAP,
    START,
    STOP,
    WILD_START,
    WILD_STOP,
    Auth,
    Body,
    Bye,
    Dict,
    DictRequest,
    GetSubs,
    Heartbeat,
    Hello,
    Message,
    Published,
    Reply,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    WildStop,
    inbox,
    nonce_of,
    object_of,
    of,
    user_of,
    write,
)
from wire.rai.wildcards import pattern_of_rv

SUITE = Suite("rai")
SUB, PUB = "sam.AAAAAAAAAAAAAAAAAAAAAQ", "paul.BBBBBBBBBBBBBBBBBBBBBA"
SUBS_CNONCE, PUBS_CNONCE = "EBESExQVFhcYGRobHB0eHw", "ICEiIyQlJicoKSorLC0uLw"
TIME = 1_700_000_000_000_000
SECOND = 1_000_000
FIELDS = object_of({"BID": 17.5})

Key = Callable[[str], bytes]


def own_key(session: str) -> bytes:
    """Return the HA1 of a session."""
    return PROFILE.session_key(secret_of(user_of(session)), nonce_of(session))


def proof_key(time: int, cnonce: str) -> Key:
    """Return what gives the key of an auth message that answers these."""
    return lambda session: PROFILE.auth_key(secret_of(user_of(session)), nonce_of(session), time, cnonce)


class Said:
    """One thing that a session says: the message, and how its key is made. ``Said.like`` says it otherwise."""

    def __init__(self, session: str, seqno: int, subject: str, body: Body, key: Key = own_key) -> None:
        self.session, self.seqno, self.subject, self.body, self.key = session, seqno, subject, body, key

    def like(self, **changes: Any) -> "Said":
        """Return it with another session, seqno, subject, body or key."""
        return Said(**{name: changes.pop(name, value) for name, value in vars(self).items()}, **changes)

    def but(self, **members: Any) -> "Said":
        """Return it with other members in its body."""
        return self.like(body=replace(self.body, **members))

    @property
    def message(self) -> Message:
        """What is published, signed."""
        plain = of(self.subject, self.session, self.seqno, self.body)
        return replace(plain, digest=PROFILE.digest(self.key(self.session), self.seqno, self.subject, plain.signed))

    @property
    def frame(self) -> bytes:
        """What goes over a link to a broker."""
        return envelope.data(self.subject, write(self.message))


STORY = {
    "hello": Said(SUB, 1, HELLO, Hello(time=TIME, interval=10, cnonce=SUBS_CNONCE)),
    "publisher's hello": Said(PUB, 1, HELLO, Hello(time=TIME + 1, interval=10, cnonce=PUBS_CNONCE)),
    "proof": Said(
        PUB,
        2,
        inbox(SUB, "auth"),
        Auth(auth_time=TIME, time=TIME + 7, cnonce=PUBS_CNONCE),
        proof_key(TIME, SUBS_CNONCE),
    ),
    "answer": Said(
        SUB,
        2,
        inbox(PUB, "auth"),
        Auth(auth_time=TIME + 7, time=TIME + 9, cnonce=SUBS_CNONCE),
        proof_key(TIME + 7, PUBS_CNONCE),
    ),
    "start": Said(SUB, 3, START + "LAB.A", SubStart(return_=1, ack=True, initial=True)),
    "ack": Said(PUB, 3, inbox(SUB, 1), Reply(type="start", subject="LAB.A", status="ack")),
    "image": Said(PUB, 4, inbox(SUB, 1), Reply(type="start", subject="LAB.A", format="json", data=FIELDS)),
    "update": Said(PUB, 5, "LAB.A", Published(data=FIELDS)),
    "stale": Said(PUB, 6, "LAB.A", Published(status="stale")),
    "snap": Said(SUB, 4, SNAP + "LAB.B", SnapRequest(return_=2)),
    "snapshot": Said(PUB, 7, inbox(SUB, 2), Reply(type="snap", subject="LAB.B", format="json", data=FIELDS)),
    "wild": Said(SUB, 5, WILD_START + "LAB._", WildStart(subject="LAB.>", pattern=pattern_of_rv("LAB.>"))),
    "beat": Said(SUB, 6, HB, Heartbeat(time=TIME + 10 * SECOND, interval=10, cnonce=PUBS_CNONCE)),
    "question": Said(
        PUB, 8, inbox(SUB, "get_subs"), GetSubs(return_="sam.subs", last_seen=TIME + 10 * SECOND, wildcard=">")
    ),
    "list": Said(
        SUB,
        7,
        inbox(PUB, "sam.subs"),
        Subs(last_seen=TIME + 10 * SECOND, wildcard=">", subs=["LAB.A"], subs_return=[1], ack=True),
    ),
    "dictionary wanted": Said(SUB, 8, inbox(PUB, "dict"), DictRequest(dictionary="d", return_=3)),
    "dictionary": Said(PUB, 9, inbox(SUB, 3), Dict(dictionary="d", dict_csum=1, data=FIELDS)),
    "wild stop": Said(SUB, 9, WILD_STOP + "LAB._", WildStop(subject="LAB.>", pattern=pattern_of_rv("LAB.>"))),
    "stop": Said(SUB, 10, STOP + "LAB.A", SubStop(return_=4, ack=True)),
    "stop's ack": Said(PUB, 10, inbox(SUB, 4), Reply(type="stop", subject="LAB.A", status="ack")),
    "drop": Said(PUB, 11, "LAB.A", Published(type="drop", status="nosubscribers")),
    "bye": Said(SUB, 11, BYE, Bye()),
}
"""A session of a subscriber and one of a publisher, from their beginnings on."""

Story = Iterable[Said | bytes]


def told(**changes: Said | bytes | tuple[Said, ...] | None) -> list[Said | bytes]:
    """Return the story with something else in some places, whose names have _ for what is no letter: or nothing."""
    story: list[Said | bytes] = []
    for name, said in STORY.items():
        other = changes.pop(name.replace(" ", "_").replace("'", ""), said)
        story += [] if other is None else other if isinstance(other, tuple) else [other]
    assert not changes
    return story


def judged(story: Story, role: str) -> dict[str, Judgement]:
    """Return what is said of one side of a story, by rule."""
    user = {"publisher": "paul", "subscriber": "sam"}[role]
    trace = Trace("rai", "memory")
    for number, said in enumerate(story):
        is_its_own = isinstance(said, bytes) or user_of(said.session) not in ({"paul", "sam"} - {user})
        frame = said if isinstance(said, bytes) else said.frame
        direction = Direction.RECEIVED if is_its_own else Direction.SENT
        trace.add(Entry(float(number), "a", EntryKind.FRAME, direction, frame))
    found = judge_conversations(SUITE.harness.conversations(trace).values(), SUITE, "document", "")
    return {each.rule: each for each in found}


def accused(story: Story, role: str) -> set[str]:
    """Return the rules that one side of a story is accused of breaking."""
    return {rule for rule, each in judged(story, role).items() if each.outcome.accuses}


ROLES = ("publisher", "subscriber")


@pytest.mark.parametrize("role", ROLES)
def test_a_story_accuses_nobody(role: str) -> None:
    assert accused(told(), role) == set()


def test_each_monitor_sees_its_rule_kept() -> None:
    kept = {rule for role in ROLES for rule, each in judged(told(), role).items() if each.outcome is Outcome.PASS}
    assert {monitor.rule for monitor in SUITE.monitors} <= kept


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("begin", range(1, len(STORY)))
def test_a_record_that_begins_later_accuses_nobody(begin: int, role: str) -> None:
    assert accused([*STORY.values()][begin:], role) == set()


@pytest.mark.parametrize("role", ROLES)
def test_messages_that_come_twice_accuse_nobody(role: str) -> None:
    """Redis sends what two subscriptions match twice."""
    assert accused([said for each in STORY.values() for said in (each, each)], role) == set()


@pytest.mark.parametrize("user", ["paul", "sam"])
def test_who_listens_over_another_connection_accuses_nobody(user: str) -> None:
    """As clients of Redis do: what one says is not heard where it is told things, nor the other way round."""
    others = [said for said in STORY.values() if user_of(said.session) != user]
    trace = Trace("rai", "redis")
    heard = [said for said in others if said.subject.startswith(("_SESSION", "_INBOX", "LAB"))]
    echoes = [said for said in STORY.values() if user_of(said.session) == user and said.subject.startswith("_SESSION")]
    for number, said in enumerate(sorted([*heard, *echoes], key=[*STORY.values()].index)):
        trace.add(Entry(float(number), "a", EntryKind.FRAME, Direction.RECEIVED, said.frame))
    found = judge_conversations(SUITE.harness.conversations(trace).values(), SUITE, "document", "")
    assert not [each for each in found if each.outcome.accuses]


@pytest.mark.parametrize("role", ROLES)
def test_nodes_with_other_passwords_are_accused_of_no_digest(role: str) -> None:
    """The database is that of the tests: in a real network no digest says anything here."""
    strange = [said.like(key=lambda session: bytes(32)) for said in STORY.values()]
    assert accused(strange, role) == set()
    place = [*STORY].index("ack" if role == "publisher" else "start")
    strange[place] = strange[place].but(**({"type": "stop"} if role == "publisher" else {"return_": None}))
    # All else is judged there as well.
    assert accused(strange, role) == {"RAI-114" if role == "publisher" else "RAI-107"}


# --- lies -------------------------------------------------------------------------------------------------

NOT_ITS = {"key": lambda session: bytes(32)}
S = STORY

PUBLISHERS_LIES: dict[str, tuple[str, list[Said | bytes]]] = {
    "a drop that is ok": ("RAI-142", told(drop=S["drop"].but(status=None))),
    "an unknown status": ("RAI-142", told(stale=S["stale"].but(status="tired"))),
    "an unknown type": ("RAI-142", told(stale=S["stale"].but(type="rumour", status=None))),
    "an unknown format": ("RAI-094", told(image=S["image"].but(format="xml"))),
    "an image without format": ("RAI-112", told(image=S["image"].but(format=None))),
    "a start acked as a stop": ("RAI-114", told(ack=S["ack"].but(type="stop"))),
    "another subject acked": ("RAI-114", told(ack=S["ack"].but(subject="LAB.B"))),
    "no subject acked": ("RAI-114", told(ack=S["ack"].but(subject=None))),
    "a stop acked as a start": ("RAI-116", told(stops_ack=S["stop's ack"].but(type="start"))),
    "an image of another subject": ("RAI-115", told(image=S["image"].but(subject="LAB.B"))),
    "an image as a snapshot": ("RAI-115", told(image=S["image"].but(type="snap"))),
    "a snapshot as an image": ("RAI-134", told(snapshot=S["snapshot"].but(type="initial"))),
    "a snapshot of another subject": ("RAI-134", told(snapshot=S["snapshot"].but(subject="LAB.A"))),
    "an update in an inbox": (
        "RAI-136",
        told(update=S["update"].like(subject=inbox(SUB, 1), body=Reply(type="update", subject="LAB.A", data=FIELDS))),
    ),
    "another key": ("RAI-071", told(update=S["update"].like(**NOT_ITS))),
    "an auth under its own subject": ("RAI-167", told(proof=S["proof"].like(subject="LAB.auth"))),
    "an auth elsewhere in the inbox": ("RAI-167", told(proof=S["proof"].like(subject=inbox(SUB, "proof")))),
    "a proof for another time": ("RAI-084", told(proof=S["proof"].but(auth_time=TIME + 1))),
    "a proof without the cnonce": ("RAI-083", told(proof=S["proof"].like(key=proof_key(TIME, "")))),
    "a proof with the session's key": ("RAI-083", told(proof=S["proof"].like(key=own_key))),
    "a number again": ("RAI-074", told(stale=S["stale"].like(seqno=5))),
    "a lower number": ("RAI-074", told(stale=S["stale"].like(seqno=4))),
    "a session without a nonce": ("RAI-072", told(update=S["update"].like(session="paul"))),
    "a session with a dot": ("RAI-072", told(update=S["update"].like(session="paul.A.B"))),
    "HELLO behind the first words": (
        "RAI-099",
        [*told(publishers_hello=None), S["publisher's hello"].like(seqno=20)],
    ),
    "an update behind BYE": ("RAI-177", [*told(), Said(PUB, 12, BYE, Bye()), S["update"].like(seqno=13)]),
    "the password in a text": ("RAI-069", told(stale=S["stale"].but(text=password("paul")))),
    "HA0 in a text": ("RAI-069", told(stale=S["stale"].but(text=secret_of("paul").hex()))),
    "an update to a wildcard": ("RAI-028", told(update=S["update"].like(subject="LAB.>"))),
    "a question without return": ("RAI-125", told(question=S["question"].but(return_=""))),
    "a time that nobody has said": ("RAI-127", told(question=S["question"].but(last_seen=TIME + 5))),
    "an answer under another return": ("RAI-098", told(image=S["image"].like(subject=inbox(SUB, 9)))),
}


def with_member(said: Said, member: bytes) -> bytes:
    """Return the frame of a message that has one more member."""
    return envelope.data(said.subject, write(said.message)[:-1] + b"," + member + b"}")


SUBSCRIBERS_LIES: dict[str, tuple[str, list[Said | bytes]]] = {
    "an answer for another time": ("RAI-166", told(answer=S["answer"].but(auth_time=TIME + 8))),
    "an answer to the HELLO": ("RAI-165", told(answer=S["answer"].like(key=proof_key(TIME, SUBS_CNONCE)))),
    "another key": ("RAI-071", told(start=S["start"].like(**NOT_ITS))),
    "a time that goes back": ("RAI-186", told(beat=S["beat"].but(time=TIME - 1))),
    "a heartbeat without cnonce": ("RAI-101", told(beat=S["beat"].but(cnonce=""))),
    "a heartbeat without interval": ("RAI-101", told(beat=S["beat"].but(interval=0))),
    "a start of nothing": ("RAI-001", told(start=S["start"].like(subject=START + "LAB..A"))),
    "a stop of nothing": ("RAI-005", told(stop=S["stop"].like(subject=STOP))),
    "an ack wanted nowhere": ("RAI-107", told(start=S["start"].but(return_=None))),
    "a pattern of less": ("RAI-120", told(wild=S["wild"].but(pattern=r"(?s)\ALAB\.x\Z"))),
    "a pattern that is none": ("RAI-120", told(wild=S["wild"].but(pattern="(("))),
    "a wildcard in the subject": ("RAI-120", told(wild=S["wild"].like(subject=WILD_START + "LAB.>"))),
    "a wildcard as the prefix": ("RAI-121", told(wild=S["wild"].like(subject=WILD_START + "LAB.>._"))),
    "a longer prefix": ("RAI-121", told(wild=S["wild"].like(subject=WILD_START + "LAB.A._"))),
    "a stop of another prefix": ("RAI-188", told(wild_stop=S["wild stop"].like(subject=WILD_STOP + "LAB.A._"))),
    "a list of other wildcards": ("RAI-131", told(list=S["list"].but(wildcard="A.>"))),
    "a list of another time": ("RAI-131", told(list=S["list"].but(last_seen=TIME))),
    "fewer returns than subjects": ("RAI-131", told(list=S["list"].but(subs=["LAB.A", "LAB.B"]))),
    "a stop behind BYE": ("RAI-177", [*told(), S["stop"].like(seqno=20)]),
    "null in a start": ("RAI-092", told(start=with_member(S["start"], b'"format":null'))),
    "a fraction in a HELLO": ("RAI-092", told(beat=with_member(S["beat"], b'"delay":0.5'))),
    "an object in a start": ("RAI-092", told(start=with_member(S["start"], b'"format":{}'))),
    "a time in words": ("RAI-105", told(start=with_member(S["start"].but(expires=None), b'"expires":"soon"'))),
    "the service's name": ("RAI-069", told(stop=S["stop"].but(return_="lab"))),
}


@pytest.mark.parametrize("lie", PUBLISHERS_LIES)
def test_a_publishers_lie_is_seen(lie: str) -> None:
    rule, story = PUBLISHERS_LIES[lie]
    assert rule in accused(story, "publisher")


@pytest.mark.parametrize("lie", SUBSCRIBERS_LIES)
def test_a_subscribers_lie_is_seen(lie: str) -> None:
    rule, story = SUBSCRIBERS_LIES[lie]
    assert rule in accused(story, "subscriber")


def test_an_empty_digest_is_seen() -> None:
    unsigned = replace(S["update"].message, digest="")
    story = told(update=envelope.data("LAB.A", write(unsigned)))
    assert {"RAI-072", "RAI-071"} <= accused(story, "publisher")


def test_each_monitor_sees_its_rule_broken() -> None:
    lies = {rule for rule, _ in [*PUBLISHERS_LIES.values(), *SUBSCRIBERS_LIES.values()]}
    assert lies == {monitor.rule for monitor in SUITE.monitors}


# --- what may be otherwise --------------------------------------------------------------------------------

OTHERWISE: dict[str, list[Said | bytes]] = {
    "an image that is an initial": told(image=S["image"].but(type="initial")),
    "an image that is a verify": told(image=S["image"].but(type="verify")),
    "no image, and why": told(image=S["image"].but(status="not_found", format=None, data=NOTHING)),
    "the image before the ack": told(ack=S["image"].like(seqno=3), image=S["ack"].like(seqno=4)),
    "ok and update written out": told(update=S["update"].but(type="update", status="ok")),
    "a transient of its own kind": told(stale=S["stale"].but(type="transient", status="whatever")),
    "proof of a heartbeat": told(
        hello=S["hello"], proof=None, beat=(S["beat"], S["proof"].but(auth_time=TIME + 10 * SECOND).like(
            key=proof_key(TIME + 10 * SECOND, PUBS_CNONCE), seqno=8
        )), answer=None, question=S["question"].like(seqno=9), dictionary=S["dictionary"].like(seqno=10),
        stops_ack=S["stop's ack"].like(seqno=11), drop=S["drop"].like(seqno=12),
    ),
    "all subscriptions are wanted": told(question=S["question"].but(last_seen=0), list=S["list"].but(last_seen=0)),
    "a list without returns": told(list=S["list"].but(subs_return=[], ack=False)),
    "numbers with gaps": [said.like(seqno=said.seqno * 1000) for said in STORY.values()],
    "a start that wants nothing": told(
        start=S["start"].but(return_=None, ack=False, initial=False), ack=None, image=None
    ),
    "a dictionary that is not there": told(
        dictionary=S["dictionary"].like(body=Reply(dictionary="d", status="not_found"))
    ),
    "a field that is called auth_time": told(update=S["update"].but(data=object_of({"auth_time": 1}))),
}  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("way", OTHERWISE)
def test_who_does_it_otherwise_is_not_accused(way: str, role: str) -> None:
    assert accused(OTHERWISE[way], role) == set()


def test_the_other_spelling_of_a_status_follows_a_reading() -> None:
    story = told(snapshot=S["snapshot"].but(status="temp_unvail", format=None))
    found = judged(story, "publisher")["RAI-142"]
    assert (found.outcome.accuses, found.reading) == (False, "R01=B")
