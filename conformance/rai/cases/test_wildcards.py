"""Rai, "Wildcard Subscription": what a publisher publishes for whom, and when that ends."""

from typing import Any

from conformance.cases import NotPlayed, rule
from conformance.rai.publishing import drops
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import change, settle, updated, updates
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.wildcards import pattern_of_glob, subject_of_pattern

WILDCARDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("LAB.r.>", ("r.a", "r.a.b", "r.a.b.c.d", "r." + "x" * 150, "r.1:2")),
    ("LAB.s.*", ("s.a", "s.b-c")),
    ("LAB.*.t", ("a.t", "bb.t")),
    ("LAB.u.*.v.>", ("u.1.v.2", "u.x.v.y.z")),
    ("LAB.*.*.w", ("a.b.w",)),
    ("LAB.>", ("any", "any.thing")),
)
"""Wildcards of RV, and names of subjects that they match."""

GLOBS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("LAB.g.*", ("g.a", "g.a.b")),
    ("LAB.h?", ("hx", "hy")),
    ("LAB.[ij]*k", ("ik", "j.a.k", "ixk")),
    ("*.l.m", ("l.m", "x.l.m")),
)
"""Wildcards of Redis, some of which no wildcard of RV says, and names of subjects that they match."""

HOSTILE = (
    "(",
    "[",
    "*",
    r"(?s)\ALAB.(",
    r"(?s)\A(a",
    r"\1",
    r"(?s)\ALAB\.[z-a]",
    "a{5,2}",
    "(?P<x",
    r"\ALAB\.(x+x+)+y",
    r"\A(LAB|LA)*\.((x*)*)*y\z",
    "(.*)*(.*)*(.*)*!",
    "((((((((((x{1,30}){1,30}){1,30}){1,30}))))))",
    "x{99999999}",
    "(?s)" + "(" * 300 + "x" + ")" * 300,
    "\\",
    "",
    "\0",
    "(?s)\\A" + "x?" * 60 + "x" * 60,
)
"""Patterns that are none, and such as take for ever where each way to match is tried."""


def _settled_values(node: NodeUnderTest, names: tuple[str, ...]) -> None:
    """Give subjects values, and see that the publisher publishes none of them unasked."""
    for name in names:
        node.set(name, BID=0)
    settle(node)
    since = node.broker.place
    for name in names:
        node.set(name, BID=1)
    settle(node)
    if any(updates(node, node.subject(name), since) for name in names):
        raise NotPlayed("the publisher publishes what nobody has subscribed")


@rule("RAI-122", roles=PUBLISHER)
def test_wildcards_of_rv(node: NodeUnderTest) -> None:
    """Subscribe wildcards with * and > in two sessions; have subjects that match come, and change twice.

    Each change is published under the subject itself.
    """
    for number, (wildcard, names) in enumerate(WILDCARDS):
        asking = (node.main, node.other)[number % 2]
        node.set(names[0], BID=0)
        asking.start_wild(wildcard)
        settle(node, asking)
        for bid in (1, 2):
            for name in names:
                assert change(node, name, BID=bid), f"with {wildcard} subscribed {name[:40]} is not published"


@rule("RAI-122", roles=PUBLISHER)
def test_wildcards_of_redis(node: NodeUnderTest) -> None:
    """Subscribe wildcards as Redis has them, some of which no wildcard of RV says; have subjects that match change.

    Each change is published: the pattern counts.
    """
    for glob, names in GLOBS:
        pattern = pattern_of_glob(glob)
        node.main.start_wild(subject_of_pattern(pattern), pattern)
        settle(node)
        for name in names:
            assert change(node, name, BID=1), f"with {pattern} subscribed {name} is not published"


@rule("RAI-122", roles=PUBLISHER)
def test_patterns_with_plain_dots(node: NodeUnderTest) -> None:
    """Subscribe a wildcard whose pattern has its dots as the document draws them, and one with alternatives.

    What they match is published.
    """
    for wildcard, pattern, names in (
        ("LAB.p.>", r"(?s)\ALAB.p.", ("p.a", "p.b.c")),
        ("LAB.>", r"(?s)\ALAB\.(q|qq)\.[0-9]+\z", ("q.1", "qq.22")),
    ):
        node.main.start_wild(wildcard, pattern)
        settle(node)
        for name in names:
            assert change(node, name, BID=1), f"with {pattern} subscribed {name} is not published"


@rule("RAI-122", roles=PUBLISHER)
def test_wildcards_match_no_more(node: NodeUnderTest) -> None:
    """Subscribe wildcards, and have subjects change that almost match.

    They are not published: nobody has subscribed them.
    """
    near = ("ra.x", "R.x", "s.a.b", "a.t.x", "u.1.w.2", "hxx", "x.s.a", "x.LAB.r.a")
    _settled_values(node, near)
    for wildcard in ("LAB.r.>", "LAB.s.*", "LAB.*.t", "LAB.u.*.v.>"):
        node.main.start_wild(wildcard)
    pattern = pattern_of_glob("LAB.h?")
    node.main.start_wild(subject_of_pattern(pattern), pattern)
    settle(node)
    since = node.broker.place
    for name in near:
        node.set(name, BID=2)
    assert change(node, "r.control", BID=2), "what a wildcard matches is not published"
    settle(node)
    seen = [name for name in near if updates(node, node.subject(name), since)]
    assert not seen, f"subjects are published that no wildcard matches: {seen}"


@rule("RAI-122", roles=PUBLISHER, needs=("RAI-137",))
def test_wildcards_beside_starts(node: NodeUnderTest) -> None:
    """Subscribe a subject and a wildcard that matches it in one session, and stop the subject.

    Updates come on, for the wildcard.
    """
    for asking in (node.main, node.other):
        subject = node.set("both.a", BID=0)
        node.main.start_wild("LAB.both.>")
        asking.subscribed(subject)
        asking.stop(subject)
        settle(node, asking)
        settle(node)
        assert change(node, "both.a", BID=1), "who has subscribed a wildcard gets no updates after a plain stop"


@rule("RAI-123", roles=PUBLISHER)
def test_wildcard_stops(node: NodeUnderTest) -> None:
    """Subscribe several wildcards, stop them one by one, in one session and another, and have subjects change.

    What nobody has subscribed any more is not published; what another wildcard still matches is.
    """
    names = ("a.1", "b.1", "b.2.c", "d.1")
    _settled_values(node, names)
    started = (
        (node.main, "LAB.a.>"),
        (node.main, "LAB.b.>"),
        (node.main, "LAB.b.*"),
        (node.other, "LAB.a.>"),
        (node.other, "LAB.d.*"),
    )
    for asking, wildcard in started:
        asking.start_wild(wildcard)
    left = {*started}
    for bid, (asking, wildcard) in enumerate((started[1], started[0], started[2], started[4], started[3]), 2):
        left.discard((asking, wildcard))
        asking.stop_wild(wildcard)
        for each in (node.main, node.other):
            settle(node, each)
        _published_alone(node, {name for name in names if any(_is_for(each, name) for _, each in left)}, names, bid)


def _is_for(wildcard: str, name: str) -> bool:
    begin = wildcard.removeprefix("LAB.")[:-1]
    rest = name.removeprefix(begin)
    return name.startswith(begin) and (wildcard.endswith(">") or "." not in rest)


def _published_alone(node: NodeUnderTest, wanted: set[str], names: tuple[str, ...], bid: int) -> None:
    since = node.broker.place
    for name in names:
        node.set(name, BID=bid)
    for name in wanted:
        assert updated(node, node.subject(name), {"BID": bid}, since), (
            f"a stop of another wildcard has ended that of {name}"
        )
    settle(node)
    seen = {name for name in names if updates(node, node.subject(name), since)}
    assert seen <= wanted, f"{sorted(seen - wanted)} is published after the wildcard was stopped"


@rule("RAI-123", roles=PUBLISHER)
def test_stops_of_other_wildcards(node: NodeUnderTest) -> None:
    """Subscribe a wildcard and a subject below it, and stop wildcards that are not subscribed, or by another session.

    Nothing ends by that: updates come, and nothing is dropped that is subscribed.
    """
    subject = node.set("a.1", BID=0)
    node.set("a.2", BID=0)
    node.main.start_wild("LAB.a.>")
    node.main.subscribed(subject)
    since = node.broker.place
    for asking, wildcard in ((node.main, "LAB.>"), (node.main, "LAB.a.*"), (node.other, "LAB.a.>"), (node.main, ">")):
        asking.stop_wild(wildcard)
        settle(node, asking)
        for name in ("a.1", "a.2"):
            assert change(node, name, BID=since + node.broker.place), "a stop of another wildcard ends one"
    assert not drops(node, subject, since), "a subject is dropped that is subscribed when a wildcard is stopped"
    node.main.stop_wild("LAB.a.>")
    settle(node)
    assert change(node, "a.1", BID=-1), "the stop of a wildcard ends a plain start"
    assert not drops(node, subject, since), "a subject is dropped that is subscribed when a wildcard is stopped"


@rule("RAI-123", roles=PUBLISHER)
def test_wildcards_again(node: NodeUnderTest) -> None:
    """Subscribe a wildcard and stop it, three times, once with expires.

    Each time what matches is published while it is subscribed, and not after.
    """
    _settled_values(node, ("again.1",))
    wishes: tuple[dict[str, Any], ...] = ({}, {}, {"expires": 1000})
    for number, wish in enumerate(wishes, 1):
        node.main.start_wild("LAB.again.>", **wish)
        settle(node)
        assert change(node, "again.1", BID=10 * number), f"what a wildcard matches is not published at start {number}"
        node.main.stop_wild("LAB.again.>")
        settle(node)
        _published_alone(node, set(), ("again.1",), 10 * number + 1)


@rule("RAI-219", roles=PUBLISHER)
def test_hostile_patterns(node: NodeUnderTest) -> None:
    """Subscribe patterns that are no regular expressions, and such as take for ever where every way is tried.

    What is asked next is answered, and updates come to others.
    """
    subject = node.set("x" * 60, BID=0)
    node.main.subscribed(subject)
    for number, pattern in enumerate(HOSTILE, 1):
        node.other.start_wild("LAB.>", pattern)
        assert change(node, "x" * 60, BID=number), f"after the pattern {pattern[:40]!r} no update comes"
        assert node.other.snapshot(subject), f"after the pattern {pattern[:40]!r} no request is answered"
        node.other.stop_wild("LAB.>", pattern)
    assert node.main.subscribe(subject), "after patterns that are none no start is acked"
    assert change(node, "x" * 60, BID=-1), "after patterns that are none no update comes"
