"""The conversation among Rai's vectors is signed as docs/rai.md says, and could have been said."""

import json

import pytest

from vectors.golden.loader import Vector, load
from wire.rai import relaxed
from wire.rai.digests import PROFILES
from wire.rai.relaxed import Members
from wire.rai.values import nonce_of, read, user_of

SIGNING = PROFILES["rai-1"]
LAYOUTS = ("hello", "auth", "sub-start", "sub-stop", "snap", "reply", "publish", "bye")

SESSIONS = {"sam": "sam.AAECAwQFBgcICQoLDA0ODw", "paul": "paul.EBESExQVFhcYGRobHB0eHw"}


def said() -> list[tuple[str, Vector]]:
    """The conversation, with the subject of each message, which stands in its comment; of each user in order."""
    found = []
    for layout in LAYOUTS:
        for vector in load(f"rai/{layout}"):
            if vector.group == "conversation":
                subject = vector.comment.rpartition(": ")[2]
                for user, session in SESSIONS.items():
                    subject = subject.replace(f"{user}.NONCE", session)
                found.append((subject, vector))
    return sorted(found, key=lambda each: (each[1].value["session"], each[1].value["seqno"]))


def keys() -> dict[tuple[str, int], bytes]:
    """The keys of the auth messages, by session and seqno: each is made of what the other side has said before."""
    hello = next(vector.value for _, vector in said() if vector.layout == "rai/hello")
    first, second = sorted(
        (vector.value for _, vector in said() if vector.layout == "rai/auth"), key=lambda value: value["time"]
    )
    return {
        (each["session"], each["seqno"]): SIGNING.auth_key(
            stored(each["session"]), nonce_of(each["session"]), before["time"], before["cnonce"]
        )
        for each, before in ((first, hello), (second, first))
    }


def stored(session: str) -> bytes:
    return SIGNING.ha0(user_of(session), "lab", f"{user_of(session)}-secret")


def test_every_message_has_its_digest() -> None:
    conversation, auth = said(), keys()
    assert len(conversation) == 14
    for subject, vector in conversation:
        message = read(subject, vector.data)
        key = auth.get((message.session, message.seqno))
        key = key or SIGNING.session_key(stored(message.session), nonce_of(message.session))
        assert SIGNING.verifies(key, message.seqno, subject, message.signed, message.digest), vector.comment


@pytest.mark.parametrize("user", SESSIONS)
def test_numbers_grow(user: str) -> None:
    numbers = [vector.value["seqno"] for _, vector in said() if vector.value["session"] == SESSIONS[user]]
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_is_signed_has_every_digit() -> None:
    """The image's 17.50: a reader that makes a number of it cannot verify the digest."""
    (image,) = (vector for _, vector in said() if b"17.50" in vector.data)
    value = relaxed.parse(image.data)
    assert isinstance(value, Members)
    shorter = json.dumps(json.loads(image.data), separators=(",", ":")).encode()
    assert relaxed.canonical(value) == image.data != shorter
