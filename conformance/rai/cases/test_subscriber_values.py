"""Sections "Update Messaging" and "Type and Status Usage": what becomes of values at a subscriber's application."""

from typing import Any

from conformance.cases import judging, rule
from conformance.rai.feeds import Feed, Told
from conformance.rai.roles import SUBSCRIBER
from harness.rai.tester.node_under_test import NodeUnderTest

UNRELIABLE = ("stale", "feed_down")
"""How an application is told that a value cannot be relied on: a feed that is down makes it stale as well."""

TEXTS: dict[str, Any] = {
    "NAME": 'two words, "quotes" \\ and {brackets}',
    "CITY": "Zürich — 東京",
    "NONE": "",
    "PRICE": 17.25,
    "BIG": 2**52,
}
LISTS: dict[str, Any] = {"HUGE": 2**52, "LEVELS": [1, 2.5, "x"], "BOOK": {"BID": {"SIZE": 3}}, "IS_OPEN": True}


@rule("RAI-155", "RAI-059", roles=SUBSCRIBER)
def test_updates_of_some_fields(node: NodeUnderTest) -> None:
    """Publish updates of some fields of a subject, one of them new.

    Each is told, with all other fields as they were.
    """
    feed = Feed(node, BID=1, ASK=2, LAST=3)
    for changed in ({"BID": 10}, {"ASK": 20, "LAST": 30}, {"SIZE": 4}, {"BID": 11}):
        feed.update(**changed)
        with judging("RAI-155"):
            assert feed.tells(**changed), "an update is not told to the application"
        with judging("RAI-059"):
            assert feed.tells(**feed.publisher.values[feed.subject]), (
                "an update takes fields away that it does not have"
            )
    with judging("RAI-059"):
        assert feed.last[1] == feed.publisher.values[feed.subject], "an update leaves a value other than it has to be"


@rule("RAI-155", roles=SUBSCRIBER)
def test_values_of_all_kinds(node: NodeUnderTest) -> None:
    """Publish images and updates with texts, decimals, large integers, lists and objects, on short and long subjects.

    They are told as they were published.
    """
    for name in ("v", "v.of.a.subject.with.many.segments", "v." + 120 * "x", "v.with-dash_and:colon"):
        feed = Feed(node, name, judges=True, **TEXTS)
        feed.update(**LISTS)
        assert feed.tells(**TEXTS, **LISTS), "a value is told other than it was published"


@rule("RAI-155", roles=SUBSCRIBER)
def test_many_subjects(node: NodeUnderTest) -> None:
    """Have forty subjects be subscribed, some without an image, and publish updates of all, round by round.

    All are told.
    """
    verbs = ("subscribe", "listen", "listen", "listen")
    feeds = [Feed(node, f"many.{number}", verb=verbs[number % 4], judges=True) for number in range(40)]
    for round in range(3):
        for feed in feeds:
            feed.update(BID=round, ASK=-round)
    for feed in feeds:
        for round in range(3):
            assert feed.tells(BID=round, ASK=-round), "with forty subjects an update is not told"


@rule("RAI-155", roles=SUBSCRIBER)
def test_updates_without_an_image(node: NodeUnderTest) -> None:
    """Have a subject be subscribed without an image, and answer by not_found for another one; publish updates of both.

    They are told.
    """
    feed = Feed(node, "bare", verb="listen", judges=True)
    feed.update(BID=7)
    assert feed.tells(BID=7), "without an image an update is not told"
    publisher, subject = node.publisher, node.subject("late")
    node.command("subscribe", subject)
    publisher.surely(publisher.started(subject), "start")
    publisher.update(subject, BID=8)
    told = node.until(lambda: [fields for _, fields in node.values(subject) if fields.get("BID") == 8])
    assert told, "after not_found an update is not told"


@rule("RAI-155", "RAI-088", "RAI-070", roles=SUBSCRIBER)
def test_several_publishers(node: NodeUnderTest) -> None:
    """Have three publishers be trusted, two of which are sessions of one user; each publishes another subject.

    All that they publish is told, in turn.
    """
    main = node.publisher
    others = [node.new_publisher("toby", serves=False) for _ in range(2)]
    feeds = [Feed(node, name) for name in ("first", "second", "third")]
    for round in range(3):
        for feed, publisher in zip(feeds, (main, *others), strict=True):
            publisher.publish(feed.subject, data={"ROUND": round})
            whose = "of several sessions of one user" if publisher in others else "of the first of several publishers"
            assert feed.tells(ROUND=round), f"an update {whose} is not told"


@rule("RAI-059", roles=SUBSCRIBER)
def test_images_that_come_again(node: NodeUnderTest) -> None:
    """Publish images of a subject that lack fields which it had: after updates, one behind another, and one of none.

    What an image lacks is gone.
    """
    feed = Feed(node, BID=1, ASK=2, LAST=3)
    images: tuple[dict[str, Any], ...] = ({"BID": 5, "SIZE": 6}, {"ASK": 7}, {"BID": 8, "ASK": 9, "LAST": 10})
    for number, image in enumerate(images):
        feed.refresh(**image)
        assert feed.tells(**image), "an image of type initial is not told"
        assert feed.last[1] == image, "fields that an image lacks are still told"
        feed.update(EXTRA=number)
        assert feed.tells(EXTRA=number), "an update behind an image is not told"
        assert feed.last[1] == image | {"EXTRA": number}, (
            "behind an image an update leaves a value other than it has to be"
        )
    since = feed.place
    feed.refresh(STATE="first")
    feed.refresh(STATE="second")
    assert feed.tells(STATE="second", since=since), "the second of two images is not told"
    assert feed.last[1] == {"STATE": "second"}, "of two images the second does not stand"


@rule("RAI-052", roles=SUBSCRIBER)
def test_update_before_the_image(node: NodeUnderTest) -> None:
    """Have a subject be subscribed; publish an update of it before the image that was asked for, and another behind it.

    Both updates are told, and a field that only the image has.
    """
    publisher, subject = node.publisher, node.subject("overtaken")
    publisher.is_serving = False
    node.command("subscribe", subject)
    start = publisher.surely(publisher.started(subject), "start")
    publisher.update(subject, BID=2)
    returned = getattr(start.body, "return_", None)
    if returned is not None:
        image = {"BID": 1, "ASK": 3}
        publisher.answer(start.message.session, returned, type="start", subject=subject, format="json", data=image)
        assert told(node, subject, ASK=3), "an image that comes behind an update is not told"
        last = node.values(subject)[-1][1]
        node.shows("RAI-052", "R62", "A" if last.get("BID") == 2 else "B")
    publisher.update(subject, LAST=4)
    assert told(node, subject, LAST=4), "an update that comes behind both is not told"
    assert told(node, subject, BID=2), "an update that comes before the image is never told"


def values_of(node: NodeUnderTest, subject: str) -> list[Told]:
    """Read until the application is told of a subject, and return what it was told."""
    return node.until(lambda: node.values(subject))


def told(node: NodeUnderTest, subject: str, **fields: object) -> bool:
    """Read until the application is told a value of a subject that has some fields; tell whether it was."""
    return bool(node.until(lambda: [each for _, each in node.values(subject) if each.items() >= fields.items()]))


@rule("RAI-135", "RAI-141", roles=SUBSCRIBER)
def test_defaults_of_type_and_status(node: NodeUnderTest) -> None:
    """Publish updates without type and status, with either, and with both written out.

    All of them change the fields that they have, and none makes the value unreliable.
    """
    feed = Feed(node, BID=1, ASK=2)
    both = {"type": "update", "status": "ok"}
    spellings: tuple[dict[str, Any], ...] = ({}, {"type": "update"}, {"status": "ok"}, both, {"format": "json"})
    for number, members in enumerate(spellings, 10):
        with judging("RAI-135" if members.keys() <= {"format"} else "RAI-141"):
            how = ", ".join(f"{name} {value}" for name, value in members.items()) or "neither type nor status"
            feed.publish(**members, data={"BID": number})
            assert feed.tells(BID=number), f"an update with {how} is not told"
            assert feed.tells(BID=number, ASK=2), f"an update with {how} is no update: it takes fields away"
            assert not feed.tells(*UNRELIABLE, BID=number, seconds=0), f"a value is unreliable after {how}"
    feed.publish(type="initial", status="ok", data={"LAST": 1})
    with judging("RAI-141"):
        assert feed.tells(LAST=1), "an image with status ok is not told"
        assert feed.last[1] == {"LAST": 1}, "an image with status ok written out is no image"


@rule("RAI-156", roles=SUBSCRIBER)
def test_stale_and_feed_down(node: NodeUnderTest) -> None:
    """Publish that values are stale, or that their feed is down: without data, with an update, and with an image.

    The application is told so with the value, which has its fields.
    """
    for status in UNRELIABLE:
        for name, members in (
            ("bare", {}),
            ("typed", {"type": "update"}),
            ("update", {"data": {"BID": 3}}),
            ("image", {"type": "initial", "data": {"BID": 3, "ASK": 2}}),
        ):
            feed = Feed(node, f"{status}.{name}", BID=1, ASK=2)
            # Who subscribes anew would be told a value that is whole.
            feed.publisher.is_serving = False
            feed.publish(status=status, **members)
            bid = 3 if "data" in members else 1
            what = "a message without data" if bid == 1 else f"an {name}"
            assert feed.tells(*UNRELIABLE, BID=bid, ASK=2), f"that {what} says {status} is not told with the value"
            feed.publisher.is_serving = True


@rule("RAI-156", roles=SUBSCRIBER)
def test_image_that_is_stale(node: NodeUnderTest) -> None:
    """Answer starts by images whose status is stale, or feed_down.

    The values are told with that.
    """
    publisher = node.publisher
    publisher.is_serving = False
    for status in UNRELIABLE:
        subject = node.subject(f"old.{status}")
        node.command("subscribe", subject)
        start = publisher.surely(publisher.started(subject), "start")
        returned = getattr(start.body, "return_", None)
        if returned is None:
            continue
        to = start.message.session
        publisher.answer(to, returned, type="start", subject=subject, status=status, format="json", data={"BID": 1})
        found = values_of(node, subject)
        assert found, f"an image with status {status} is not told"
        assert found[-1][0] in UNRELIABLE, f"an image with status {status} is told as if it could be relied on"


@rule("RAI-157", roles=SUBSCRIBER)
def test_updates_of_a_stale_value(node: NodeUnderTest) -> None:
    """Publish that a value is stale, without data or with it, and updates behind that: plain, ok, conflated.

    The value changes, and stays stale.
    """
    for name, members in (("bare", {}), ("update", {"data": {"BID": 2}})):
        feed = Feed(node, f"persists.{name}")
        feed.publisher.is_serving = False
        feed.publish(status="stale", **members)
        for number, more in enumerate(({}, {"status": "ok"}, {"status": "conflated"}, {"type": "update"}), 10):
            feed.publish(**more, data={"BID": number})
            assert feed.tells(BID=number), "an update of a stale value is not told"
            assert feed.tells("stale", BID=number, seconds=0), "a value that is stale is told as ok after an update"
        feed.publisher.is_serving = True


@rule("RAI-158", roles=SUBSCRIBER)
def test_images_of_a_stale_value(node: NodeUnderTest) -> None:
    """Publish that a value is stale, and then an image or a verify of all its fields, with ok or without; twice over.

    The value is not stale any more, nor after an update behind that.
    """
    feed = Feed(node)
    feed.publisher.is_serving = False
    refreshes = ({"type": "initial"}, {"type": "verify"}, {"type": "initial", "status": "ok"})
    for number, members in enumerate((*refreshes, {"type": "verify", "status": "ok"}), 10):
        feed.publish(status="feed_down" if number == 12 else "stale")
        if not feed.tells(*UNRELIABLE):
            continue
        since = feed.place
        feed.publish(**members, format="json", data={"BID": number, "ASK": 2})
        how = f"{members['type']} with status ok" if "status" in members else members["type"]
        assert feed.tells(BID=number, since=since), f"of a stale value the {how} is not told"
        assert feed.last[0] not in UNRELIABLE, f"a value is stale after {how}"
        feed.publish(data={"ASK": number})
        assert feed.tells(ASK=number, since=since), "an update behind an image is not told"
        assert feed.last[0] not in UNRELIABLE, f"a value is stale again by an update behind {how}"


@rule("RAI-015", roles=SUBSCRIBER)
def test_subscriptions_of_stale_values(node: NodeUnderTest) -> None:
    """Publish that a value is stale, by each form of that notice, and updates behind it.

    It is not stopped, and what comes next is told.
    """
    feed = Feed(node)
    notices = ({"status": "stale"}, {"status": "feed_down"}, {"type": "recap", "status": "feed_switch"})
    for notice in (*notices, {"type": "initial", "status": "feed_switch", "data": {"BID": 1, "ASK": 2}}):
        since = feed.publisher.broker.place
        feed.publish(**notice)
        assert feed.goes_on(), f"after {notice['status']} updates are not told any more"
        feed.publisher.broker.read(node.timing.glance)
        stops = [each for each in feed.publisher.broker.received(since=since) if each.subject.startswith("_SUB.STOP.")]
        assert not stops, f"after {notice['status']} the subscription is stopped"


@rule("RAI-143", roles=SUBSCRIBER)
def test_types_and_statuses_that_nobody_knows(node: NodeUnderTest) -> None:
    """Publish messages of a type, or with a status, that the document does not have: with data and without.

    What comes behind them is told.
    """
    feed = Feed(node)
    for members in (
        {"type": "rumour"},
        {"status": "half_day"},
        {"type": "rumour", "status": "half_day"},
        {"type": "", "status": ""},
        {"type": "UPDATE", "status": "OK"},
    ):
        for data in ({}, {"data": {"OTHER": 1}}):
            feed.publish(**members, **data)
        assert feed.goes_on(), "behind an unknown type or status nothing is told any more"


@rule("RAI-144", roles=SUBSCRIBER)
def test_transient_messages(node: NodeUnderTest) -> None:
    """Publish messages of type transient, which have a status and no data, and an update behind them.

    The value has all the fields that it had.
    """
    feed = Feed(node, BID=1, ASK=2)
    for status in ("temp_unavail", "ok", "bad_access"):
        feed.publish(type="transient", status=status)
        feed.surely_goes_on()
        fields = {name: value for name, value in feed.last[1].items() if name != "MARK"}
        assert fields == {"BID": 1, "ASK": 2}, f"a transient with status {status} changes the value to {fields}"


@rule("RAI-155", roles=SUBSCRIBER)
def test_feed_switch_and_conflated(node: NodeUnderTest) -> None:
    """Publish the fields that are recapped after a switch, and a conflated update.

    Both are told; what they lack stays.
    """
    feed = Feed(node, BID=1, ASK=2, LAST=3)
    for number, members in enumerate(({"type": "recap", "status": "feed_switch"}, {"status": "conflated"}), 10):
        feed.publish(**members, data={"BID": number})
        assert feed.tells(BID=number), f"the data of a message with status {members['status']} are not told"
        assert feed.tells(BID=number, ASK=2, LAST=3), f"a message with status {members['status']} takes fields away"


@rule("RAI-155", roles=SUBSCRIBER)
def test_order_of_updates(node: NodeUnderTest) -> None:
    """Publish fifty updates in a row.

    None is told behind a later one.
    """
    feed = Feed(node)
    for number in range(50):
        feed.update(BID=number, **{f"F{number}": number})
    assert feed.tells(BID=49), "of fifty updates the last is not told"
    bids = [fields.get("BID", -1) for _, fields in node.values(feed.subject) if "F0" in fields]
    assert bids == sorted(bids), "updates are told in another order than they were published"
    assert all(f"F{number}" in feed.last[1] for number in range(50)), "of fifty updates some are lost"
