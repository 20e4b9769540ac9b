"""Attribution: the rule that a difference breaks."""

from collections.abc import Sequence
from typing import Any

from conformance.pathfinder.histories.actions import HistoryRequest, PublishRequest
from conformance.pathfinder.histories.model import ServiceState
from conformance.wording import worded
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.tester.node_under_test import MARK
from wire.pathfinder.filters import FilterError, Greater, Less, Substring, parse, walk

OF_FAILURE = {
    "publish": "PF-158",
    "unpublish": "PF-166",
    "subscribe": "PF-067",
    "unsubscribe": "PF-137",
    "services": "PF-067",
    "subscriptions": "PF-226",
    "clients": "PF-224",
    "ping": "PF-227",
    "hello": "PF-109",
}
"""What is broken when a request fails that must be carried out."""

OF_SUCCESS = {
    "unpublish": "PF-171",
    "subscribe": "PF-007",
    "unsubscribe": "PF-140",
    "old-generation": "PF-165",
    "same-generation-but-different": "PF-159",
    "permission-denied": "PF-216",
    "invalid-filter-syntax": "PF-211",
}
"""What is broken when a request is carried out that must fail: by its command, or by the reason that it should have."""

OF_REASON = {
    "publish": "PF-164",
    "unpublish": "PF-171",
    "subscribe": "PF-134",
    "unsubscribe": "PF-140",
    "services": "PF-156",
}
"""What is broken when a request that must fail does so for a reason that is not the case."""


def rule_of_failure(request: HistoryRequest, known: ServiceRecord | None) -> str:
    """Return what is broken when a request fails; ``known`` is the service that it is about, if there is one."""
    if isinstance(request, PublishRequest):
        if known is None:
            return "PF-204" if request.generation else "PF-157"
        return "PF-047" if request.generation == known.generation else "PF-158"
    return OF_FAILURE[request.command]


def rule_of_success(request: HistoryRequest, reason: str) -> str:
    """Return what is broken when a request is carried out that had to fail for some reason."""
    return OF_SUCCESS.get(reason) or OF_SUCCESS[request.command]


def rule_of_filter(filter: str | None) -> str:
    """Return which rule says what a filter matches: that of the one sort of item that it has, or that of all."""
    try:
        items = list(walk(parse(filter, deployed=True))) if filter else []
    except FilterError:
        return "PF-076"
    if any(isinstance(item, Greater | Less) for item in items):
        return "PF-213"
    return "PF-212" if any(isinstance(item, Substring) for item in items) else "PF-076"


def rule_of_state(told: ServiceState, latest: ServiceState | None) -> tuple[str, str]:
    """Return which rule a state breaks that a service was never in, and what is wrong with it."""
    if latest is None:
        return "PF-129", "which was never there"
    wrong = [name for name, one, other in zip(latest._fields, told, latest, strict=True) if one != other]
    rules = {"owner": "PF-022", "is_orphan": "PF-131"}
    rule = rules.get(wrong[0], "PF-129") if len(wrong) == 1 else "PF-129"
    return rule, difference_of_states(told, latest, wrong[:2])


def difference_of_states(told: ServiceState, truth: ServiceState, names: Sequence[str]) -> str:
    """Return in which of some fields a state differs from the one that the service is in, in words."""
    return ", ".join(_difference(name, getattr(told, name), getattr(truth, name)) for name in names)


def _difference(name: str, told: Any, truth: Any) -> str:
    if name == "contents":
        missing, surplus = sorted(map(_shown_property, truth - told)), sorted(map(_shown_property, told - truth))
        return ", ".join([*(f"without {each}" for each in missing), *(f"with {each}" for each in surplus)])
    if name == "is_orphan":
        return "as an orphan, which it is not" if told else "as no orphan, which it is"
    return f"with {name} {worded(told)}, not {worded(truth)}"


def _shown_property(contents: tuple[str, bool, Any]) -> str:
    """Return a property and one of its values; but not which play's it is, as that is another one each time."""
    name, _, value = contents
    return f"the property {name}" if name == MARK else f"{name}={worded(value)}"
