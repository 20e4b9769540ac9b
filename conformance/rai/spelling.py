"""Requests in other spellings: what they say, and what is signed, stays as it is."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from harness.rai.tester.driver import TestSession
from harness.rai.users import PROFILE
from wire import envelope
from wire.rai.relaxed import Spelling, spell, value_of

Members = Mapping[str, Any]

Spell = Callable[[Members], str]
"""Writes a whole message."""

Place = Callable[[Members, Members], Members]
"""Puts a header and a body together."""


def strict(members: Members) -> str:
    """Write strict JSON without white space."""
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False)


def relaxed(members: Members) -> str:
    """Write words without quotes."""
    return spell(value_of(dict(members)), Spelling.RELAXED).decode()


def trailing(members: Members) -> str:
    """Write a comma behind the last member."""
    return strict(members)[:-1] + ",}"


def relaxed_names(members: Members) -> str:
    """Write names without quotes, and values as in strict JSON, with a comma behind the last."""
    return "{" + "".join(f"{name}:{strict_value(value)}," for name, value in members.items()) + "}"


def drawn(members: Members) -> str:
    """Write a member on each line, as the document draws them, with words without quotes."""
    pieces = (f"  {name} : {relaxed_value(value)}" for name, value in members.items())
    return "{\n" + ",\n".join(pieces) + "\n}"


def pretty(members: Members) -> str:
    """Write strict JSON with white space of all kinds."""
    return " \r\n" + json.dumps(members, indent=2).replace('": ', '"\t : ') + "\n\n"


def escaped(members: Members) -> str:
    """Write strict JSON with every letter of texts as an escape."""

    def escape(value: Any) -> str:
        if isinstance(value, str):
            return '"' + "".join(f"\\u{ord(each):04x}" for each in value) + '"'
        return json.dumps(value)

    return "{" + ",".join(f"{escape(name)}:{escape(value)}" for name, value in members.items()) + "}"


def slashed(members: Members) -> str:
    """Write strict JSON with the escapes that it has for slashes."""
    return json.dumps(members).replace("/", "\\/")


def strict_value(value: Any) -> str:
    """Write one value as strict JSON."""
    return json.dumps(value)


def relaxed_value(value: Any) -> str:
    """Write one value, a word without quotes."""
    return spell(value_of(value), Spelling.RELAXED).decode()


def first(head: Members, body: Members) -> Members:
    """Put the header before the body."""
    return {**head, **body}


def say(session: TestSession, subject: str, body: Members, write: Spell = strict, place: Place = first) -> None:
    """Publish a message in a spelling, with its header at a place."""
    session.seqno += 1
    digest = PROFILE.digest(session.key, session.seqno, subject, strict(body).encode())
    members = place({"session": session.session, "seqno": session.seqno, "digest": digest}, body)
    session.broker.send(envelope.data(subject, write(members).encode()))


def last(head: Members, body: Members) -> Members:
    """Put the header behind the body."""
    return {**body, **head}


def among(head: Members, body: Members) -> Members:
    """Put the header between the members of the body, and in another order."""
    members = list(body.items())
    spread: dict[str, Any] = {}
    for name, value in reversed(list(head.items())):
        if members:
            spread.update([members.pop(0)])
        spread[name] = value
    return {**spread, **dict(members)}
