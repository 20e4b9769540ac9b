"""Histories with a subscriber: its application changes its mind, and publishers tell, leave and come back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conformance.histories.drawing import Chooser
from conformance.rai.feeds import starts
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.subscriber_moves import (
    HOW_FORGED,
    Answers,
    ComesAgain,
    Gives,
    GoesQuiet,
    Holds,
    Inquires,
    IsEnded,
    IsForged,
    LooksOnce,
    Outage,
    Proves,
    Renews,
    SaysStatus,
    Shows,
    SubscriberMove,
    Subscribes,
    SubscribesAll,
    TimePasses,
    Unsubscribes,
    UnsubscribesAll,
    Updates,
)
from conformance.rai.histories.subscriber_playing import SubscriberPlay
from conformance.rai.histories.subscriber_sources import OWNERS
from harness.errors import HarnessError
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Published
from wire.subjects import matches

NAMES = tuple(name for name in OWNERS if not name.startswith("LAB.n."))
WILDCARDS = ("LAB.g.>", "LAB.*.a", "LAB.h.*")
NEW = tuple(name for name in OWNERS if name.startswith("LAB.n."))
"""What a subject may become that is renamed."""

VERBS = ("subscribe", "subscribe", "listen")
USERS = tuple(dict.fromkeys(OWNERS.values()))
QUESTIONS = (">", ">", "LAB.>", "LAB.g.>", "LAB.*.a", "LAB.a", "LAB.n.*")

THEMES = {
    "told_values": "want leave update update update say say show show snap snap wild unwild hold answer forge replay"
    " wait late resubscribe disturb left",
    "publishers": "want leave update update say wild unwild renew renew silent prove replay replay forge forge wait"
    " outage return",
    "inquiries": "want leave update wild unwild drop drop ask ask ask beat beat renew snap renames beside since"
    " resubscribe renamed",
}
"""How often what happens in the histories of each theme."""


class SubscriberMoveGenerator:
    """Draws moves; which of them can be made, shows when they are played."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self._chooser = chooser
        self._kinds = THEMES[theme].split()
        # Few of them: so much happens to each.
        self._names = tuple(chooser.dealt(NAMES)[:4])
        self._episode: list[SubscriberMove] = []
        """Moves that belong together, and are still to be made."""

    def opening(self) -> Sequence[SubscriberMove]:
        """Return what each history begins with: something is subscribed, and told of."""
        choice = self._chooser.choice
        first, second = self._names[:2]
        return [Subscribes(first), Subscribes(second, choice(("subscribe", "listen"))), Updates((first, second))]

    def move(self) -> SubscriberMove | None:
        """Return the next move."""
        if not self._episode:
            kind = self._chooser.choice(self._kinds)
            if kind not in EPISODES:
                return self._make(kind)
            name, verb = self._chooser.choice(self._names), self._chooser.choice(VERBS)
            self._episode = list(EPISODES[kind](name, verb))
        return self._episode.pop(0)

    def _make(self, kind: str) -> SubscriberMove | None:
        choice = self._chooser.choice
        make: dict[str, Callable[[], SubscriberMove | None]] = {
            "want": lambda: Subscribes(choice(self._names), choice(VERBS)),
            "leave": lambda: Unsubscribes(choice((*self._names, *NEW))),
            "wild": lambda: SubscribesAll(choice(WILDCARDS)),
            "unwild": lambda: UnsubscribesAll(choice(WILDCARDS)),
            "update": self._update,
            "say": lambda: SaysStatus(choice(self._names), choice(("stale", "stale", "feed_down", "temp_unavail"))),
            "show": lambda: Shows(
                choice(self._names), choice(("initial", "verify")), choice(("", "", "ok", "stale", "feed_switch"))
            ),
            "snap": lambda: LooksOnce(choice(self._names), choice((True, False))),
            "drop": self._drop,
            "ask": lambda: Inquires(choice(USERS), choice(QUESTIONS), choice((0, 1, 1, 2, 3))),
            "beat": lambda: TimePasses(11),
            "renew": lambda: Renews(choice(USERS), choice(("before", "after", ""))),
            "silent": lambda: GoesQuiet(choice(USERS), choice((12, 45))),
            "prove": lambda: Proves(choice(USERS)),
            "replay": lambda: ComesAgain(choice(self._names), choice((None, None, 0, 1, 2))),
            "forge": lambda: IsForged(choice(self._names), tuple(self._chooser.dealt(tuple(HOW_FORGED)))),
            "hold": lambda: Holds(choice(USERS)),
            "answer": lambda: Answers(choice(USERS), choice((True, False))),
            "wait": lambda: TimePasses(choice((1, 11, 35))),
            "outage": lambda: Outage() if choice((True, False)) else None,
        }
        return make[kind]()

    def _update(self) -> Updates:
        choice = self._chooser.choice
        names = tuple(dict.fromkeys(choice(self._names) for _ in range(choice((1, 1, 2, 4)))))
        status = choice(("", "", "", "ok", "conflated", "conflated", "stale", "feed_down"))
        return Updates(names, status, choice((1, 1, 3)), choice((False, False, False, True)))

    def _drop(self) -> Gives:
        choice = self._chooser.choice
        name, status = (
            choice((*self._names, *NEW)),
            choice(("nosubscribers", "preempted", "expired", "relocate", "relocate")),
        )
        if status != "relocate":
            return Gives(name, status)
        return Gives(name, status, choice([each for each in OWNERS if each != name and OWNERS[each] == OWNERS[name]]))

    def closing(self) -> Sequence[SubscriberMove]:
        """Return what each history ends with: all is told once more; after the end of some, nothing is."""
        ends = [IsEnded()] if self._chooser.choice((True, False, False)) else []
        return [*(Answers(user) for user in USERS), Updates(NAMES), *ends]


def _disturb(name: str, verb: str) -> list[SubscriberMove]:
    """Return what makes a value stale, and what must not mend that."""
    return [
        Subscribes(name, verb),
        Updates((name,)),
        SaysStatus(name, "stale"),
        LooksOnce(name, is_ahead=True),
        Updates((name,)),
    ]


def _late(name: str, verb: str) -> list[SubscriberMove]:
    """Return what has an image come when nobody wants it any more."""
    return [Unsubscribes(name), Holds(OWNERS[name]), Subscribes(name), Unsubscribes(name), Answers(OWNERS[name])]


def _resubscribe(name: str, verb: str) -> list[SubscriberMove]:
    """Return what has a subject be left and subscribed again, when its value has changed meanwhile."""
    return [
        Subscribes(name),
        Unsubscribes(name),
        Updates((name,)),
        Subscribes(name, verb),
        Updates((name,)),
        Unsubscribes(name),
        Subscribes(name),
    ]


def _return(name: str, verb: str) -> list[SubscriberMove]:
    """Return what has a publisher come back, and its former words as well."""
    return [Subscribes(name, verb), Updates((name,), times=2), GoesQuiet(OWNERS[name], 45), ComesAgain(name)]


def _renames(name: str, verb: str) -> list[SubscriberMove]:
    """Return what gives a subject one name after another."""
    first, second, *_ = [*(each for each in NEW if OWNERS[each] == OWNERS[name]), name]
    return [
        Subscribes(name, verb),
        Gives(name, "relocate", first),
        Gives(first, "relocate", second),
        Updates((second,)),
    ]


def _beside(name: str, verb: str) -> list[SubscriberMove]:
    """Return what renames a subject that a wildcard brings as well."""
    wildcard = next((each for each in WILDCARDS if matches(each, name)), WILDCARDS[0])
    new = next(each for each in NEW if OWNERS[each] == OWNERS[name])
    return [
        Unsubscribes(new),
        Subscribes(name, verb),
        SubscribesAll(wildcard),
        Gives(name, "relocate", new),
        Updates((new,)),
    ]


def _since(name: str, verb: str) -> list[SubscriberMove]:
    """Return what has a subject be subscribed anew, and a publisher ask what was since."""
    return [
        Subscribes(name),
        TimePasses(25),
        Unsubscribes(name),
        TimePasses(3),
        Subscribes(name, verb),
        Inquires(OWNERS[name], ">", 2),
    ]


def _renamed(name: str, verb: str) -> list[SubscriberMove]:
    """Return what gives a subject another name, and has a publisher ask what was subscribed since."""
    new = next(each for each in NEW if OWNERS[each] == OWNERS[name])
    return [Subscribes(name, verb), TimePasses(25), Gives(name, "relocate", new), Inquires(OWNERS[name], ">", 2)]


def _left(name: str, verb: str) -> list[SubscriberMove]:
    """Return what has a stale value be brought by a wildcard alone."""
    wildcard = next((each for each in WILDCARDS if matches(each, name)), WILDCARDS[0])
    told = (Updates((name,)), SaysStatus(name, "stale"))
    return [SubscribesAll(wildcard), Subscribes(name, verb), *told, Unsubscribes(name), Updates((name,))]


EPISODES: dict[str, Callable[[str, str], list[SubscriberMove]]] = {
    "disturb": _disturb,
    "left": _left,
    "late": _late,
    "resubscribe": _resubscribe,
    "return": _return,
    "renames": _renames,
    "beside": _beside,
    "since": _since,
    "renamed": _renamed,
}
"""Moves that say something together, and would seldom come so by themselves."""


class SubscriberHistories:
    """What Rai brings to histories of subscribers."""

    tried: frozenset[str] = frozenset()

    def generator(self, chooser: Chooser, theme: str) -> SubscriberMoveGenerator:
        """Return a generator of histories about a theme."""
        return SubscriberMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return what a subscriber does at all; what it lacks, basic cases tell."""
        with node.scene() as scene:
            try:
                return _abilities_of(scene)
            except HarnessError as error:
                return Abilities(blocked=str(error))

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[SubscriberPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield SubscriberPlay(scene, can)

    def simpler(self, move: SubscriberMove) -> Sequence[SubscriberMove]:
        """Return a move with less in it."""
        match move:
            case Updates(names=names, status=status, times=times) if len(names) > 1 or times > 1:
                return tuple(Updates((name,), status, 1, move.is_null) for name in names)
            case IsForged(name=name, ways=ways) if len(ways) > 1:
                return tuple(IsForged(name, (way,)) for way in ways)
            case GoesQuiet(who=who, seconds=seconds) if seconds > 12:
                return (GoesQuiet(who, 12),)
            case _:
                return ()


def _abilities_of(node: NodeUnderTest) -> Abilities:
    """Try what histories rest on, with a publisher that serves."""
    publisher = node.publisher
    lacks = set()
    name, snapped, new = "LAB.tried", "LAB.snapped", "LAB.renamed"
    publisher.values |= {name: {"BID": 1}, snapped: {"BID": 2}, new: {"BID": 3}}
    node.command("subscribe", name)
    if publisher.started(name) is None:
        return Abilities(blocked="nothing that is subscribed is started")
    if not node.until(lambda: node.values(name)):
        return Abilities(blocked="no image is told")
    since = publisher.broker.place
    node.new_publisher("toby", serves=False)
    if publisher.started(name, since=since) is None:
        lacks.add("restarts")
    node.command("snapshot", snapped)
    if node.event("snapshot", snapped) is None:
        lacks.add("snapshots")
    node.command("psubscribe", "LAB.wild.>")
    if publisher.started_wild("LAB.wild.>") is None:
        lacks.add("wildcards")
    since = publisher.broker.place
    publisher.say(name, Published(type="drop", status="relocate", text=new, subject=new))
    found = publisher.broker.wait_for(
        lambda event: starts(event, new), since=since, thing="a start of what was renamed"
    )
    if found is None:
        lacks.add("renames")
    return Abilities(lacks=frozenset(lacks))


SUBSCRIBER_HISTORIES = SubscriberHistories()
