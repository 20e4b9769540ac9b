"""What a node knows of another session."""

INTERVAL = 10
"""Seconds between heartbeats."""

FOREVER = 1_000_000_000
"""Seconds that no session lasts; whoever says more is taken to say this: JSON has numbers that no clock can add."""


class KnownSession:
    """Another session, as a node knows it."""

    def __init__(self, session: str, key: bytes, now: float) -> None:
        self.session = session
        self.key = key
        """Its HA1."""
        self.is_trusted = False
        self.has_ended = False
        """Whether it has said BYE."""
        self.interval = INTERVAL
        """Seconds between its heartbeats, as it says."""
        self.heard = now
        """When its last heartbeat came, or something that stands for one."""
        self.time = 0
        """The newest time that it has said, in microseconds of its own clock."""
        self.seqnos: dict[str, int] = {}
        """The last seqno under each subject."""
        self.asked: tuple[int, str] | None = None
        """Time and cnonce of the auth message that it has to answer."""
        self.greeting: tuple[int, str] = (0, "")
        """Time and cnonce of its last HELLO or HB."""
