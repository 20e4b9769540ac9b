"""The frames of golden vectors for layouts that are a language: those that it brings itself, by what they are about.

Each looks at the language as a whole; its path is the language's name with what comes of it behind a dot: ``accepted``,
``refused``, or ``disputed``, where readings differ.
"""

from collections.abc import Iterator

from vectors.language.coverage import trace
from vectors.language.samples import samples
from vectors.notes import ProtocolNotes, judge
from vectors.specimen import Specimen
from wire.catalogue import layout as find
from wire.errors import Reason
from wire.kinds import Language

FAMILIES = ("values", "refused", "cut")
"""What the groups of a subject are called, behind its name, in this order."""


def specimens(layout: str, about: ProtocolNotes) -> Iterator[Specimen]:
    """Give the frames of a layout."""
    language = find(layout).frame
    assert isinstance(language, Language)
    for each in samples(layout).specimens():
        found = trace(layout, each.frame)
        outcome = "disputed" if judge(about, found) else "accepted" if found.reason is None else "refused"
        cut = found.reason is Reason.TRUNCATED
        family = "values" if found.reason is None else "cut" if cut else "refused"
        names = (each.about.replace(" ", "-"),)
        yield Specimen(names, family, f"{language.language}.{outcome}", each.about, each.name, each.frame)
