"""Whether engines say the same about a frame or a value; and if not, in what they differ.

Compared are, with overlong integers accepted and refused: who accepts, the values down to types and the order of
names, reason and offset of refusals; what each engine writes for its own value and for every other one's; whether
what is written is read back as the same value. Of a value that is only encoded: the bytes, or that nobody writes it.
A text has no overlong integers, so that it is read in one way only.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import msgspec

from wire import reference
from wire.catalogue import layout as find
from wire.errors import DecodeError, EncodeError
from wire.json.strict import member_path
from wire.primitives import NamedBits, Span
from wire.runtime import Codec

SCALARS = frozenset((int, str, bytes, bool, float, type(None)))
SHOWN = 120
"""Characters of a value or a text that are shown: a line of a terminal; the dump of the frame has the rest."""

MOST_PATHS = 5
"""Fields of a value that are named: where more differ, they mostly do for one reason."""

INDEX = re.compile(r"\[\d+\]")
STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^.\[\]]+')


class AnyEngine(Protocol):
    """What can be compared: a name, and a codec for every layout (``wire.engines.Engine``)."""

    @property
    def name(self) -> str: ...

    def codec(self, layout: str) -> Codec: ...


class Difference(msgspec.Struct, frozen=True):
    """In what engines differ.

    ``kind`` is one of ``KINDS``, ``refuse`` whether overlong integers are refused, ``trait`` what makes two
    differences the same to the minimiser, ``place`` the field without indices, ``says`` what the engines say: groups
    of names with lines of text.
    """

    kind: str
    refuse: bool
    trait: tuple[str, ...]
    place: str
    says: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def signature(self) -> tuple[Any, ...]:
        """What makes two differences one finding."""
        return self.kind, self.refuse, self.trait, self.place


KINDS = {
    "breaks": "an engine raises what it must not raise",
    "accept": "some accept the frame, some refuse it",
    "reason": "the reasons of the refusal differ",
    "offset": "the offsets of the refusal differ",
    "value": "the values differ",
    "equality": "the values have the same parts, but are not equal",
    "encode": "some write the value, some refuse to",
    "mute": "the frame is accepted, but nobody writes its value",
    "bytes": "the bytes that are written differ",
    "round-trip": "what is written is not read back as the same value",
    "unsteady": "an engine does not say the same twice",
    "crash": "an engine ends the process",
    "hang": "an engine does not come to an end",
}


def same(a: Any, b: Any) -> bool:
    """Tell whether two values are the same: parts, their exact types, and the order of names.

    A mapping is a mapping, be it a dict or a record; but 1 is not True, bytes are not text, a tuple is no list.
    """
    # Engines share flags and constants: most parts of two values are the same object.
    if a is b:
        return True
    kind: Any = type(a)
    other: Any = type(b)
    # By exact type, as 1 == True == 1.0 in Python, while on the wire they are different things.
    if kind in SCALARS or kind is list:
        if kind is not other:
            return False
        return len(a) == len(b) and all(map(same, a, b)) if kind is list else bool(a == b)
    # The order of names too: it is that of the fields on the wire, and of what is printed.
    if _is_mapping(kind) and _is_mapping(other):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return False


@cache
def _is_mapping(kind: Any) -> bool:
    """Tell whether values of a type are mappings; to ask each value takes long."""
    return issubclass(kind, Mapping)


def differing(a: Any, b: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Give the parts in which two values differ: their paths, and both sides."""
    if same(a, b):
        return
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from differing(one, other, f"{path}[{index}]")
    elif isinstance(a, Mapping) and isinstance(b, Mapping) and list(a) == list(b):
        for name in a:
            yield from differing(a[name], b[name], member_path(path, str(name)))
    else:
        yield path or "(frame)", a, b


class _Accepts(msgspec.Struct, frozen=True):
    value: Any


class _Refuses(msgspec.Struct, frozen=True):
    reason: str
    offset: int
    error: DecodeError

    @property
    def path(self) -> str:
        """The words of a refusal: an optimized engine asks the reference engine for them, which takes long."""
        return self.error.path


class _Writes(msgspec.Struct, frozen=True):
    data: bytes


class _Mute(msgspec.Struct, frozen=True):
    detail: str


class _Breaks(msgspec.Struct, frozen=True):
    name: str
    detail: str


def _decoded(decode: Callable[..., Any], data: bytes, refuse: bool) -> _Accepts | _Refuses | _Breaks:
    try:
        return _Accepts(decode(data, refuse))
    except DecodeError as error:
        return _Refuses(error.reason.value, error.offset, error)
    # Whatever an engine raises that is no refusal is a finding: what that may be cannot be listed.
    except Exception as error:
        return _Breaks(type(error).__name__, str(error))


def _encoded(encode: Callable[[Any], bytes], value: Any) -> _Writes | _Mute | _Breaks:
    try:
        data = encode(value)
    except EncodeError as error:
        return _Mute(str(error))
    except Exception as error:
        return _Breaks(type(error).__name__, str(error))
    return _Writes(data) if type(data) is bytes else _Breaks("nothing", f"gave {type(data).__name__}, not bytes")


class Panel:
    """The engines that are compared on one layout, the one that the others are held to first."""

    def __init__(self, layout: str, engines: Sequence[AnyEngine]) -> None:
        self.layout = layout
        tree = find(layout)
        self.text = tree.is_json or tree.is_text
        # Lenient first: what is accepted there may be refused for its spelling alone in the strict mode.
        self.modes = (False,) if self.text else (False, True)
        self.engines = tuple(engines)
        self.names = tuple(engine.name for engine in engines)
        codecs = [engine.codec(layout) for engine in engines]
        self.decoders = [codec.decode for codec in codecs]
        self.encoders = [codec.encode for codec in codecs]

    def agrees(self, data: bytes, *, thorough: bool = True) -> list[Any] | None:
        """Tell fast whether all say the same of a frame: the values of those who accept, ``None`` for a difference.

        If not ``thorough``, the first engine, which is slow, is spared what can hardly come out otherwise: to refuse
        overlong integers where there are none, and to encode values of others that are the same as its own.
        """
        values = self._read(data, False, self.decoders)
        if not values:
            return values if values is None or self.text else self._read(data, True, self.decoders)
        written = self._write(values, thorough)
        if written is None:
            return None
        # The frame is canonical, and so accepted in the strict mode, with the same value: that is all there is to
        # compare.
        if written == data:
            if self.text:
                return values
            # The slow engine is left out unless thorough: it refuses overlong integers by the same code that reads
            # them.
            again = self._read(data, True, self.decoders if thorough else self.decoders[1:])
            return values if again and same(values[0], again[0]) else None
        # The frame is not canonical: the strict mode may refuse it, and all have to do so alike; what was written is
        # canonical, so it has to be read in the strictest mode and give the same value.
        strict = values if self.text else self._read(data, True, self.decoders)
        back = self._read(written, self.modes[-1], self.decoders)
        return values if strict is not None and back and self._kept(values[0], back[0]) else None

    def _kept(self, value: Any, back: Any) -> bool:
        """Tell whether a value came back as it was; of JSON the names come back in the order of the layout."""
        return same(_by_name(value), _by_name(back)) if self.text else same(value, back)

    def _read(self, data: bytes, refuse: bool, decoders: Sequence[Callable[..., Any]]) -> list[Any] | None:
        """Return the values of a frame that all accept, none if all refuse it alike, ``None`` if they differ."""
        values, refusals = [], []
        for decode in decoders:
            try:
                values.append(decode(data, refuse))
            except DecodeError as error:
                refusals.append((error.reason, error.offset))
            except Exception:
                return None
        if refusals:
            return None if values or any(refusal != refusals[0] for refusal in refusals) else values
        first = values[0]
        for value in values:
            # ``==`` in both directions beside the parts: engines have record types of their own, whose ``==`` is code
            # too, and callers compare with it.
            if value is not first and not (same(first, value) and first == value and value == first):
                return None
        return values

    def _write(self, values: Sequence[Any], thorough: bool) -> bytes | None:
        """Return what all write alike for each of some values; ``None`` if they differ, or do not write it."""
        written: bytes | None = None
        try:
            for encode in self.encoders:
                # The first engine writes its own value only, unless thorough; the others write everybody's.
                for value in values if written is not None or thorough else values[:1]:
                    out = encode(value)
                    if out != written and (written is not None or type(out) is not bytes):
                        return None
                    written = out
        except Exception:
            return None
        return written

    def agrees_on(self, value: Any) -> bool:
        """Tell fast whether all write a value alike, or all refuse to."""
        written, refused = [], 0
        for encode in self.encoders:
            try:
                written.append(encode(value))
            except EncodeError:
                refused += 1
            except Exception:
                return False
        return not written if refused else all(out == written[0] and type(out) is bytes for out in written)

    def difference(self, data: bytes) -> Difference | None:
        """Say in what the engines differ on a frame; ``None`` if they agree."""
        accepted: dict[str, Any] = {}
        for refuse in self.modes:
            outcomes = dict(zip(self.names, (_decoded(each, data, refuse) for each in self.decoders), strict=True))
            found = self._of_decoding(outcomes, refuse)
            if found is not None:
                return found
            if not refuse:
                accepted = {name: each.value for name, each in outcomes.items() if isinstance(each, _Accepts)}
        # Values are the same by now, or there would have been a difference: what is left is how they are written.
        return self._of_writing(accepted, data) if accepted else None

    def difference_on(self, value: Any) -> Difference | None:
        """Say in what the engines differ when they encode a value; ``None`` if they agree."""
        return self._of_encoding(dict(zip(self.names, (_encoded(each, value) for each in self.encoders), strict=True)))

    def _of_decoding(self, outcomes: dict[str, _Accepts | _Refuses | _Breaks], refuse: bool) -> Difference | None:
        refused = {name: each for name, each in outcomes.items() if isinstance(each, _Refuses)}
        accepted = {name: each.value for name, each in outcomes.items() if isinstance(each, _Accepts)}
        if len(accepted) == len(outcomes):
            return self._of_values(accepted, refuse)
        # The gravest first: who raises what it must not raise has no outcome that could be compared with others.
        if len(accepted) + len(refused) < len(outcomes):
            kind, trait = "breaks", _traits(outcomes)
        elif accepted:
            kind, trait = "accept", _traits(outcomes)
        # Reasons before offsets: who refuses for another reason stops at another place too, and that is one fault, not
        # two.
        elif len({each.reason for each in refused.values()}) > 1:
            kind, trait = "reason", _traits(outcomes)
        elif len({each.offset for each in refused.values()}) > 1:
            groups = _groups({name: each.offset for name, each in refused.items()}, int.__eq__)
            kind, trait = "offset", (next(iter(refused.values())).reason, *groups)
        else:
            return None
        # Words are looked for only now: whoever minimises asks about thousands of frames on which all agree. The place
        # is where the first who refuses does: those who accept know none.
        place = next((plain_path(each.path) for each in refused.values()), "(frame)")
        return _difference(kind, refuse, trait, place, self._statements(outcomes))

    def _of_values(self, values: dict[str, Any], refuse: bool, kind: str = "value") -> Difference | None:
        name, first = next(iter(values.items()))
        parts = {other: list(differing(first, value)) for other, value in values.items()}
        wrong = next((other for other in parts if parts[other]), None)
        if wrong is not None:
            paths = [path for path, _, _ in parts[wrong]]
            statements = {
                each: tuple(_at(value, path) for path in paths[:MOST_PATHS]) for each, value in values.items()
            }
            return _difference(kind, refuse, _groups(values, same), plain_path(paths[0]), statements)
        unequal = tuple(other for other, value in values.items() if not (first == value and value == first))
        if unequal:
            statements = {name: ("is what the others are compared with",)}
            statements |= dict.fromkeys(unequal, (f"its value is not == to that of {name}, though no part differs",))
            return _difference("equality", refuse, unequal, "(frame)", statements)
        return None

    def _of_writing(self, values: dict[str, Any], data: bytes) -> Difference | None:
        # Each engine writes every engine's value: records of one must be as good as mappings of another.
        whose = ((name, value) for name, value in values.items())
        outcomes = {
            f"{writer} (value of {name})": _encoded(encode, value)
            for name, value in whose
            for writer, encode in zip(self.names, self.encoders, strict=True)
        }
        found = self._of_encoding(outcomes)
        if found is not None:
            return found
        first = next(iter(outcomes.values()))
        if not isinstance(first, _Writes):
            return _difference("mute", False, ("mute",), "(frame)", self._statements(outcomes))
        if first.data == data:
            return None
        back = dict(
            zip(self.names, (_decoded(each, first.data, self.modes[-1]) for each in self.decoders), strict=True)
        )
        read = {f"{each} (read back)": got.value for each, got in back.items() if isinstance(got, _Accepts)}
        if len(read) < len(back):
            statements = {
                f"{each} ({self._statement(first)[0].replace('writes', 'reads', 1)})": self._statement(got)
                for each, got in back.items()
            }
            return _difference("round-trip", False, _traits(back), "(frame)", statements)
        name, value = next(iter(values.items()))
        name = f"{name} (reads the frame)"
        if not self.text:
            return self._of_values({name: value, **read}, False, "round-trip")
        # A text keeps the order of names that it had; written canonically, they come back in the layout's.
        by_name = {each: _by_name(part) for each, part in {name: value, **read}.items()}
        return self._of_values(read, False, "round-trip") or self._of_values(by_name, False, "round-trip")

    def _of_encoding(self, outcomes: dict[str, _Writes | _Mute | _Breaks]) -> Difference | None:
        kinds = {type(each) for each in outcomes.values()}
        if _Breaks in kinds:
            return _difference("breaks", False, _traits(outcomes), "(value)", self._statements(outcomes))
        if len(kinds) > 1:
            return _difference("encode", False, _traits(outcomes), "(value)", self._statements(outcomes))
        written = {name: each.data for name, each in outcomes.items() if isinstance(each, _Writes)}
        if len(set(written.values())) > 1:
            groups = _groups(written, bytes.__eq__)
            return _difference("bytes", False, groups, self._written_at(written), self._statements(outcomes))
        return None

    def _statements(self, outcomes: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        return {name: self._statement(each) for name, each in outcomes.items()}

    def _statement(self, outcome: Any) -> tuple[str, ...]:
        match outcome:
            case _Accepts(value=value):
                return (f"accepts: {_shown(value)}",)
            case _Refuses(reason=reason, offset=offset, path=path):
                return (f"refuses: {reason} at byte {offset} ({path})",)
            case _Writes(data=data):
                if self.text:
                    return (f"writes {_cut(data.decode(errors='backslashreplace'))}",)
                return (f"writes {data.hex() or 'no bytes'}" if len(data) <= SHOWN else f"writes {_shown(data)}",)
            case _Mute(detail=detail):
                return (f"refuses to write: {_cut(detail)}",)
            case _:
                return (f"raises {outcome.name}: {_cut(outcome.detail)}",)

    def _written_at(self, written: dict[str, bytes]) -> str:
        """Return the field in which the first two spellings that differ differ."""
        first, *others = dict.fromkeys(written.values())
        at = next((i for i, (a, b) in enumerate(zip(first, others[0], strict=False)) if a != b), len(others[0]))
        spans: list[Span] = []
        try:
            # The reference alone knows where its fields begin and end; optimized engines do not keep that.
            reference.decode(self.layout, first, spans=spans)
        except DecodeError:
            return "(frame)"
        return next((plain_path(span.path) for span in spans if span.start <= at < span.end), "(frame)")


def _by_name(value: Any) -> Any:
    """Copy a value with the names of its tables in order."""
    if isinstance(value, Mapping):
        return {name: _by_name(value[name]) for name in sorted(value)}
    return [_by_name(part) for part in value] if isinstance(value, list) else value


def unsteady(names: Sequence[str]) -> Difference:
    """Return the difference of an engine with itself: a frame or a value that differed, and then did not."""
    return Difference(
        "unsteady", False, ("unsteady",), "(frame)", ((", ".join(names), ("differ at first, and not again",)),)
    )


def plain_path(path: str) -> str:
    """Return a path without indices."""
    return INDEX.sub("[]", path)


def _difference(kind: str, refuse: bool, trait: tuple[str, ...], place: str, statements: dict[str, Any]) -> Difference:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, text in statements.items():
        groups.setdefault(text, []).append(name)
    return Difference(kind, refuse, trait, place, tuple((", ".join(who), text) for text, who in groups.items()))


def _groups(statements: Mapping[str, Any], alike: Callable[[Any, Any], bool]) -> tuple[str, ...]:
    """Say who agrees with whom: for each engine the first that says the same."""
    return tuple(
        f"{name} as {next(one for one in statements if alike(statements[one], what))}"
        for name, what in statements.items()
    )


def _traits(outcomes: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{name} {_trait(each)}" for name, each in outcomes.items())


def _trait(outcome: Any) -> str:
    match outcome:
        case _Accepts():
            return "accepts"
        case _Refuses(reason=reason):
            return f"refuses: {reason}"
        case _Writes():
            return "writes"
        case _Mute():
            return "refuses to write"
        case _:
            return f"breaks: {outcome.name}"


def _at(value: Any, path: str) -> str:
    """Return a line about the part of a value at a path."""
    part = value
    for step in STEP.findall(path) if path != "(frame)" else ():
        try:
            part = part[int(step)] if isinstance(part, list) else part[json.loads(step) if step[0] == '"' else step]
        except (LookupError, TypeError, ValueError):
            return f"{path}: there is nothing"
    return f"{path} = {_shown(part)}"


def _shown(value: Any) -> str:
    plain = reference.plain(value)
    return _cut(plain.hex() if isinstance(plain, bytes) else repr(dict(plain) if type(plain) is NamedBits else plain))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"
