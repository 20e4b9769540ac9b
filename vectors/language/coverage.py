"""Which branches of a grammar in ABNF the texts of a layout take, and how they are refused; and what is disputed.

A branch is a step of a rule: an option that is there or not, an alternative, another time, the end. Beside them there
is each way in which a text can be refused.
"""

from functools import cache, lru_cache

from vectors.binary.coverage import Branch, BranchTrace, ReadPart
from vectors.binary.paths import LayoutPlace
from vectors.language.samples import samples
from wire.catalogue import grammar
from wire.catalogue import layout as find
from wire.derivation import NoDerivation, derive
from wire.errors import Reason
from wire.kinds import Language as Node
from wire.kinds import Limited
from wire.kinds.branches import TOO_LONG, TRAILING
from wire.kinds.language import InLanguage, TextFrame
from wire.networks import network
from wire.primitives import LimitedTo

REFUSALS = {
    Reason.TRUNCATED: "ends too early",
    Reason.TRAILING: TRAILING,
    Reason.BAD_SYNTAX: "another character",
    Reason.BAD_TEXT: "not UTF-8",
}
CUT = "ends within a character"


@cache
def branches(layout: str) -> tuple[Branch, ...]:
    """Return the branches of a layout, in the order of its grammar."""
    tree = find(layout)
    assert isinstance(tree.frame, Node)
    steps = [_named(step) for step in network(tree.frame.grammar).branch.values()]
    limit = [TOO_LONG] if isinstance(tree.root, Limited) else []
    return (*dict.fromkeys(steps), *(Branch("", name) for name in (*REFUSALS.values(), CUT, *limit)))


@lru_cache(maxsize=1)  # who makes a specimen looks at what comes of it, and who builds with it looks again
def trace(layout: str, data: bytes) -> BranchTrace:
    """Read a whole frame along a layout; a refusal is part of what is returned."""
    tree, found = find(layout), BranchTrace(layout, set(), [], {}, {})
    if isinstance(tree.root, Limited) and len(data) > tree.root.size:
        return _refused(found, Reason.TOO_LONG, tree.root.size, TOO_LONG)
    construct = grammar(layout)
    language = construct.content if isinstance(construct, LimitedTo) else construct
    assert isinstance(language, InLanguage)
    frame = TextFrame(data)
    found.flags = _disputed(layout, frame)
    try:
        derivation = derive(language.grammar, frame.text)
    except NoDerivation as refusal:
        offset, whole = refusal.offset, refusal.whole
    else:
        if not frame.spoiled:
            found.branches |= {_named(step) for step in derivation.branches}
            found.value = language.value_of(frame.text, derivation)
            place = LayoutPlace(tree.frame, "", layout)
            found.events.append(ReadPart(place, "", 0, len(data), found.value, {"size": len(data)}))
            return found
        offset, whole = len(frame.text), False
    where, reason = frame.fault(offset, whole)
    cut = reason is Reason.TRUNCATED and frame.spoiled
    return _refused(found, reason, where, CUT if cut else REFUSALS[reason])


def _refused(found: BranchTrace, reason: Reason, offset: int, aspect: str) -> BranchTrace:
    found.reason, found.offset, found.refused = reason, offset, {"aspect": aspect}
    found.branches.add(Branch("", aspect))
    return found


def _disputed(layout: str, frame: TextFrame) -> frozenset[str]:
    """Return what is disputed about a text that some reading takes."""
    about = samples(layout)
    if frame.spoiled:
        return frozenset()
    try:
        derivation = derive(about.widest, frame.text)
    except NoDerivation:
        return frozenset()
    return about.disputed & {node.rule for node in derivation.nodes}


def _named(step: str) -> Branch:
    rule, _, name = step.partition(": ")
    return Branch(rule, name)
