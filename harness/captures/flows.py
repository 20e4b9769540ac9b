"""Flows: the packets between two ends, reassembled into one session, and their bytes cut into frames.

A connection is taken for one of the protocol when the first frame of either side can be one, or when it is with a
server that was named.
"""

from collections.abc import Iterable, Sequence

from harness.captures.flow_side import FlowSide, HeldPacket, ProtocolFrames
from harness.captures.held_frames import HeldFrames
from harness.captures.losses import Losses, Missing
from harness.captures.packets import ACK, FIN, RST, SYN, CapturedPacket, format_end, port
from harness.captures.reassembly import LOST_AFTER, StreamBytes
from harness.captures.recorded_session import LINK, RecordedSession
from harness.captures.resynchronisation import Resynchroniser, TimedFrame
from harness.captures.servers import ServerEndpoint
from harness.errors import Oversized
from harness.links.framing import Framing, Reader
from harness.trace import Direction, Entry, EntryKind, Trace

MAX_UNRECOGNISED = 1 << 18
"""Bytes of a side in which a frame of the protocol must begin; four times as many of both sides together.

A stream of another protocol would otherwise be kept, and tried anew with every segment, as long as it lasts.
"""

HABIT = 3
"""Wrong checksums of a side that has sent no right ones to speak of, from which on they are taken for its habit: a
kernel that leaves them to its network card. Fewer may as well be damage, where two sides say little to each other."""

TELLING = 16
"""Datagrams that are looked at for who dials: where the first few do not say it, all of them hardly will."""

RAW = 2
KINDS = {0: EntryKind.FRAME, RAW: EntryKind.RAW}
"""What is added to a side's mark for each kind of entry."""

# A record of TLS: handshake or application data, version 3.x (RFC 8446, 5.1).
_TLS = (b"\x16\x03", b"\x17\x03")


class Flow:
    """One session between two ends, as its packets come; the first packet's source is the first side."""

    def __init__(
        self, packet: CapturedPacket, protocol_frames: ProtocolFrames, servers: tuple[ServerEndpoint, ...]
    ) -> None:
        self.number = packet.number
        self.transport = packet.transport
        self.is_over = False
        self._protocol_frames = protocol_frames
        self._is_named = bool(servers)
        # Without a framing over this transport it is none of the protocol's, whoever is named.
        self._is_foreign = not protocol_frames.framings[packet.transport]
        self._framing: Framing | None = None
        self._kind: str = "udp" if packet.transport == "udp" else "tcp"
        self.sides = (FlowSide(packet.source, 0), FlowSide(packet.target, 1))
        self.sides[0].other, self.sides[1].other = self.sides[1], self.sides[0]
        self._began = packet.time
        self._count = 0
        """Packets that came."""
        self._dialler: FlowSide | None = None
        self._listener = self._guess_listener(servers)
        self._judged = self._listener
        self._frames = HeldFrames()
        """Marked with what they are and whose."""
        self._losses = Losses()
        self._loss_at: int | None = None
        self._loss_time: int | None = None
        self._ended: tuple[FlowSide, str] | None = None
        self._bytes = self._kept = 0
        if packet.transport == "udp":
            # No beginning of it can have been missed: every datagram is a whole frame.
            self._dialler, self.sides[0].is_begun, self.sides[1].is_begun = self.sides[0], True, True

    def _guess_listener(self, servers: tuple[ServerEndpoint, ...]) -> FlowSide:
        """Return the side that listens: the one that a handshake shows, else that of a named port or the lower one."""
        first, second = self.sides
        for server in servers:
            # The second side first: the first packet is the dialler's, unless the capture began later.
            for side in (second, first):
                if server.is_(side.end):
                    return side
        # Whoever dials has a port of the ephemeral range, which lies above those of servers as a rule.
        return first if self.transport == "tcp" and port(first.end) < port(second.end) else second

    # --- packets ------------------------------------------------------------------------------------------

    def is_new_connection(self, side: FlowSide, packet: CapturedPacket) -> bool:
        """Tell whether a SYN begins another connection between the same ends, and has not merely come again."""
        if side.isn is None:
            return side.stream.next is not None or self.is_over  # else both dial at once
        # A retransmitted SYN has the same initial sequence number, and nothing has followed it.
        return side.isn != packet.seq or side.stream.next != (packet.seq + 1) & 0xFFFFFFFF

    def is_damage(self, side: FlowSide, packet: CapturedPacket) -> bool:
        """Tell whether a packet is to be left out: its checksum is wrong, and those of its sender are not as a rule.

        A kernel that leaves checksums to its network card shows wrong ones of all that it sends.
        """
        if packet.intact:
            side.right += 1
            return False
        if side.right > side.wrong:
            self._losses.add(Missing.CHECKSUM, len(packet.data))
            # The numbers of a stream show whether it came again whole; of a datagram nothing does.
            if self.transport == "udp":
                self._lose(self._count, packet.time)
            return True
        side.wrong += 1
        side.doubtful = self._count if side.doubtful is None else side.doubtful
        return False

    def segment(self, side: FlowSide, packet: CapturedPacket) -> bool:
        """Take a TCP segment; True when the connection has ended with it."""
        flags, other = packet.flags, side.other
        self._count += 1
        if flags & SYN:
            self._open(side, packet)
        if flags & ACK and not flags & RST:
            theirs = other.stream
            theirs.acknowledged = packet.ack
            if theirs.next is None:
                # What they say begins here: with their first byte, if this side was seen to begin and has said nothing.
                theirs.begin(packet.ack)
                behind = (packet.seq + bool(flags & SYN) - (side.stream.next or 0)) & 0xFFFFFFFF
                other.is_begun = side.is_begun and not self._bytes and behind == 0
            elif theirs.is_waiting:
                for piece in theirs.stall():
                    self._piece(other, piece)
            if not theirs.ahead(packet.ack):
                other.awaited = self._count
            elif (packet.data or flags & FIN) and not self._is_foreign:
                # What it acknowledges was delivered before it, whatever the order in the file.
                side.held.append(HeldPacket(packet, self._count, theirs.gaps))
                self._release()
                return False
        self._take_segment(side, packet, self._count)
        if side.held or other.held:
            self._release()
        if flags & RST:
            self._ended = self._ended or (side, "reset")
            return True
        # One direction may end long before the other.
        return bool(flags & (FIN | ACK)) and side.stream.is_over and other.stream.is_over

    def _take_segment(self, side: FlowSide, packet: CapturedPacket, number: int) -> None:
        """Take what a segment brings, which stands behind so many packets."""
        flags, stream = packet.flags, side.stream
        # A SYN takes a sequence number of its own (RFC 9293, 3.4).
        seq = (packet.seq + 1) & 0xFFFFFFFF if flags & SYN else packet.seq
        if self._is_foreign:
            self._bytes += len(packet.data)
        elif packet.data:
            self._bytes += len(packet.data)
            for piece in stream.take(seq, packet.data, number, packet.time):
                self._piece(side, piece)
        if flags & FIN:
            # So does a FIN, behind its data, whether these were captured or not.
            stream.finish((seq + len(packet.data) + packet.lacking) & 0xFFFFFFFF)
            self._ended = self._ended or (side, "fin")

    def _release(self, *, at_end: bool = False, behind: int | None = None) -> None:
        """Take the packets that were held, as soon as what they acknowledge has come or is taken for lost.

        ``behind`` is the packet behind which they stand then, where it is not the one that came now.
        """
        # What one side has held may be what the other waits for.
        while self._release_next(behind):
            pass
        for side in self.sides:
            theirs = side.other.stream
            if side.overtook and (theirs.next or 0) >= side.overtook:
                # Behind a gap it is lost, which is said already.
                if theirs.gaps == side.gaps:
                    self._losses.add(Missing.DISORDER)
                side.overtook = 0
        waiting = [side for side in self.sides if side.held]
        if not waiting:
            return
        side = min(waiting, key=lambda side: side.held[0].since)
        packet, since, gaps = side.held[0]
        if at_end or since + LOST_AFTER <= self._count:
            # Should it come after all, its place is not known any more.
            theirs = side.other.stream
            side.overtook, side.gaps = (theirs.next or 0) + theirs.ahead(packet.ack), gaps
            self._lose(since - 1)
            side.held.popleft()
            self._take_segment(side, packet, since)
            self._release(at_end=at_end, behind=since)

    def _release_next(self, behind: int | None) -> bool:
        for side in self.sides:
            if side.held and not side.other.stream.ahead(side.held[0].packet.ack):
                packet, since, gaps = side.held.popleft()
                if behind is None and side.other.stream.gaps == gaps:
                    self._losses.add(Missing.DISORDER)
                self._take_segment(side, packet, self._count if behind is None else max(behind, since))
                return True
        return False

    def datagram(self, side: FlowSide, packet: CapturedPacket) -> None:
        """Take a UDP datagram."""
        self._count += 1
        self._bytes += len(packet.data)
        if self._is_foreign:
            return
        if packet.lacking:
            self._losses.add(Missing.CUT_FRAME, len(packet.data))
            # This packet itself is what is missing, so what is sound ends before it.
            self._lose(self._count - 1, packet.time)
        else:
            self._piece(side, StreamBytes(packet.data, self._count, packet.time))

    def _open(self, side: FlowSide, packet: CapturedPacket) -> None:
        if side.isn is not None or side.stream.next is not None:
            return
        side.isn, side.is_begun = packet.seq, True
        side.stream.begin((packet.seq + 1) & 0xFFFFFFFF)
        if self._dialler is None:
            self._dialler = side.other if packet.flags & ACK else side
            if not self._is_named:
                self._listener = self._dialler.other

    # --- frames -------------------------------------------------------------------------------------------

    def _piece(self, side: FlowSide, piece: StreamBytes) -> None:
        """Take bytes of one side, in order."""
        if self._framing is not None:
            self._read(side, piece)
        elif not self._is_foreign:
            side.early.append(piece)
            self._kept += len(piece.data)
            if len(side.head) < 2:
                # Enough to recognise TLS, should this be no frame of the protocol.
                side.head += piece.data[:2]
            self._recognise(side, piece)

    def _recognise(self, side: FlowSide, piece: StreamBytes) -> None:
        """Recognise by the first frame of a side whether this is the protocol, and over which transport."""
        if side.candidates is None:
            # If the first byte was captured, a frame begins there: the search may move on only in the middle of a
            # stream.
            moves = not side.is_begun or bool(piece.gap)
            side.candidates = {
                name: self._resynchroniser(framing, moves=moves)
                for name, framing in self._protocol_frames.framings[self.transport].items()
            }
        for name, resynchroniser in side.candidates.items():
            if not resynchroniser.has_failed:
                resynchroniser.offer(piece)
            if resynchroniser.is_found:
                self._settle(name)
                return
            if max(resynchroniser.size, resynchroniser.passed_over, self._kept // 4) > MAX_UNRECOGNISED:
                resynchroniser.has_failed = True
        self._reject()

    def _reject(self) -> None:
        """Give up when neither side says what can be a frame."""
        both = all(side.candidates is not None for side in self.sides)
        # One side may be silent, or in the middle of a long frame: so both must fail, or too much be kept.
        if not self._failed() or not (both or self._kept > MAX_UNRECOGNISED):
            return
        # Who named the server says that this is the protocol: then what is no frame is for the monitors to judge.
        if self._is_named:
            self._settle(next(iter(self._protocol_frames.framings[self.transport])))
            return
        self._is_foreign = True
        for side in self.sides:
            side.early, side.candidates = [], None

    def _failed(self) -> bool:
        tried = [side.candidates for side in self.sides if side.candidates is not None]
        return all(resynchroniser.has_failed for candidates in tried for resynchroniser in candidates.values())

    def _settle(self, name: str) -> None:
        """Settle on a framing, and read the frames that have come."""
        self._kind, self._framing = name, self._protocol_frames.framings[self.transport][name]
        for side in self.sides:
            side.candidates = None
            early, side.early = side.early, []
            for piece in early:
                self._read(side, piece)

    def _read(self, side: FlowSide, piece: StreamBytes) -> None:
        """Cut the bytes of one side into frames."""
        assert self._framing is not None
        if piece.gap:
            self._break(side, piece)
        elif side.reader is None and side.resynchroniser is None:
            if side.is_begun:
                side.reader = self._framing.reader()
            else:
                side.resynchroniser = self._resynchroniser(self._framing)
                self._losses.add(Missing.BEGINNING)
                self._lose(0)
        if side.is_lost:
            self._losses.add(Missing.PASSED_OVER, len(piece.data))
        elif side.resynchroniser is not None:
            side.resynchroniser.offer(piece._replace(gap=0))
            if side.resynchroniser.is_found:
                self._found(side, side.resynchroniser)
        elif side.reader is not None:
            try:
                frames = side.reader.feed(piece.data)
            except Oversized as error:
                frames, side.is_lost = error.frames, True
            self._frames.add_all(side.mark, piece.number, piece.time, frames)
            if side.is_lost:
                self._frames.add(side.mark + RAW, piece.number, piece.time, side.reader.rest)

    def _resynchroniser(
        self, framing: Framing, *, moves: bool = True, broken: Reader | None = None, gap: int = 0
    ) -> Resynchroniser:
        frames = self._protocol_frames
        return Resynchroniser(
            framing, frames.is_plausible, is_telling=frames.is_telling, moves=moves, broken=broken, gap=gap
        )

    def _break(self, side: FlowSide, piece: StreamBytes) -> None:
        """Note a gap; frames begin again where the stream is resynchronised."""
        assert self._framing is not None
        self._losses.add(Missing.GAP, piece.gap)
        self._lose(max(piece.since, side.awaited))
        if side.is_lost:
            return
        if side.resynchroniser is not None:
            side.resynchroniser.finish()
            self._found(side, side.resynchroniser)
        broken, side.reader = side.reader, None
        if broken is not None and broken.rest:
            self._losses.add(Missing.CUT_FRAME, len(broken.rest))
        side.resynchroniser = self._resynchroniser(self._framing, broken=broken, gap=piece.gap)

    def _found(self, side: FlowSide, resynchroniser: Resynchroniser) -> None:
        """Record the frames that resynchronising has found, and go on behind them."""
        if resynchroniser.passed_over or resynchroniser.size:
            kept = (
                resynchroniser.passed_over
                if resynchroniser.is_found
                else resynchroniser.passed_over + resynchroniser.size
            )
            if kept:
                self._losses.add(Missing.PASSED_OVER, kept)
        side.resynchroniser = None
        if not resynchroniser.is_found:
            return
        self._take(side, resynchroniser.frames)
        side.reader, side.is_lost = resynchroniser.reader, resynchroniser.is_oversized
        for piece in resynchroniser.left:
            self._read(side, piece)

    def _take(self, side: FlowSide, frames: Iterable[TimedFrame]) -> None:
        for frame, number, time in frames:
            self._frames.add(side.mark, number, time, frame)

    def _lose(self, number: int, time: int | None = None) -> None:
        """Note that something is missing behind a packet, or from a time on."""
        self._loss_at = number if self._loss_at is None else min(self._loss_at, number)
        if time is not None:
            self._loss_time = time if self._loss_time is None else min(self._loss_time, time)

    # --- the end ------------------------------------------------------------------------------------------

    def recorded(self, source: str, others: Losses) -> Sequence[RecordedSession]:
        """End the session and return it; if it is not of the protocol, return nothing and count it in ``others``."""
        self._release(at_end=True)
        for side in self.sides:
            # What waits for a gap to be filled waits in vain now.
            while side.stream.is_waiting:
                for piece in side.stream.give_up():
                    self._piece(side, piece)
        if self._framing is None and not self._is_foreign:
            self._recognise_at_end()
        self.is_over = True
        if self._framing is None:
            if self._bytes:
                others.add(self._reason_not_read(), self._bytes)
            return ()
        for side in self.sides:
            self._close(side)
        return (self._recorded_session(source),)

    def _recognise_at_end(self) -> None:
        """Decide what an undecided connection is, at its end."""
        for side in self.sides:
            for name, resynchroniser in (side.candidates or {}).items():
                resynchroniser.finish()
                if resynchroniser.is_found and self._framing is None:
                    self._settle(name)
                    return
        if self._is_named and any(side.early for side in self.sides):
            self._settle(next(iter(self._protocol_frames.framings[self.transport])))

    def _reason_not_read(self) -> Missing:
        if any(side.head in _TLS for side in self.sides):
            return Missing.ENCRYPTED
        return Missing.FOREIGN

    def _close(self, side: FlowSide) -> None:
        """Count what a side left incomplete, or record it as raw bytes before the end."""
        lacking, since = side.stream.lacking()
        if lacking:
            self._losses.add(Missing.GAP, lacking)
            self._lose(max(since, side.awaited))
        # A packet of which an address was changed stands alone.
        is_alone = not (side.right or side.other.right or side.other.wrong)
        if side.doubtful is not None and (side.right > side.wrong or side.wrong < HABIT or is_alone):
            self._losses.add(Missing.CHECKSUM, count=side.wrong)
            self._lose(side.doubtful)
        for number, count in side.stream.contradictions:
            self._losses.add(Missing.CONTRADICTION, count)
            self._lose(number - 1)
        if side.resynchroniser is not None:
            side.resynchroniser.finish()
            self._found(side, side.resynchroniser)
        if side.reader is None or side.is_lost or not (rest := side.reader.rest):
            return
        if self._ended is not None and not lacking:
            self._frames.add(side.mark + RAW, self._count, self._frames.latest(self._began), rest)
        else:
            self._losses.add(Missing.CUT_FRAME, len(rest))

    def _find_dialler(self) -> None:
        """Find out by what is said who dials, where datagrams were captured from the middle of a session on."""
        for mark, data in self._frames.first(TELLING):
            is_of_dialler = self._protocol_frames.is_of_dialler(data)
            if is_of_dialler is not None:
                side = self.sides[mark % RAW]
                self._dialler = side if is_of_dialler else side.other
                self._listener = self._dialler.other
                return

    def _recorded_session(self, source: str) -> RecordedSession:
        if self.transport == "udp" and not self._is_named:
            self._find_dialler()
        dialler = self._dialler or self._listener.other
        usual = self._protocol_frames.usual_side
        self._judged = self._listener if usual == "listening" else self._listener.other
        trace = Trace(self._protocol_frames.protocol, self._kind)
        trace.epoch = self._began / 1e9
        trace.ports[LINK] = port(self._judged.other.end), port(self._judged.end)
        if self._dialler is not None and self._dialler.is_begun:
            trace.add(Entry(0.0, LINK, EntryKind.OPENED, self._direction(dialler), note=format_end(dialler.other.end)))
        latest, sound = 0, None
        marks = {side.mark + kind: (what, self._direction(side)) for side in self.sides for kind, what in KINDS.items()}
        numbers = self._protocol_frames.numbers() if self.transport == "udp" else None
        frames = self._frames
        for place in self._in_order():
            what, direction = marks[frames.marks[place]]
            time, data = frames.times[place] - self._began, frames.data[place]
            if numbers is not None and (odd := numbers.take(direction, data, len(trace), time / 1e9)) is not None:
                self._losses.add(odd.kind, count=odd.count)
                if odd.kind is Missing.REPEATED:
                    continue
            if sound is None and self._is_behind_loss(frames.numbers[place], frames.times[place]):
                sound = len(trace)
            # Captures of several interfaces go back in time now and then; a trace may not.
            latest = max(latest, time)
            trace.add(Entry(latest / 1e9, LINK, what, direction, data))
        if sound is None and self._loss_at is not None:
            sound = len(trace)
        if numbers is not None:
            sound = numbers.proven if sound is None else min(sound, numbers.proven)
        # The trace has them now: a long session need not be in memory twice.
        self._frames = HeldFrames()
        if self._ended is not None:
            by, how = self._ended
            # Seen from the side that is not judged, as in a trace of the tester's: its own end is `closed`.
            note = how if by is self._judged else "closed"
            trace.add(Entry(latest / 1e9, LINK, EntryKind.CLOSED, self._direction(by), note=note))
        return RecordedSession(
            source=source,
            number=self.number,
            key=f"{self._kind} {format_end(dialler.end)} to {format_end(dialler.other.end)}",
            trace=trace,
            sound=len(trace) if sound is None else sound,
            losses=self._losses.all(),
            side=usual,
            usual=usual,
        )

    def _in_order(self) -> list[int]:
        """Return the places of all frames in the order in which they were said."""
        if self.transport != "udp":
            return self._frames.in_order()
        order, disorder = self._frames.in_order_of_time()
        if disorder:
            self._losses.add(Missing.DISORDER, count=disorder)
        return order

    def _is_behind_loss(self, number: int, time: int) -> bool:
        """Tell whether a frame came behind something that is missing."""
        if self._loss_at is None:
            return False
        return number > self._loss_at or (self._loss_time is not None and time > self._loss_time)

    def _direction(self, side: FlowSide) -> Direction:
        return Direction.RECEIVED if side is self._judged else Direction.SENT
