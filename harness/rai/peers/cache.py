"""The cache: the last value of each subject, with what is known of how far it can be relied on."""

from collections.abc import Mapping

from wire.rai.values import Raw

Fields = dict[str, Raw]
"""The fields of a value, each as it is written."""

OK, STALE, FEED_DOWN, VERIFY = "ok", "stale", "feed_down", "verify"


class CachedValue:
    """The value of a subject; ``status`` stays what it is until a whole image of it comes."""

    def __init__(self, fields: Fields, status: str = OK) -> None:
        self.fields = fields
        self.status = status
        self.is_disturbed = False
        """Whether its own source is disturbed, whatever becomes of the feed."""
        self.changed: dict[str, float] = {}
        """When each field was last changed."""

    def update(self, fields: Mapping[str, Raw], now: float) -> None:
        """Change some fields."""
        self.fields.update(fields)
        self.changed.update(dict.fromkeys(fields, now))

    def replace(self, fields: Fields, now: float) -> None:
        """Take a whole image: what it does not name is gone, and it can be relied on."""
        self.fields = fields
        self.changed = dict.fromkeys(fields, now)
        self.status = OK
        self.is_disturbed = False

    def recent(self, since: float) -> Fields:
        """Return the fields that have changed since a time."""
        return {name: value for name, value in self.fields.items() if self.changed.get(name, -1.0) >= since}


class Dictionary:
    """What the fields of messages mean; ``checksum`` changes with it."""

    def __init__(self, name: str, data: Raw, checksum: int) -> None:
        self.name = name
        self.data = data
        self.checksum = checksum
