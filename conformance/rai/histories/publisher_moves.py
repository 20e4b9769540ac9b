"""Moves of histories with a publisher: what happens in one step, spelt in the verbs of the tester's sessions."""

from typing import Any

import msgspec


class SourceActs(msgspec.Struct, frozen=True):
    """The publisher's source does something: a control line, about names of subjects and fields."""

    verb: str
    names: tuple[str, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    more: str = ""
    """What stands in the line that is no name: a user, or that of a dictionary."""

    def __str__(self) -> str:
        said = [repr(each) for each in (self.verb, *self.names, *([self.more] if self.more else []))]
        return f"node.command({', '.join([*said, *([str(dict(self.fields))] if self.fields else [])])})"


class Starts(msgspec.Struct, frozen=True):
    """A session subscribes to a subject; ``long`` has it be answered under a return of several segments."""

    who: str
    name: str
    ack: bool = False
    initial: bool = False
    expires: int | None = None
    long: bool = False

    def __str__(self) -> str:
        said = [f"{name}=True" for name in ("ack", "initial") if getattr(self, name)]
        said += [f"expires={self.expires}"] if self.expires is not None else []
        said += ["return_='of.some.segments'"] if self.long else []
        return f"{self.who}.start({', '.join([repr(self.name), *said])})"


class Stops(msgspec.Struct, frozen=True):
    """A session ends its subscription to a subject."""

    who: str
    name: str
    ack: bool = False

    def __str__(self) -> str:
        return f"{self.who}.stop({self.name!r}{', ack=True' if self.ack else ''})"


class StartsWild(msgspec.Struct, frozen=True):
    """A session subscribes to a wildcard."""

    who: str
    wildcard: str
    expires: int | None = None

    def __str__(self) -> str:
        return f"{self.who}.start_wild({self.wildcard!r}{'' if self.expires is None else f', expires={self.expires}'})"


class StopsWild(msgspec.Struct, frozen=True):
    """A session ends that."""

    who: str
    wildcard: str

    def __str__(self) -> str:
        return f"{self.who}.stop_wild({self.wildcard!r})"


class Snaps(msgspec.Struct, frozen=True):
    """A session wants to see a value once."""

    who: str
    name: str

    def __str__(self) -> str:
        return f"{self.who}.snapshot({self.name!r})"


class Lists(msgspec.Struct, frozen=True):
    """A session falls silent until it is asked for its subscriptions, and answers with them.

    ``newest`` has only those be in the list that the question is about; ``denied`` who is denied sends one unasked.
    """

    who: str
    newest: bool = False

    def __str__(self) -> str:
        which = "those since last_seen" if self.newest else "all"
        return f"{self.who}.stop_beating(); {self.who}.send_list(...)  # when it is asked: {which}"


class Reclaims(msgspec.Struct, frozen=True):
    """Who is denied says in a list that it has subscribed subjects."""

    who: str
    name: str

    def __str__(self) -> str:
        return f"{self.who}.send_list([{self.name!r}])"


class FallsMute(msgspec.Struct, frozen=True):
    """A session sends no heartbeats any more."""

    who: str

    def __str__(self) -> str:
        return f"{self.who}.stop_beating()"


class BeatsOn(msgspec.Struct, frozen=True):
    """A session sends heartbeats again."""

    who: str

    def __str__(self) -> str:
        return f"{self.who}.beat()  # and from now on by itself"


class Leaves(msgspec.Struct, frozen=True):
    """A session says BYE."""

    who: str

    def __str__(self) -> str:
        return f"{self.who}.bye()"


class Joins(msgspec.Struct, frozen=True):
    """The user of a session that has ended begins another."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} = node.subscriber(...)"


class Replays(msgspec.Struct, frozen=True):
    """The last start or stop of a subject by a session comes again, byte for byte."""

    who: str
    name: str
    what: str = "stop"

    def __str__(self) -> str:
        return f"{self.who}.send(its last {self.what} of {self.name!r})  # again"


class Forges(msgspec.Struct, frozen=True):
    """Somebody says in the name of a session that it ends a subscription: with its own key, or with a used digest."""

    who: str
    name: str
    how: str

    def __str__(self) -> str:
        return f"{self.who}.stop({self.name!r})  # forged: with {self.how}"


class Intrudes(msgspec.Struct, frozen=True):
    """A session that nobody has reason to trust asks for something."""

    how: str
    name: str

    def __str__(self) -> str:
        return f"stranger.start({self.name!r}); stranger.snapshot({self.name!r})  # {self.how}"


class Leaps(msgspec.Struct, frozen=True):
    """A session goes on with seqnos that 32 bits do not hold."""

    who: str

    def __str__(self) -> str:
        return f"{self.who}.seqno += 2**32"


class Pauses(msgspec.Struct, frozen=True):
    """So many seconds of the protocol pass."""

    seconds: float

    def __str__(self) -> str:
        return f"pause({self.seconds:g})"


class Ends(msgspec.Struct, frozen=True):
    """The publisher ends, and is listened to for a while."""

    def __str__(self) -> str:
        return "node.command('end'); pause(15)"


PublisherMove = (
    SourceActs
    | Starts
    | Stops
    | StartsWild
    | StopsWild
    | Snaps
    | Lists
    | Reclaims
    | FallsMute
    | BeatsOn
    | Leaves
    | Joins
    | Replays
    | Forges
    | Intrudes
    | Leaps
    | Pauses
    | Ends
)
