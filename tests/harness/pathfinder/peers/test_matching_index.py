"""The matching index and the directory: what is not looked at could not have matched, and nothing is left behind."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.pathfinder.peers.directory import Directory, ServiceRecord, record
from harness.pathfinder.peers.matching_index import ANYTHING, Anchor, Index, anchors_of_filter, anchors_of_service
from vectors.pathfinder.filter_samples import matching_props, sample
from wire.pathfinder.filters import And, Equal, Filter, Greater, Less, Not, Or, Present, Substring, parse
from wire.pathfinder.matching import matches

NAMES = st.sampled_from(["", "a", "b", "c"])
TEXTS = st.sampled_from(["", "0", "-0", "5", "05", "x", "xy", "-9223372036854775808", "99999999999999999999"])
VALUES = st.one_of(TEXTS, st.sampled_from([0, 5, -(2**63), 2**63 - 1]))
PROPS = st.dictionaries(NAMES, st.lists(VALUES, max_size=3), max_size=3)
ITEMS: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Equal, NAMES, TEXTS),
    st.builds(Greater, NAMES, TEXTS),
    st.builds(Less, NAMES, TEXTS),
    st.builds(Present, NAMES),
    st.builds(Substring, NAMES, TEXTS, st.tuples(TEXTS), TEXTS),
)


def composed(below: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(below, max_size=3).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, below))


FILTERS = st.recursive(ITEMS, composed, max_leaves=8)


def service(
    number: int, props: dict[str, list[str | int]], owner: int = 1, expires: float | None = None
) -> ServiceRecord:
    since = None if expires is None else 1.0
    return replace(record(number, 0, props, 60, owner), orphan_since=since, expires=expires)


@given(st.lists(FILTERS, max_size=6), st.lists(PROPS, max_size=6))
def test_what_the_index_leaves_out_does_not_match(
    filters: list[Filter], contents: list[dict[str, list[str | int]]]
) -> None:
    directory, subscribers = Directory(), Index()
    for number, props in enumerate(contents):
        directory.put(service(number, props))
    for number, tree in enumerate(filters):
        subscribers.add(number, anchors_of_filter(tree))
    for number, tree in enumerate(filters):
        found = directory.find(anchors_of_filter(tree))
        assert len({each.id for each in found}) == len(found)
        hits = {each.id for each in found if matches(tree, each.props)}
        assert hits == {at for at, props in enumerate(contents) if matches(tree, props)}
        for props in contents:
            if matches(tree, props):
                assert number in subscribers.find(anchors_of_service(props))


@pytest.mark.parametrize("deployed", [False, True])
def test_filters_from_a_seed_find_what_they_match(deployed: bool) -> None:
    rng = Random(7)
    found = 0
    for _ in range(2000):
        tree = sample(rng, deployed=deployed)
        props = matching_props(rng, tree)
        if props is not None:
            found += 1
            assert set(anchors_of_filter(tree)) & set(anchors_of_service(props)), (tree, props)
    assert found > 1000


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("(a=5)", [("a", "5")]),
        ("(a=*)", [("a",)]),
        ("(a=x*)", [("a",)]),
        ("(a>5)", [("a",)]),
        ("(a<5)", [("a",)]),
        ("(!(a=5))", [ANYTHING]),
        ("(&(a=*)(b=5))", [("b", "5")]),
        ("(&(!(a=1))(b=*))", [("b",)]),
        ("(&(|(a=1)(a=2)(a=3))(b=*))", [("a", "1"), ("a", "2"), ("a", "3")]),
        ("(|(a=1)(b=*))", [("a", "1"), ("b",)]),
        ("(|(a=1)(!(b=*)))", [ANYTHING]),
        ("(&(a=1))", [("a", "1")]),
    ],
)
def test_the_anchors_of(text: str, anchors: list[Anchor]) -> None:
    assert list(anchors_of_filter(parse(text))) == anchors


def test_an_integer_and_its_text_are_one_anchor() -> None:
    assert set(anchors_of_service({"a": [5, "5"], "b": []})) == {ANYTHING, ("a",), ("a", "5")}


@pytest.mark.parametrize(
    "text",
    [
        # Ten times as deep as Python's own stack, so that nothing that calls itself gets to the end.
        "(!" * 10_000 + "(a=1)" + ")" * 10_000,
        "(&(b=*)" * 10_000 + "(a=1)" + ")" * 10_000,
        "".join(f"(|(a={number})" for number in range(10_000)) + "(a=x)" + ")" * 10_000,
        "(|" + "".join(f"(a={number})" for number in range(10_000)) + ")",
    ],
    ids=["not", "and", "or", "wide"],
)
def test_deep_and_wide_filters_have_anchors(text: str) -> None:
    tree = parse(text)
    anchors = anchors_of_filter(tree)
    index = Index()
    index.add(1, anchors)
    assert index.find(anchors_of_service({"a": [1]})) == [1]
    index.remove(1, anchors)
    assert len(index) == 0


def test_removing_leaves_nothing_behind() -> None:
    index = Index()
    index.add(1, [("a",), ("a", "1")])
    index.add(2, [("a",), ANYTHING])
    assert index.find([("a",), ANYTHING]) == [1, 2]
    index.remove(1, [("a",), ("a", "1"), ("never",)])
    assert index.find([("a", "1")]) == []
    assert index.find([("a",)]) == [2]
    index.remove(2, [("a",), ANYTHING])
    assert len(index) == 0


def test_a_directory_follows_owners_contents_and_volume() -> None:
    directory = Directory()
    directory.put(service(1, {"a": ["x"]}))
    directory.put(service(2, {"a": ["x"]}))
    directory.put(service(1, {"b": ["yy"]}, owner=2))
    assert [each.id for each in directory.owned(1)] == [2]
    assert [each.id for each in directory.owned(2)] == [1]
    assert [each.id for each in directory.find([("a", "x")])] == [2]
    assert [each.id for each in directory.find([("b", "yy")])] == [1]
    for each in list(directory):
        directory.remove(each)
    assert (len(directory), directory.volume, directory.count_owned(1), directory.count_owned(2)) == (0, 0, 0, 0)
    assert directory.find([ANYTHING]) == []


def test_expiries_come_in_order_and_once() -> None:
    directory = Directory()
    for number, expires in enumerate([3.0, 1.0, 2.0**63, 2.0, None]):
        directory.put(service(number, {}, expires=expires))
    directory.put(service(3, {}))  # an orphan no more
    assert directory.next_expiry() == 1.0
    assert [each.id for each in directory.take_expired(5.0)] == [1, 0]
    assert directory.take_expired(5.0) == []
    assert directory.next_expiry() == 2.0**63


@pytest.mark.parametrize("step", [0.0, 1.0], ids=["time stands still", "time goes on"])
def test_expiries_that_became_void_are_swept_out(step: float) -> None:
    directory = Directory()
    for number in range(10):
        directory.put(service(number, {}, expires=1e6))
    for turn in range(2000):
        directory.put(service(0, {}))
        directory.put(service(0, {}, expires=1e9 + turn * step))
        assert len(directory._expiries) < 200
    assert [each.id for each in directory.take_expired(1e6)] == list(range(1, 10))
    assert [each.id for each in directory.take_expired(2e9)] == [0]
