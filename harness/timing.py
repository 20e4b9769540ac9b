"""Timing: how long the tester waits for what. All of it is said here, measured of the node, and stretched by its scale.

A wait has a floor, since a machine is sometimes busy for a while; the description's ``time_scale`` stretches the floors
of a node that is slow at its work. What it takes to hear of the node at all is measured: each wait is longer by some
round trips, so that nobody is accused who is only far away. Where a document speaks of seconds, these are the
protocol's own, of which ``tempo`` pass in one of the clock.
"""

from collections import Counter, deque

ANSWER = 2.5
"""Seconds without an answer that count as none: long enough for a busy machine, short for hundreds of cases."""

# A write into a link that the other side is ending would destroy the answer that is under way.
WINDOW = 0.3
"""Seconds to read after an offending stimulus before anything else is written."""

GLANCE = 0.02
"""Seconds to read where there are hundreds of stimuli, and what stands behind each proves what is to be proven."""

DIAL = 20.0
"""Seconds that an implementation has to dial: a fresh process may have to load an interpreter and libraries first."""

CONNECT = 5.0
"""Seconds for a connection to a node that listens."""

SEND = 5.0
"""Seconds in which a node must take some bytes of what is sent, before it is said not to read."""

CONTROL, HASTY_CONTROL = 5.0, 1.5
"""Seconds that a node has to answer a control line, and that it has at least where nothing is waited for as usual."""

MARGIN = 2.0
"""Round trips by which every wait is longer: an answer takes one, and the next may be slower than the last."""


ROUNDING = 1e-6
"""Seconds by which the sum of virtual times may be less than they are together; documents speak of more."""

CONFIRMED = 2
"""Plays in which something was awaited in vain, after which it is known: one may have met a busy moment.

As often in one play, and the rest of that waits no longer: it will be played again, on a fresh instance.
"""

ENOUGH = 100
"""Answers, the last ones, by which it is known how long a node takes at most."""

SLOWER = 10.0
HASTE = 1.0
"""Of a node that was proven to leave things out: how many times as long as the slowest of these, and how many seconds
at least, it is still waited for. On a busy machine the slowest answer is slow as well; a machine that was quiet, and
stands still for a moment, is forgiven that.
"""

PROMPT = 20
LATE = 0.2
"""Things told unasked after which a node is known not to be late with them, and what share of them may not have come at
once: what is told when a time is over is waited for from before that.
"""

IN_A_ROW = 2 * CONFIRMED
"""Plays in a row in which what came before was awaited in vain: those of two cases, where each is played again."""


class Silences:
    """What a node was never seen to do, though it was waited for; a thing is named by a few words.

    What it leaves out would else be waited for in every play that asks for it. Who never did something, and was waited
    for in full in two plays, is known to leave it out. What came once is waited for as long as before, and longer in
    vain: it may be left out in some circumstances, and is awaited anew from when it comes again.
    """

    def __init__(self) -> None:
        self._in_vain: dict[str, set[int]] = {}
        self._came: set[str] = set()
        self._plays = 0
        self.proven = 0
        """Cases in which two plays have shown by silence what is wrong."""
        self.answers = deque[float](maxlen=ENOUGH)
        """Seconds that each of the last answers took, in whatever play."""
        self.delays = deque[float](maxlen=ENOUGH)
        """Seconds that each of the last things told unasked was waited for, of those that a document lets be late."""
        self.broken: set[str] = set()
        """Rules that two plays of one conversation have seen broken: of them no more is to be learnt by waiting."""

    def begin_play(self) -> int:
        """Return the number of a new play."""
        self._plays += 1
        return self._plays

    def came(self, thing: str) -> None:
        """Take note that something was done, however late."""
        self._came.add(thing)
        self._in_vain.pop(thing, None)

    def in_vain(self, thing: str, play: int) -> None:
        """Take note that a play has waited for something in vain."""
        self._in_vain.setdefault(thing, set()).add(play)

    def has_come(self, thing: str) -> bool:
        """Tell whether something was done at least once."""
        return thing in self._came

    @property
    def is_silent(self) -> bool:
        """Whether the node was proven to leave things out, and is known to be quick with what it does."""
        return self.proven >= CONFIRMED and len(self.answers) == ENOUGH

    @property
    def is_prompt(self) -> bool:
        """Whether the node was proven to leave something out, and is not late with what it tells unasked."""
        late = sum(delay >= WINDOW for delay in self.delays)
        return self.proven > 0 and len(self.delays) >= PROMPT and late <= LATE * len(self.delays)

    def is_known(self, thing: str) -> bool:
        """Tell whether something is known not to be done: never so far, or not any more."""
        return len(self._in_vain.get(thing, ())) >= (IN_A_ROW if thing in self._came else CONFIRMED)


class Timing:
    """The waits of one node, in seconds of its clock, as far as it was measured; a play has one of its own.

    ``answer`` is the floor of patience, ``scale`` stretches all floors, ``tempo`` is how many seconds of the protocol
    pass in one of the clock.
    """

    def __init__(
        self,
        *,
        answer: float = ANSWER,
        scale: float = 1.0,
        tempo: float = 1.0,
        round_trip: float = 0.0,
        is_virtual: bool = False,
    ) -> None:
        self._answer = answer
        self.scale = scale
        self.tempo = tempo
        self.is_virtual = is_virtual
        """Whether waiting costs nothing: then it is never cut short, so that each play is the same by itself."""
        self.round_trip = round_trip
        """Seconds from a question to its answer, the slowest that was seen: the next may be as slow."""
        self.fastest: float | None = None
        """Seconds that the fastest answer took; ``None`` before the first."""
        self.lag = 0.0
        """Seconds by which what is told unasked came behind answers to what was asked later, as far as seen."""
        self.silences = Silences()
        """What the node never does, as far as it was waited for: all of its plays know it."""
        self.met_silence = False
        """Whether this play has waited in vain for what the node is known never to do."""
        self.waited_in_full = False
        """Whether this play has waited in vain until patience ended."""
        self._play = 0
        self._node: Timing | None = None
        self._in_vain = Counter[str]()

    @property
    def answer(self) -> float:
        """Seconds that an answer is waited for at least; a play waits as long as its node is waited for now."""
        return self._answer if self._node is None else self._node.answer

    @answer.setter
    def answer(self, seconds: float) -> None:
        self._answer, self._node = seconds, None

    def of_a_play(self) -> "Timing":
        """Return what is known before a play: one slow answer makes nobody wait longer in the plays after it."""
        play = Timing(
            scale=self.scale,
            tempo=self.tempo,
            round_trip=self.round_trip,
            is_virtual=self.is_virtual,
        )
        play.lag = self.lag
        play.silences = self.silences
        play._play = self.silences.begin_play()
        play._node = self
        return play

    def took(self, seconds: float) -> None:
        """Take note of how long an answer took. Silence is none: it says nothing of how long an answer takes."""
        self.round_trip = max(self.round_trip, seconds)
        self.silences.answers.append(seconds)
        self.fastest = seconds if self.fastest is None else min(self.fastest, seconds)

    def waited(self, seconds: float) -> None:
        """Take note that so many seconds were waited for what did not come."""
        self.waited_in_full = self.waited_in_full or seconds >= self.patience

    def awaited(self, thing: str, came: bool, seconds: float = 0.0) -> None:
        """Take note of whether something came that was waited for, by a few words that name it.

        ``seconds`` for which it was waited, where they are more than for an answer: as many as several busy moments are
        all that a play waits.
        """
        if came:
            self.silences.came(thing)
        else:
            self.met_silence = self.met_silence or self.silences.is_known(thing)
            self.silences.in_vain(thing, self._play)
            self._in_vain[thing] += CONFIRMED if seconds >= CONFIRMED * self.patience else 1

    def showed(self, rule: str) -> None:
        """Take note that this play was told by waiting in full that a rule is broken."""
        self._in_vain[rule] += 1

    def is_in_vain(self, thing: str) -> bool:
        """Tell whether nothing is to be learnt by waiting for something: of the node, or in what is left of a play.

        What shows that a rule is broken is named by the rule.
        """
        return self._in_vain[thing] >= CONFIRMED or self.silences.is_known(thing) or thing in self.silences.broken

    def patience_for(self, thing: str, patience: float | None = None) -> float:
        """Return the seconds after which something is taken not to come: a window where it is awaited in vain.

        ``patience`` is how long it is waited for elsewhere, if that is longer than for an answer.
        """
        # Longer by what the slowest answer took, as every wait: should the thing come after all, it is seen.
        if self.is_in_vain(thing):
            return self.window
        return self.patience if patience is None else patience

    def begin_with(self, measured: "Timing") -> None:
        """Begin all plays with what was measured before the first: of answers the fastest, which is the way alone."""
        # Not the slowest: a node that has just started may take its time once, and never again.
        self.round_trip = measured.fastest or self.round_trip
        self.lag = max(self.lag, measured.lag)

    def take_over(self, other: "Timing") -> None:
        """Begin all plays with what was measured of another instance of the same node."""
        self.round_trip, self.lag = other.round_trip, other.lag

    def stretched(self, seconds: float) -> float:
        """Return how long to wait for what takes so many seconds of the clock when the node is near and quick."""
        return seconds * self.scale + MARGIN * self.round_trip

    def quiet(self, seconds: float) -> float:
        """Return how long to read until so many seconds of the protocol have passed for the node as well."""
        return self.stretched(seconds / self.tempo)

    def within(self, seconds: float) -> float:
        """Return how long to wait for what has to come within some seconds of the protocol, and then takes its way."""
        return seconds * self.scale / self.tempo + self.patience

    def however_late(self, seconds: float) -> float:
        """Return how long to wait for what may be told so many seconds of the protocol late.

        Like for an answer where a node was proven to leave things out, and tells at once what it tells.
        """
        is_prompt = self.silences.is_prompt and not self.is_virtual
        return self.patience if is_prompt else self.within(seconds)

    def told(self, seconds: float) -> None:
        """Take note of how long something was waited for that was told unasked, and may be late."""
        self.silences.delays.append(seconds)

    def ample(self, seconds: float) -> float:
        """Return how long to wait for what should not take so many seconds of the protocol."""
        # Where time runs fast, the protocol's seconds would be too short for the machine itself.
        return max(self.quiet(seconds), self.patience)

    @property
    def patience(self) -> float:
        """Seconds after which an answer is taken not to come.

        They are many for a busy machine's sake. A node that leaves out what it should do makes each of many cases wait
        for them twice: once that is proven, its own slowest answer says how busy the machine is.
        """
        floor = self.answer
        if self.silences.is_silent and not self.is_virtual:
            floor = min(floor, max(HASTE, SLOWER * max(self.silences.answers)))
        return self.stretched(floor)

    @property
    def window(self) -> float:
        """Seconds to read after an offending stimulus."""
        return self.stretched(WINDOW)

    @property
    def stragglers(self) -> float:
        """Seconds to read behind an answer until what is told unasked has come as well: none where it comes first."""
        # As much as the slowest that was seen, and a window beside that: the next may be later.
        return MARGIN * self.lag + self.window if self.lag else 0.0

    @property
    def glance(self) -> float:
        """Seconds to read after one of hundreds of offending stimuli."""
        return self.stretched(GLANCE)

    @property
    def control(self) -> float:
        """Seconds that a node has to answer a control line, which goes over no network.

        Fewer where an answer is waited for less than usual: who hangs has every line waited for.
        """
        return max(HASTY_CONTROL, CONTROL * min(1.0, self.answer / ANSWER)) * self.scale

    @property
    def connecting(self) -> float:
        """Seconds for a connection to a node that listens."""
        return self.stretched(CONNECT)

    @property
    def sending(self) -> float:
        """Seconds in which a node must take some bytes of what is sent."""
        return self.stretched(SEND)

    @property
    def dialling(self) -> float:
        """Seconds that a node has to dial."""
        return self.stretched(DIAL)
