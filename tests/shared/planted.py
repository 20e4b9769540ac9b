"""Engines with a planted bug: the generated Python with one piece of its text, within one function, replaced."""

from functools import cache
from pathlib import Path
from types import ModuleType

from wire.runtime import Codec


class Planted:
    """An engine whose generated code has ``wrong`` in a function where it had ``right``."""

    def __init__(self, generated: ModuleType, function: str, right: str, wrong: str, *, name: str = "planted") -> None:
        self.name = name
        self.change = str(generated.__file__), function, right, wrong

    def codec(self, layout: str) -> Codec:
        return codecs(*self.change)[layout.partition("/")[2]]


@cache
def codecs(file: str, function: str, right: str, wrong: str) -> dict[str, Codec]:
    """Return the codecs of the changed code: the same for the same change, as compiling it takes long."""
    text = Path(file).read_text()
    start = text.index(f"def {function}(")
    end = text.find("\n\n\n", start)
    assert right in text[start:end], "the generated code no longer has what is to be replaced"
    module = ModuleType("planted")
    exec(text[:start] + text[start:end].replace(right, wrong) + text[end:], vars(module))
    found: dict[str, Codec] = module.CODECS
    return found
