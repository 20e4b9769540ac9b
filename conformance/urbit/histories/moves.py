"""Moves: what happens in one step of a history, spelt in the verbs of the tester's ships."""

import msgspec


class Requests(msgspec.Struct, frozen=True):
    """A subscriber asks for fragments of paths, all at once."""

    who: str
    names: tuple[str, ...]
    fragment: int = 1

    def __str__(self) -> str:
        which = f", {self.fragment}" if self.fragment != 1 else ""
        return "; ".join(f"{self.who}.request({name!r}{which})" for name in self.names)


class Cancels(msgspec.Struct, frozen=True):
    """A subscriber cancels fragments of paths; or somebody tries to in its name.

    ``forged`` says how: the signature is ``"the request's"``, ``"another ship's"``, or has a bit ``"flipped"``.
    """

    who: str
    names: tuple[str, ...]
    fragment: int = 1
    forged: str = ""

    def __str__(self) -> str:
        which = f", {self.fragment}" if self.fragment != 1 else ""
        how = f"  # forged: the signature is {self.forged}" if self.forged else ""
        return "; ".join(f"{self.who}.cancel({name!r}{which})" for name in self.names) + how


class Beats(msgspec.Struct, frozen=True):
    """A subscriber sends a heartbeat, whose number is so much above the last one."""

    who: str
    step: int = 1

    def __str__(self) -> str:
        return f"{self.who}.heartbeat()" + (f"  # {self.step} numbers on" if self.step != 1 else "")


class BeatsAgain(msgspec.Struct, frozen=True):
    """The last heartbeat of a subscriber comes again, from another address; or one with the number 0."""

    who: str
    zero: bool = False

    def __str__(self) -> str:
        number = "number=0" if self.zero else "number=that of its last one"
        return f"elsewhere({self.who}).send_beat({number})"


class Borrows(msgspec.Struct, frozen=True):
    """A subscriber sends a heartbeat with the id of another's session."""

    who: str
    whose: str

    def __str__(self) -> str:
        return f"{self.who}.send heartbeat of {self.whose}'s session"


class Readdresses(msgspec.Struct, frozen=True):
    """A subscriber speaks from another address from now on."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} = elsewhere({self.who})"


class Grows(msgspec.Struct, frozen=True):
    """A value appears at a path, of so many fragments."""

    name: str
    fragments: int = 1

    def __str__(self) -> str:
        long = f"  # {self.fragments} fragments" if self.fragments > 1 else ""
        return f"node.grow({self.name!r}){long}"


class Waits(msgspec.Struct, frozen=True):
    """So many seconds of the protocol pass."""

    seconds: float

    def __str__(self) -> str:
        return f"pause({self.seconds:g})"


PublisherMove = Requests | Cancels | Beats | BeatsAgain | Borrows | Readdresses | Grows | Waits


class Wants(msgspec.Struct, frozen=True):
    """A subscriber's application wants paths."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(f"node.want({name!r})" for name in self.names)


class Drops(msgspec.Struct, frozen=True):
    """A subscriber's application loses interest in a path."""

    name: str

    def __str__(self) -> str:
        return f"node.drop({self.name!r})"


class Tells(msgspec.Struct, frozen=True):
    """The publisher sends the value of a path, wanted or not, so many times; or somebody else forges it."""

    name: str
    times: int = 1
    forged: bool = False

    def __str__(self) -> str:
        how = "forge" if self.forged else "tell"
        return f"publisher.{how}({self.name!r})" + (f"  # {self.times} times" if self.times > 1 else "")


class Nacks(msgspec.Struct, frozen=True):
    """The publisher says that a session is dead: that which lives, or another one (``strange``)."""

    strange: bool = False

    def __str__(self) -> str:
        return "publisher.nack()" + ("  # of another session" if self.strange else "")


class Promises(msgspec.Struct, frozen=True):
    """A promise comes for a path: under the id of the session, or forged."""

    name: str
    forged: bool = False

    def __str__(self) -> str:
        return f"publisher.promise({self.name!r})" + ("  # forged, under another id" if self.forged else "")


class FallsSilent(msgspec.Struct, frozen=True):
    """The publisher answers heartbeats no more, or again."""

    silent: bool

    def __str__(self) -> str:
        return "publisher answers no heartbeats" if self.silent else "publisher answers heartbeats again"


SubscriberMove = Wants | Drops | Tells | Nacks | Promises | FallsSilent | Waits
