"""Values that a router-cache keeps for its subscribers."""

from typing import Any

from harness.rai.peers.cache import VERIFY, CachedValue
from wire.rai.values import Reply, Told


class Kept(CachedValue):
    """A whole value of a source's, with the dictionary that its image named."""

    def __init__(self, record: CachedValue, image: Told) -> None:
        super().__init__(record.fields, record.status)
        self.dictionary = image.dictionary
        self.dict_csum = image.dict_csum
        self.is_zeroed = isinstance(image, Reply) and VERIFY in (image.kind, image.state)
        """Whether its fields are only there to be filled by updates."""

    def is_news_after(self, known: CachedValue | None) -> bool:
        """Tell whether an image of this one says what is not known; of parts only how good they are counts."""
        if isinstance(known, Kept):
            return self._image() != known._image()
        return known is not None and known.status != self.status

    def _image(self) -> tuple[Any, ...]:
        return self.fields, self.status, self.dictionary, self.dict_csum, self.is_zeroed
