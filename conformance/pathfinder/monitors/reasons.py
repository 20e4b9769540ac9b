"""Monitors of "Common Reason Codes" and of the reason codes of each command."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.pathfinder.monitors.hello import offered
from conformance.pathfinder.monitors.registry import monitor
from conformance.pathfinder.monitors.stories import Exchange, exchanges
from harness.pathfinder.conversation import Conversation, Event
from wire.pathfinder.frames import COMMANDS, VERSION

COMMON = ("no-hello", "insufficient-resources", "permission-denied")
HELLO = ("client-id-exists", "permission-denied", "unsupported-protocol-version", "insufficient-resources")
BAD_FILTER = "invalid-filter-syntax"


def refusals(conversation: Conversation, *commands: str) -> Iterator[tuple[Exchange, Event, str | None]]:
    """Return the fails of some commands, each with its reason if it has one; what is no text is another rule's."""
    for exchange in exchanges(conversation):
        ending = exchange.ending
        if exchange.command in commands and ending is not None and ending.type == "fail":
            reason = ending.fields.get("fail-reason")
            if reason is None or isinstance(reason, str):
                yield exchange, ending, reason


def among(conversation: Conversation, commands: tuple[str, ...], reasons: tuple[str, ...]) -> Iterator[Finding]:
    """Judge the reasons of some commands: those that are given are among some."""
    for _, fail, reason in refusals(conversation, *commands):
        if reason is None or reason in reasons:
            yield kept(fail.entry)
        else:
            yield broken(fail.entry, f"{fail.command} has no reason {reason!r}")


@monitor("PF-106")
def no_hello_is_said_before_hello(conversation: Conversation) -> Iterator[Finding]:
    """A command that no hello came before fails for that reason, if any; behind a completed hello none does."""
    for exchange, fail, reason in refusals(conversation, *(set(COMMANDS) - {"hello"})):
        greeted = exchange.greeted
        if greeted == "completed":
            if reason == "no-hello":
                yield broken(fail.entry, f"{fail.command} fails with no-hello behind a completed hello")
        elif greeted == "never" and reason in (None, "no-hello"):
            yield follows(fail.entry, "R34", "A")
        elif greeted == "never" and reason not in COMMON:  # the others can be true at any time
            yield broken(fail.entry, f"{fail.command} before hello fails with {reason!r}")


@monitor("PF-119")
def reasons_of_hello(conversation: Conversation) -> Iterator[Finding]:
    """A hello fails for one of four reasons, and for the version only where version 2 was not offered."""
    for exchange, fail, reason in refusals(conversation, "hello"):
        versions = offered(exchange.request)
        if reason is not None and reason not in HELLO:
            yield broken(fail.entry, f"hello has no reason {reason!r}")
        elif (
            reason == "unsupported-protocol-version"
            and exchange.greeted == "never"
            and versions is not None
            and versions.have(VERSION)
        ):
            yield broken(fail.entry, f"version {VERSION} was offered, and is called unsupported")
        else:
            yield kept(fail.entry)


@monitor("PF-134")
def reasons_of_subscribe(conversation: Conversation) -> Iterator[Finding]:
    """A subscribe fails for its identifier, its filter, or a common reason."""
    yield from among(conversation, ("subscribe",), ("subscription-id-exists", BAD_FILTER, *COMMON))
    for exchange, fail, reason in refusals(conversation, "subscribe"):
        if reason == BAD_FILTER and "filter" not in exchange.request.fields:
            yield broken(fail.entry, "a filter is refused that was not given")


@monitor("PF-140")
def reasons_of_unsubscribe(conversation: Conversation) -> Iterator[Finding]:
    """An unsubscribe fails for its identifier, or a common reason."""
    yield from among(conversation, ("unsubscribe",), ("non-existent-subscription-id", *COMMON))


@monitor("PF-147")
def reasons_of_commands_without_their_own(conversation: Conversation) -> Iterator[Finding]:
    """What has no reasons of its own fails for a common one."""
    yield from among(conversation, ("subscriptions", "clients", "ping"), COMMON)


@monitor("PF-156")
def reasons_of_services(conversation: Conversation) -> Iterator[Finding]:
    """A services request fails for a common reason, or for its filter as a subscribe does."""
    for exchange, fail, reason in refusals(conversation, "services"):
        if reason is None or reason in COMMON:
            yield kept(fail.entry)
        elif reason == BAD_FILTER and "filter" in exchange.request.fields:
            yield follows(fail.entry, "R07", "A")
        else:
            yield broken(fail.entry, f"services has no reason {reason!r}")


@monitor("PF-164")
def reasons_of_publish(conversation: Conversation) -> Iterator[Finding]:
    """A publish fails for its generation, or a common reason."""
    yield from among(conversation, ("publish",), ("old-generation", "same-generation-but-different", *COMMON))


@monitor("PF-171")
def reasons_of_unpublish(conversation: Conversation) -> Iterator[Finding]:
    """An unpublish fails for its identifier, or a common reason."""
    yield from among(conversation, ("unpublish",), ("non-existent-service-id", *COMMON))
