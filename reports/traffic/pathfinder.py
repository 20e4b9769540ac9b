"""What may differ from one session of Pathfinder to the next: identifiers, and the names and values of properties.

Messages that the document does not have are varied as well, so frames are read as any JSON.
"""

from typing import Any

import msgspec

from harness.pathfinder.tester.driver import count_ids_from
from reports.traffic.variation import SessionDraw, VariableFields
from wire.json.strict import MOST

SPACES = {
    "ta-id": "transaction",
    "service-id": "service",
    "client-id": "client",
    "subscription-id": "subscription",
}
"""The fields with identifiers, by what they identify."""

TIMES = ("time", "orphan-since", "server-time")
"""The fields with seconds since the epoch, the document's and those that liars add."""

FIRST = 1 << 20
"""The identifier with which each play begins."""
WALL = 1_767_225_600.25
"""Seconds since 1970 that a server's clock shows throughout a play."""
YEARS = 1 << 27
"""By how many seconds it is put forward from session to session, at most."""

SETTINGS = {"wall": lambda: WALL}
"""With what the peers are made, so that a play is the same each time."""


def begin() -> None:
    """Have the next play draw the identifiers that the one before drew."""
    count_ids_from(FIRST)


read = msgspec.json.Decoder().decode
write = msgspec.json.Encoder().encode


def places(value: Any, by_dialler: bool, found: VariableFields) -> None:
    """Name the identifiers of a message, its properties and its filter."""
    if not isinstance(value, dict):
        return
    for name, space in SPACES.items():
        if name in value:
            found.number(value, name, space, MOST)
    for name in TIMES:
        # Only those near the clock of the play: some cases put nonsense there on purpose.
        if isinstance(value.get(name), int | float) and value[name] >= int(WALL):
            _time(value, name, found)
    if "filter" in value:
        found.text(value, "filter")
    if isinstance(props := value.get("service-props"), dict):
        found.built(value, "service-props", _texts(props), lambda draw: _respelled(props, draw))


def _time(holder: Any, key: str, found: VariableFields) -> None:
    value = holder[key]
    # All times of a session are put forward by as much, so that ages and TTLs stay what they were.
    found.reserve("time", 0, YEARS)
    found.built(holder, key, (), lambda draw: value + draw.shift["time"])


def _texts(props: Any) -> list[str]:
    if isinstance(props, dict):
        return [*props, *(text for each in props.values() for text in _texts(each))]
    if isinstance(props, list):
        return [text for each in props for text in _texts(each)]
    return [props] if isinstance(props, str) else []


def _respelled(value: Any, draw: SessionDraw) -> Any:
    if isinstance(value, dict):
        return {draw.text(name): _respelled(each, draw) for name, each in value.items()}
    if isinstance(value, list):
        return [_respelled(each, draw) for each in value]
    return draw.text(value) if isinstance(value, str) else value
