"""What a subscriber's application may have been told of a value by now, where the document leaves several answers."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

Fields = dict[str, Any]

OK, STALE, CONFLATED, VERIFY, OPEN = "ok", "stale", "conflated", "verify", "open"
"""How a value is told: ``CONFLATED`` and ``VERIFY`` so, or as ok; ``OPEN`` in any way, behind a switch
of the feed, and where a subject is said to be unavailable for a while: whether its value is stale then, is not said."""

UNRELIABLE = frozenset({"stale", "feed_down"})
RELIABLE = frozenset({OK, CONFLATED, VERIFY})


class ToldState(NamedTuple):
    """A value as it may be: its fields, as strict JSON with sorted names, or that there is none."""

    fields: str | None
    how: str = OK

    def is_told_as(self, status: str, fields: str) -> bool:
        """Tell whether the application may be told the value so."""
        return self.fields == fields and self.how_fits(status)

    def how_fits(self, status: str) -> bool:
        """Tell whether a status says how far such a value can be relied on."""
        match self.how:
            case "stale":
                return status not in RELIABLE
            case "conflated" | "verify":
                return status in (OK, self.how)
            case "open":
                return True
            case _:
                return status == OK


NONE = ToldState(None)


def text_of(fields: Fields) -> str:
    """Return fields so that they can be compared."""
    return json.dumps(fields, sort_keys=True)


class ToldValue:
    """A value that the application is told of: what it may be now, and what it was since anybody looked."""

    def __init__(self, states: Iterable[ToldState] = (NONE,)) -> None:
        self.states = set(states)
        self.passed = set(self.states)
        self.told: tuple[str, str] | None = None
        """Status and fields that the application was told last."""
        self.is_news = False
        """Whether that was told since anybody looked."""
        self._is_certain = True
        self.sources: set[str] = set()
        """The session that has told of it last, or may have."""
        self.early: Fields = {}
        """What updates have told since it was subscribed: an image may come behind them (reading R62)."""
        self.cause = ("RAI-155", "")
        """What happened last to it: the rule that it is about, and in words."""

    def become(self, states: Iterable[ToldState], *, surely: bool = True) -> None:
        """Have other states; as well as those of before, where that is not sure."""
        states = set(states)
        self.states = states if surely else self.states | states
        self._is_certain = self._is_certain and surely
        self.passed |= self.states

    def update(self, fields: Fields, status: str, source: str) -> None:
        """Have some fields change."""
        self.become(_updated(each, fields, status) for each in self.states)
        self.early |= fields
        self.sources = {source}

    def image(self, fields: Fields, how: str, source: str, *, surely: bool = True) -> None:
        """Be replaced by a whole value; by what updates told before as well, where it comes behind them."""
        self.become({ToldState(text_of(fields), how), ToldState(text_of(fields | self.early), how)}, surely=surely)
        self.sources |= {source}
        if surely:
            self.early = {}
            self.sources = {source}

    def mark(self, status: str) -> None:
        """Not be relied on any more."""
        self.become({_marked(each, status) for each in self.states} | {each for each in self.states if not each.fields})

    def doubt(self) -> None:
        """Be stale, perhaps: who has told of it is gone, or may be."""
        self.become({_marked(each, STALE) for each in self.states}, surely=False)

    def lose(self) -> None:
        """Be no more, perhaps."""
        self.become({NONE}, surely=False)

    @property
    def is_told(self) -> bool:
        """Whether what the application was told last is what it has to know by now."""
        if any(each.fields is None for each in self.states):
            return True
        return self.told is not None and any(each.is_told_as(*self.told) for each in self.states)

    def learn(self) -> None:
        """Rule out what the application was not told, where that came behind all that had to be told."""
        told = self.told if self.is_news and self._is_certain else None
        if told is not None and (found := {each for each in self.states if each.is_told_as(*told)}):
            self.states = found
        self.passed = set(self.states)
        self.is_news, self._is_certain = False, True


def _updated(state: ToldState, fields: Fields, status: str) -> ToldState:
    before = json.loads(state.fields) if state.fields else {}
    return ToldState(text_of(before | fields), _how_after(state.how, status))


def _how_after(how: str, status: str) -> str:
    if status in UNRELIABLE or how == STALE:
        return STALE
    if status in ("feed_switch", "temp_unavail"):
        return OPEN
    if how == CONFLATED:
        how = OK
    return CONFLATED if status == CONFLATED and how == OK else how


def _marked(state: ToldState, status: str) -> ToldState:
    return ToldState(state.fields, _how_after(state.how, status))
