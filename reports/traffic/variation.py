"""Variations of one session: other names, numbers and bytes, with everything that holds of the session still true.

Numbers of one space (interest ids, transaction ids …) are all shifted by as much. Texts are spelled letter by letter
in an alphabet that is drawn for the session: each letter becomes one to three, the first of which no other letter
contains, in the order of the alphabet. So what is equal, begins, ends or contains, or comes before in the order, does
so afterwards, even across parts that are put together later; digits and all that is no letter stay as they are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from string import ascii_lowercase
from typing import Any, Protocol

MOST_TAIL = 2
"""Letters that may follow the first one where a letter is spelled."""


class ProtocolVariation(Protocol):
    """What is needed of a protocol: the modules of this package that are named after one.

    ``SETTINGS`` are given to the peers whose plays become templates, and ``begin`` is called before each play, so that
    plays are the same each time.
    """

    SETTINGS: dict[str, Any]

    def begin(self) -> None:
        """Have the next play be as it would be in a new process."""
        ...

    def read(self, frame: bytes) -> Any:
        """Return a frame as a value of mappings and lists that can be changed; ValueError when it is none."""
        ...

    def write(self, value: Any) -> bytes:
        """Return the frame of a value."""
        ...

    def places(self, value: Any, by_dialler: bool, found: "VariableFields") -> None:
        """Name the places in a value that may differ from session to session."""
        ...


class SessionDraw:
    """What one session has drawn: how far numbers are shifted, how texts are spelled, what stands for bytes."""

    def __init__(self, random: Random, rooms: Mapping[str, int], letters: Sequence[str]) -> None:
        # As many bits as chance will have it: numbers are of every length that they can have.
        self.shift = {
            space: min(random.getrandbits(int(random.random() * (room.bit_length() + 1))), room)
            for space, room in rooms.items()
        }
        # One alphabet for all of a session, so that a key that is declared and one that is used later stay the same
        # key.
        self._alphabet = _alphabet(random, letters)
        self._random = random
        self._texts: dict[str, str] = {}
        self._blobs: dict[bytes, bytes] = {}

    def number(self, space: str, value: int) -> int:
        """Return what stands for a number; nothing else stands for 0."""
        return value + self.shift[space] if value else 0

    def text(self, value: str) -> str:
        """Return how a text is spelled."""
        known = self._texts.get(value)
        if known is None:
            known = self._texts[value] = value.translate(self._alphabet)
        return known

    def blob(self, value: bytes) -> bytes:
        """Return as many other bytes, none of them 0, and always the same for the same."""
        known = self._blobs.get(value)
        if known is None:
            drawn = self._random.randbytes(len(value)).replace(b"\0", b"\1")
            # Two that were different must not become the same: they may be identifiers.
            known = self._blobs[value] = drawn if drawn not in self._blobs.values() else value
        return known


def _alphabet(random: Random, letters: Sequence[str]) -> dict[int, str]:
    """Draw how each of some small letters is spelled, and the capital ones accordingly."""
    # Sorted, and given to the letters in their order: what came before another text in the alphabet still does.
    heads = sorted(random.sample(ascii_lowercase, len(letters)))
    tails = [each for each in ascii_lowercase if each not in heads]
    spelled = {}
    for letter, head in zip(letters, heads, strict=True):
        tail = "".join(random.choices(tails, k=int(random.random() * (MOST_TAIL + 1)))) if tails else ""
        spelled[ord(letter)] = head + tail
        spelled[ord(letter.upper())] = (head + tail).upper()
    return spelled


Change = Callable[[SessionDraw], None]


class VariableFields:
    """The places in a session's frames that may differ, as the changes to make there."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.rooms: dict[str, int] = {}
        self._letters: set[str] = set()

    @property
    def letters(self) -> list[str]:
        """The letters of all texts, in small."""
        return sorted(self._letters)

    def number(self, holder: Any, key: Any, space: str, most: int) -> None:
        """Name a number of a space whose numbers are ``most`` at most; what is none of them is left alone."""
        value = holder[key]
        if type(value) is not int or not 0 < value <= most:
            return
        self.reserve(space, value, most)

        def change(draw: SessionDraw) -> None:
            holder[key] = value + draw.shift[space]

        self.changes.append(change)

    def reserve(self, space: str, value: int, most: int) -> None:
        """See to it that a number of a space stays below ``most``, however it is shifted."""
        self.rooms[space] = min(self.rooms.get(space, most), most - value)

    def text(self, holder: Any, key: Any) -> None:
        """Name a text."""
        value = holder[key]
        if isinstance(value, str):
            self.built(holder, key, (value,), lambda draw: draw.text(value))

    def blob(self, holder: Any, key: Any) -> None:
        """Name bytes that mean nothing beyond themselves."""
        value = holder[key]
        if isinstance(value, bytes) and value:
            self.built(holder, key, (), lambda draw: draw.blob(value))

    def built(self, holder: Any, key: Any, texts: Iterable[str], build: Callable[[SessionDraw], Any]) -> None:
        """Name a place whose value is built, with the texts that it is built of."""
        for text in texts:
            self._letters |= {each.lower() for each in text if each.lower() in ascii_lowercase}

        def change(draw: SessionDraw) -> None:
            holder[key] = build(draw)

        self.changes.append(change)


class VariedFrames:
    """The frames of one session, to be drawn again; ``frames`` are ``(whether who dialled said it, frame)``."""

    def __init__(self, frames: Sequence[tuple[bool, bytes]], variation: ProtocolVariation | None) -> None:
        self._places = VariableFields()
        self._frames: list[tuple[bytes, Any]] = []
        for by_dialler, frame in frames:
            # A protocol without such a module has its sessions played with the bytes as they were.
            value = None if variation is None else _parsed(frame, variation)
            if value is not None and variation is not None:
                variation.places(value, by_dialler, self._places)
            self._frames.append((frame, value))
        self._rooms = {space: max(room, 0) for space, room in self._places.rooms.items()}
        self._letters = self._places.letters
        self._write = variation.write if variation is not None else None

    @property
    def count(self) -> int:
        """How many places differ."""
        return len(self._places.changes)

    def frames(self, random: Random) -> list[bytes]:
        """Draw the frames again."""
        write = self._write
        if write is None or not self._places.changes:
            return [frame for frame, _ in self._frames]
        draw = SessionDraw(random, self._rooms, self._letters)
        # In place, in values that were parsed once: then they are written, and the next session changes the same values
        # again.
        for change in self._places.changes:
            change(draw)
        return [frame if value is None else write(value) for frame, value in self._frames]


def _parsed(frame: bytes, variation: ProtocolVariation) -> Any:
    """Return a frame's value; None when the frame would not come back as it was, byte by byte."""
    try:
        value = variation.read(frame)
        # What cannot be written back exactly is left as it is: a frame that is wrong on purpose is wrong by its bytes.
        return value if variation.write(value) == frame else None
    except ValueError:
        return None
