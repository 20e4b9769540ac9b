"""What becomes a golden vector: a frame that a layout makes worth keeping."""

from typing import NamedTuple


class Specimen(NamedTuple):
    """A frame that looks at one place of a layout: at its ``path``, in an ``aspect``, in words: ``comment``.

    ``names`` are the messages that it lies in, outermost first.
    """

    names: tuple[str, ...]
    family: str
    path: str
    aspect: str
    comment: str
    data: bytes

    @property
    def group(self) -> str:
        """The name of the group that the frame belongs to."""
        return "-".join((*(self.names or ("whole",)), self.family)).lower().replace("_", "-")
