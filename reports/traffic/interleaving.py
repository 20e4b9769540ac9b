"""Captures of many sessions at once: a pcap file in which so many connections are open at any time."""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self, TypeVar

from harness.captures.writer import PcapWriter
from reports.traffic.connections import GeneratedConnection, TimedPacket, datagrams
from reports.traffic.playback import PlayedSession

OPEN = 50
"""Sessions that are open at a time."""

MOST_APART = 20_000_000
"""Nanoseconds at most from the end of a session to the beginning of the next in its place."""

Tag = TypeVar("Tag")


class InterleavedCapture:
    """A pcap file that is written at ``path``; ``began`` is the time of its first packet, in nanoseconds since 1970."""

    def __init__(self, path: Path, random: Random, began: int = 1_700_000_000_000_000_000) -> None:
        self.packets = self.sessions = self.frames = 0
        self._writer = PcapWriter(path)
        self._random = random
        self._began = began

    def take(self, sessions: Iterable[tuple[Tag, PlayedSession]]) -> Iterator[tuple[int, Tag]]:
        """Write sessions, interleaved; yield the number of the packet with which each begins, and its tag."""
        more = iter(sessions)
        write, random = self._writer.write, self._random
        tags: dict[int, Tag] = {}

        def opened(after: int) -> tuple[int, int, list[TimedPacket], int] | None:
            found = next(more, None)
            if found is None:
                return None
            tag, played = found
            place = self.sessions
            self.sessions += 1
            self.frames += played.frames
            tags[place] = tag
            # Sessions begin and end at any time, so that packets of many are mixed, as a reader has to cope with.
            began = after + random.randrange(MOST_APART)
            if played.end is None:
                packets = datagrams(place, began, random, played.messages)
                began = packets[0][0]  # as nothing stands before the first of them
            else:
                packets = GeneratedConnection(place, began, random).packets(played.messages, played.end, played.pause)
            return began, place, packets, 0

        # A heap by the time of the next packet: thousands of sessions pass through it, of which OPEN are in memory.
        waiting = [each for each in (opened(self._began) for _ in range(OPEN)) if each is not None]
        heapify(waiting)
        number = 0
        while waiting:
            now, place, packets, at = waiting[0]
            number += 1
            write(packets[at][1], now)
            # The first packet of a session: its number is what an audit calls the session by.
            if not at:
                yield number, tags.pop(place)
            at += 1
            if at < len(packets):
                heapreplace(waiting, (packets[at][0], place, packets, at))
            # A new one takes the place of the one that ended: the number of open sessions stays the same to the end.
            elif (following := opened(now)) is not None:
                heapreplace(waiting, following)
            else:
                heappop(waiting)
        self.packets = number

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._writer.close()
