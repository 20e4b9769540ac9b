"""Who there is: the database of users that each node of a play has."""

from collections.abc import Mapping
from functools import cache

from wire.rai.digests import PROFILES, Profile

SERVICE = "lab"
"""The service that all users of a play belong to; it is not published."""

PUBLISHER, SUBSCRIBER, ROUTER = "paul", "sam", "ruth"
"""The users of the nodes under test, by role."""

TESTERS = ("tess", "toby", "tara", "dora")
"""The users that the tester plays."""

STRANGER = "mallory"
"""Somebody who is in no database."""

SERVED = "LAB."
"""How the subjects begin that a publisher of the service publishes."""


PROFILE: Profile = PROFILES["rai-1"]
"""How messages are signed, if nothing else is said."""


def password(user: str) -> str:
    """Return the password of a user."""
    return f"{user}-secret"


@cache
def secret_of(user: str) -> bytes:
    """Return the HA0 of a user, whether there is one of that name or not."""
    return PROFILE.ha0(user, SERVICE, password(user))


DATABASE: Mapping[str, bytes] = {user: secret_of(user) for user in (PUBLISHER, SUBSCRIBER, ROUTER, *TESTERS)}
"""The users of the service, with their HA0."""
