"""Moves of histories with a router-cache, spelt in the verbs of the tester's sessions."""

import msgspec


class Begins(msgspec.Struct, frozen=True):
    """A subscriber subscribes a subject, with an image or without."""

    who: int
    name: str
    with_image: bool = True

    def __str__(self) -> str:
        return f"subscribers[{self.who}].{'image' if self.with_image else 'subscribed'}({self.name!r})"


class Quits(msgspec.Struct, frozen=True):
    """A subscriber ends its subscription to a subject."""

    who: int
    name: str

    def __str__(self) -> str:
        return f"subscribers[{self.who}].stop({self.name!r})"


class BeginsWild(msgspec.Struct, frozen=True):
    """A subscriber subscribes a wildcard."""

    who: int
    wildcard: str

    def __str__(self) -> str:
        return f"subscribers[{self.who}].start_wild({self.wildcard!r})"


class QuitsWild(msgspec.Struct, frozen=True):
    """A subscriber ends its subscription to a wildcard."""

    who: int
    wildcard: str

    def __str__(self) -> str:
        return f"subscribers[{self.who}].stop_wild({self.wildcard!r})"


class LooksAt(msgspec.Struct, frozen=True):
    """A subscriber asks for a snapshot."""

    who: int
    name: str

    def __str__(self) -> str:
        return f"subscribers[{self.who}].snapshot({self.name!r})"


class Changes(msgspec.Struct, frozen=True):
    """The source publishes an update, of a subject that it had or of one that is new."""

    name: str

    def __str__(self) -> str:
        return f"source.update({self.name!r})"


class Disturbs(msgspec.Struct, frozen=True):
    """The source says that a value is stale, with fields or without."""

    name: str
    with_data: bool = False

    def __str__(self) -> str:
        return f"source.publish({self.name!r}, status='stale')" + ("  # with fields" if self.with_data else "")


class Restores(msgspec.Struct, frozen=True):
    """The source publishes a whole value, with other fields than before."""

    name: str

    def __str__(self) -> str:
        return f"source.publish({self.name!r}, type='initial')"


class Finishes(msgspec.Struct, frozen=True):
    """The source drops a subject for good."""

    name: str

    def __str__(self) -> str:
        return f"source.publish({self.name!r}, type='drop', status='expired')"


class Rests(msgspec.Struct, frozen=True):
    """So many seconds of the protocol pass."""

    seconds: float

    def __str__(self) -> str:
        return f"pause({self.seconds:g})"


RouterMove = Begins | Quits | BeginsWild | QuitsWild | LooksAt | Changes | Disturbs | Restores | Finishes | Rests
