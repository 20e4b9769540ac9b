"""What can happen to a subscriber: what its application does, and what publishers and others say."""

import msgspec


class Subscribes(msgspec.Struct, frozen=True):
    """The application subscribes to a subject, by ``subscribe`` or ``listen``."""

    name: str
    verb: str = "subscribe"

    def __str__(self) -> str:
        return f"node.command({self.verb!r}, {self.name!r})"


class Unsubscribes(msgspec.Struct, frozen=True):
    """The application ends that."""

    name: str

    def __str__(self) -> str:
        return f"node.command('unsubscribe', {self.name!r})"


class SubscribesAll(msgspec.Struct, frozen=True):
    """The application subscribes to a wildcard."""

    wildcard: str

    def __str__(self) -> str:
        return f"node.command('psubscribe', {self.wildcard!r})"


class UnsubscribesAll(msgspec.Struct, frozen=True):
    """The application ends that."""

    wildcard: str

    def __str__(self) -> str:
        return f"node.command('punsubscribe', {self.wildcard!r})"


class LooksOnce(msgspec.Struct, frozen=True):
    """The application asks for a snapshot; ``is_ahead``: its answer is whole, and has more than was published."""

    name: str
    is_ahead: bool = False

    def __str__(self) -> str:
        answer = "  # answered as ok, with a field more" if self.is_ahead else ""
        return f"node.command('snapshot', {self.name!r}){answer}"


class Updates(msgspec.Struct, frozen=True):
    """Subjects are published, some fields of each; ``is_null``: one of these has no value any more."""

    names: tuple[str, ...]
    status: str = ""
    times: int = 1
    is_null: bool = False

    def __str__(self) -> str:
        how = "".join([f", status={self.status!r}" if self.status else "", ", data={…: null}" if self.is_null else ""])
        times = f"  # {self.times} times" if self.times > 1 else ""
        return "; ".join(f"publisher.publish({name!r}{how})" for name in self.names) + times


class SaysStatus(msgspec.Struct, frozen=True):
    """The publisher of a subject says something of it without data."""

    name: str
    status: str
    type: str = ""

    def __str__(self) -> str:
        type = f"type={self.type!r}, " if self.type else ""
        return f"publisher.publish({self.name!r}, {type}status={self.status!r})"


class Shows(msgspec.Struct, frozen=True):
    """The publisher of a subject publishes all fields that it has by now, and one less than before."""

    name: str
    type: str = "initial"
    status: str = ""

    def __str__(self) -> str:
        status = f", status={self.status!r}" if self.status else ""
        return f"publisher.publish({self.name!r}, type={self.type!r}{status}, data={{…}})"


class Gives(msgspec.Struct, frozen=True):
    """A subject is dropped; ``new`` is what it is called from then on."""

    name: str
    status: str
    new: str = ""

    def __str__(self) -> str:
        new = f", text={self.new!r}" if self.new else ""
        return f"publisher.publish({self.name!r}, type='drop', status={self.status!r}{new})"


class Inquires(msgspec.Struct, frozen=True):
    """A publisher asks for subscriptions since the newest but ``beats`` of the node's greetings; 0: for all."""

    who: str
    wildcard: str
    beats: int = 0

    def __str__(self) -> str:
        since = f"its greeting {self.beats} before the last" if self.beats else "0"
        return f"{self.who} asks for subscriptions: {self.wildcard} since {since}"


class Renews(msgspec.Struct, frozen=True):
    """A publisher begins a new session; the old one says BYE ``before``, ``after`` or not at all."""

    who: str
    bye: str = "before"

    def __str__(self) -> str:
        ends = {"before": "says BYE, and begins", "after": "begins", "": "goes away, and begins"}[self.bye]
        return f"{self.who} {ends} a new session{', and says BYE in the old one' * (self.bye == 'after')}"


class GoesQuiet(msgspec.Struct, frozen=True):
    """A publisher says nothing for so many seconds, comes back in the same session, and proves itself again."""

    who: str
    seconds: int

    def __str__(self) -> str:
        return f"{self.who} is silent for {self.seconds} seconds, beats again, and proves itself"


class Proves(msgspec.Struct, frozen=True):
    """A publisher that is trusted sends its auth message again."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} proves itself again"


class ComesAgain(msgspec.Struct, frozen=True):
    """What a publisher has said of a subject comes again: the message of ``place`` ago, or the last ones in order."""

    name: str
    place: int | None = None

    def __str__(self) -> str:
        which = "the last messages" if self.place is None else f"the message {self.place} before the last"
        return f"again, byte for byte: {which} about {self.name}"


class IsForged(msgspec.Struct, frozen=True):
    """Something about a subject is published that is not what it seems, in several ways."""

    name: str
    ways: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(f"of {self.name} is published what {HOW_FORGED[each][1]}" for each in self.ways)


HOW_FORGED = {
    "digest": ("RAI-076", "has a wrong digest"),
    "key": ("RAI-169", "another user has signed"),
    "subject": ("RAI-068", "was signed for another subject"),
    "data": ("RAI-068", "was changed on its way"),
    "seqno": ("RAI-068", "has a greater seqno than it was signed with"),
    "stranger": ("RAI-075", "an unknown user says"),
    "unmet": ("RAI-079", "a session of the publisher's says that has proven nothing"),
    "greeted": ("RAI-079", "a session of the publisher's says that has said HELLO, and proven nothing"),
    "other": ("RAI-079", "another user's session says that has said HELLO, and proven nothing"),
}
"""How something may be forged: the rule that has it dropped, and in words."""


class Holds(msgspec.Struct, frozen=True):
    """A publisher lets requests wait."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} lets requests wait"


class Answers(msgspec.Struct, frozen=True):
    """A publisher answers what has waited, and waits no more."""

    who: str
    is_reversed: bool = False

    def __str__(self) -> str:
        return f"{self.who} answers what has waited{', the last first' * self.is_reversed}"


class TimePasses(msgspec.Struct, frozen=True):
    """Time passes."""

    seconds: int

    def __str__(self) -> str:
        return f"broker.pause({self.seconds})"


class Outage(msgspec.Struct, frozen=True):
    """The broker goes away and comes back, and all begin new sessions."""

    def __str__(self) -> str:
        return "node.outage()"


class IsEnded(msgspec.Struct, frozen=True):
    """The node is ended, and publishers go on."""

    def __str__(self) -> str:
        return "node.command('end')"


SubscriberMove = (
    Subscribes
    | Unsubscribes
    | SubscribesAll
    | UnsubscribesAll
    | LooksOnce
    | Updates
    | SaysStatus
    | Shows
    | Gives
    | Inquires
    | Renews
    | GoesQuiet
    | Proves
    | ComesAgain
    | IsForged
    | Holds
    | Answers
    | TimePasses
    | Outage
    | IsEnded
)
