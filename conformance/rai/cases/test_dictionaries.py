"""Rai, "Dictionaries": what a publisher says of the dictionary of its data, and whom it sends it."""

from typing import Any

import msgspec

from conformance.cases import judging, rule
from conformance.rai.roles import PUBLISHER
from conformance.rai.telling import change, fields, refreshed, settle, told
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import DICT, Dict, DictRequest, Return, inbox

FIRST = {"BID": {"id": 1, "type": "decimal"}, "ASK": {"id": 2, "type": "decimal"}}
SECOND = FIRST | {"LAST": {"id": 3, "type": "text"}}
THIRD = {"BID": {"id": 1, "type": "text"}, "ASK": {"id": 2, "type": "decimal"}}


def _number(checksum: int | str | None) -> int | None:
    """Return a checksum in either spelling (reading R29) as a number; ``None`` where it is none."""
    try:
        return int(checksum, 0) if isinstance(checksum, str) else checksum
    except ValueError:
        return None


def _has(node: NodeUnderTest, name: str, dictionary: dict[str, Any]) -> None:
    """Have the publisher have a dictionary."""
    node.command("dictionary", name, msgspec.json.encode(dictionary).decode())


def _shown(asking: TestSession, subject: str) -> dict[str, Event]:
    return {
        "an image": asking.surely(asking.image(subject), "image"),
        "a snapshot": asking.surely(asking.snapshot(subject), "snapshot"),
    }


def _fetch(asking: TestSession, name: str, returned: Return | None = None, **members: Any) -> Dict | None:
    """Ask the publisher for a dictionary, and return the answer; ``None`` when none comes."""
    event = asking.dictionary(name, returned, **members)
    return event.body if event is not None and isinstance(event.body, Dict) else None


def _content(answer: Dict) -> Any:
    return msgspec.json.decode(answer.data) if bytes(answer.data) else None


@rule("RAI-149", "RAI-150", roles=PUBLISHER, needs=("RAI-134",))
def test_names_of_dictionaries(node: NodeUnderTest) -> None:
    """Have a dictionary come, and another version of it; ask for images and snapshots of several subjects each time.

    All name it, with one checksum for one version, and another for another.
    """
    subjects = [node.set(name, BID=1) for name in ("one", "two.b")]
    seen: list[int | None] = []
    for number, dictionary in enumerate((FIRST, SECOND, THIRD)):
        _has(node, "lab-fields", dictionary)
        subjects.append(node.set(f"new.{number}", BID=number))
        checksums = set()
        for asking in (node.main, node.other):
            for subject in subjects:
                for what, shown in _shown(asking, subject).items():
                    body = told(shown)
                    with judging("RAI-149"):
                        assert body.dictionary == "lab-fields", f"{what} names the dictionary {body.dictionary}"
                    with judging("RAI-150"):
                        assert _number(body.dict_csum) is not None, f"{what} has the checksum {body.dict_csum}"
                        node.shows("RAI-150", "R29", "B" if isinstance(body.dict_csum, str) else "A")
                    checksums.add(_number(body.dict_csum))
        with judging("RAI-150"):
            assert len(checksums) == 1, "one version of a dictionary has several checksums"
            assert not checksums & {*seen}, "another version of a dictionary has the same checksum"
        seen += checksums


@rule("RAI-151", roles=PUBLISHER, needs=("RAI-150",))
def test_changes_of_dictionaries(node: NodeUnderTest) -> None:
    """Subscribe subjects in two sessions, and have the dictionary change twice.

    Each subscriber gets images with the new checksum and all fields; updates come as before.
    """
    _has(node, "lab-fields", FIRST)
    names = ("one", "two.b", "three")
    subjects = [node.set(name, BID=1, SIDE="") for name in names]
    for number, subject in enumerate(subjects):
        for asking in (node.main, node.other)[: 1 + number % 2]:
            asking.subscribed(subject)
    before = _number(told(_shown(node.main, subjects[0])["a snapshot"]).dict_csum)
    for dictionary in (SECOND, THIRD):
        since = node.broker.place
        _has(node, "lab-fields", dictionary)
        shown = told(_shown(node.main, node.set("beside", BID=1))["a snapshot"])
        for subject in subjects:
            image = refreshed(node, subject, since)
            assert image, "no image comes when the dictionary has changed"
            assert _number(told(image).dict_csum) not in (None, before), "the image has no new checksum"
            assert told(image).dictionary == "lab-fields", f"the image names the dictionary {told(image).dictionary}"
            assert fields(image) == {"BID": 1, "SIDE": ""}, f"the image has {fields(image)}"
            assert _number(told(image).dict_csum) == _number(shown.dict_csum), "the image has another checksum"
        before = _number(shown.dict_csum)
    for name in names:
        assert change(node, name, BID=2), "no update comes after the dictionary has changed"


@rule("RAI-152", "RAI-153", "RAI-154", roles=PUBLISHER, needs=("RAI-150",))
def test_fetching_dictionaries(node: NodeUnderTest) -> None:
    """Ask for a dictionary in two sessions, with its checksum and without, with other returns; again when it changed.

    Each gets the newest, with its name and the checksum that images have.
    """
    subject = node.set("one", BID=1)
    for name, dictionary in (("lab-fields", FIRST), ("lab-fields", SECOND), ("json", THIRD)):
        _has(node, name, dictionary)
        shown = told(_shown(node.main, subject)["an image"])
        for asking in (node.main, node.other):
            for returned in (None, "some.where", "x"):
                answer = _fetch(asking, name, returned, dict_csum=shown.dict_csum)
                with judging("RAI-152"):
                    assert answer, "who asks for a dictionary gets none"
                    assert _content(answer), "who asks for a dictionary gets no data"
                newest = _fetch(asking, name, returned)
                with judging("RAI-154"):
                    assert newest, "who asks for a dictionary without a checksum gets none"
                    assert _content(newest) == dictionary, "who asks without a checksum gets not the newest"
                for found in (answer, newest):
                    with judging("RAI-153"):
                        assert found.dictionary == name, f"the answer is the dictionary {found.dictionary}"
                        assert _number(found.dict_csum) == _number(shown.dict_csum), "it has another checksum"
                        assert _content(found) == dictionary, "it has other data"


@rule("RAI-221", roles=PUBLISHER)
def test_dictionaries_that_nobody_has(node: NodeUnderTest) -> None:
    """Ask for dictionaries that the publisher does not have, before it has any and after, and without a return.

    What is asked next is answered.
    """
    asking, beside, subject = node.main, node.other, node.set("one", BID=1)
    for has_one in (False, True):
        if has_one:
            _has(node, "lab-fields", FIRST)
        for name in ("none", "", "x" * 300, "lab-field", "../lab-fields"):
            for returned in (None, asking.new_return()):
                request = DictRequest(dictionary=name, return_=returned)
                asking.say(inbox(node.broker.node_session, DICT), request)
            settle(node, beside)
            assert asking.snapshot(subject), "after a request for a dictionary that there is not nothing is answered"
    assert _fetch(asking, "lab-fields"), "after requests for others a dictionary is not sent"
