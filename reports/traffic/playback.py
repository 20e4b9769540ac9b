"""Telling a template: its frames drawn again, framed, each with the time at which it is said."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import NamedTuple

import msgspec

from harness.links.framing import Framing, TwoSided
from reports.traffic.connections import ConnectionEnd, TimedBytes
from reports.traffic.variation import ProtocolVariation, VariedFrames

PAUSES = 20_000, 300_000
"""Nanoseconds between two frames at least: the shortest and the longest that a session draws."""
STRETCHES = 0, 20
"""By how many thousandths the time of a session is stretched: least and most."""

_SECOND = 1_000_000_000


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A session to be played back: its frames are ``(seconds since it began, whether who dialled says it, frame)``.

    ``fault`` names the lie of the peer that is judged, ``declared`` the rules that the lie is about, and ``rules``
    those that are broken here, which may be others besides; all are empty if it is sound.
    One that is not ``is_varied`` is played back with the frames as they are.
    """

    name: str
    fault: str
    declared: tuple[str, ...]
    rules: tuple[str, ...]
    frames: tuple[tuple[float, bool, bytes], ...]
    lasted: float
    ended_by_dialler: bool
    is_reset: bool
    is_varied: bool = True


class Pace(NamedTuple):
    """The pause between two frames in nanoseconds, and by how many thousandths time is stretched."""

    pause: int
    stretch: int


class PlayedSession(NamedTuple):
    """A session as it was drawn once: how many frames, what is said when, how it ends, the pause in its handshake.

    Datagrams have neither end nor handshake.
    """

    frames: int
    messages: list[TimedBytes]
    end: ConnectionEnd | None
    pause: int


class TemplatePlayer:
    """Draws varied sessions from one template, as many as are asked for; without a ``framing`` they are datagrams."""

    def __init__(self, template: Template, variation: ProtocolVariation | None, framing: Framing | None) -> None:
        frames = [(by_dialler, frame) for _, by_dialler, frame in template.frames]
        self.template = template
        self.varied = VariedFrames(frames, variation if template.is_varied else None)
        self._framing = framing
        self._times = [round(time * _SECOND) for time, _, _ in template.frames]
        self._sides = [by_dialler for by_dialler, _ in frames]
        self._lasted = round(template.lasted * _SECOND)

    def play(self, random: Random, pace: Pace | None = None) -> PlayedSession:
        """Draw a session; ``pace`` instead of one that is drawn."""
        pause, stretch = pace or (random.randint(*PAUSES), random.randint(*STRETCHES))
        encode, stretched = encoders(self._framing), 1000 + stretch
        messages = []
        lag = 0
        for time, by_dialler, frame in zip(self._times, self._sides, self.varied.frames(random), strict=True):
            # Integers all the way: the same nanoseconds on every machine.
            messages.append(TimedBytes(time * stretched // 1000 + lag, by_dialler, encode[by_dialler](frame)))
            # Behind all that came before it, so that no two frames are at one instant, and the order is never in doubt.
            lag += pause
        end = None
        if self._framing is not None:
            lasted = self._lasted * stretched // 1000 + lag
            end = ConnectionEnd(lasted, self.template.ended_by_dialler, self.template.is_reset)
        return PlayedSession(len(messages), messages, end, pause)


Encode = Callable[[bytes], bytes]


def encoders(framing: Framing | None) -> tuple[Encode, Encode]:
    """Return what makes bytes of the frames of who was dialled, and of those of who dials."""
    if framing is None:
        return bytes, bytes
    return (framing.encode_answer if isinstance(framing, TwoSided) else framing.encode), framing.encode


def variation_of(protocol: str) -> ProtocolVariation | None:
    """Return what varies a protocol's sessions; None when there is no such module: they differ in times and ends."""
    name = f"reports.traffic.{protocol}"
    return import_module(name) if find_spec(name) is not None else None
