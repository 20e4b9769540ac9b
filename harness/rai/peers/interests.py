"""Interests: who has subscribed to what, at a publisher."""

from collections.abc import Callable, Iterator

from wire.rai.wildcards import Matcher


class Terms:
    """A session's subscription to a subject; ``expires`` is in seconds after its last sign of life."""

    def __init__(self, expires: int | None = None) -> None:
        self.expires = expires


class WildTerms(Terms):
    """A session's subscription to all subjects that a pattern matches."""

    def __init__(self, pattern: str, matcher: Matcher, expires: int | None = None) -> None:
        super().__init__(expires)
        self.pattern = pattern
        self.matcher = matcher


Wildcard = tuple[str, str]
"""A wildcard as RV spells it, and its pattern; a session that stops names both."""


class Interests:
    """All subscriptions, by subject and by session."""

    def __init__(self) -> None:
        self.of_session: dict[str, dict[str, Terms]] = {}
        self.wild: dict[str, dict[Wildcard, WildTerms]] = {}
        self._sessions: dict[str, set[str]] = {}

    def add(self, session: str, subject: str, subscription: Terms) -> None:
        """Take a subscription; another of the same session to the same subject is replaced."""
        self.of_session.setdefault(session, {})[subject] = subscription
        self._sessions.setdefault(subject, set()).add(session)

    def add_wild(self, session: str, wildcard: Wildcard, subscription: WildTerms) -> None:
        """Take a subscription to a wildcard."""
        self.wild.setdefault(session, {})[wildcard] = subscription

    def remove(self, session: str, subject: str) -> bool:
        """End a subscription; tell whether there was one."""
        its = self.of_session.get(session, {})
        if its.pop(subject, None) is None:
            return False
        if not its:
            del self.of_session[session]
        sessions = self._sessions[subject]
        sessions.discard(session)
        if not sessions:
            del self._sessions[subject]
        return True

    def remove_wild(self, session: str, wildcard: Wildcard) -> WildTerms | None:
        """End a subscription to a wildcard, and return it if there was one."""
        its = self.wild.get(session, {})
        found = its.pop(wildcard, None)
        if not its:
            self.wild.pop(session, None)
        return found

    def remove_subject(self, subject: str) -> None:
        """End all subscriptions to a subject; wildcards stay."""
        for session in list(self._sessions.get(subject, ())):
            self.remove(session, subject)

    def is_named(self, subject: str) -> bool:
        """Tell whether anybody has subscribed to a subject by name."""
        return subject in self._sessions

    def is_wanted(self, subject: str) -> bool:
        """Tell whether anybody has subscribed to a subject, by name or by a wildcard."""
        return subject in self._sessions or any(
            each.matcher.matches(subject) for its in self.wild.values() for each in its.values()
        )

    def wanted(self, subjects: Callable[[], Iterator[str]]) -> Iterator[str]:
        """Return the subjects that somebody has subscribed to: by name, and of those that there are by wildcard."""
        yield from list(self._sessions)
        if self.wild:
            yield from [each for each in subjects() if each not in self._sessions and self.is_wanted(each)]

    @property
    def subjects(self) -> list[str]:
        """The subjects that are subscribed by their names."""
        return list(self._sessions)

    def sessions_of(self, subject: str) -> set[str]:
        """Return the sessions that have subscribed a subject by its name."""
        return set(self._sessions.get(subject, ()))

    def has_any(self, session: str) -> bool:
        """Tell whether a session has subscribed to anything."""
        return session in self.of_session or session in self.wild

    def clear(self) -> None:
        """Forget all of them."""
        self.of_session.clear()
        self.wild.clear()
        self._sessions.clear()
