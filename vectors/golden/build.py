"""Golden vectors: made from a layout and from those written by hand, and checked again.

::

    vectors/PROTOCOL/curated/*.json   written by hand   ┐
    layout ── kinds ── specimens                        ┴─► build ─► vectors/PROTOCOL/*.json ─► verify
    vectors/PROTOCOL/notes.toml       flags, rules      ┘

What comes of a frame is said by the reference engine, and every other engine that runs here has to say the same, as has
the reader of coverage. The same sources give the same bytes on any machine and any Python.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vectors.binary.coverage import BranchCoverage
from vectors.golden.file_shape import Problem, located, schema_problems
from vectors.golden.loader import SCHEMA, Repetition, VectorEntry, VectorFile, VectorGroup, revive
from vectors.json_objects import object_without_duplicates
from vectors.kinds import covered, kind, trace
from vectors.notes import BadNotes, ProtocolNotes, WholeFrames, context_of, judge, matches, notes, rules_for
from vectors.specimen import Specimen
from wire.catalogue import grammars
from wire.engines import Engine, present
from wire.errors import DecodeError, EncodeError, WireError
from wire.files import write_file

COMBINED = ("plain", "pairs")
"""Aspects of frames that are about what stands in them together, whichever branches each of that is."""

LONG = 1024
"""Bytes, characters or items; what is longer is written as runs where it repeats itself."""


class VectorError(WireError):
    """Base of what goes wrong with vectors."""


class NotConfirmed(VectorError):
    """A frame on which the engines do not agree, or of which nothing is said; the message names it."""


class BadCurated(VectorError):
    """Curated vectors that cannot be used; the message names the file, the vector and what is wrong."""


class Expected(msgspec.Struct, frozen=True):
    """What comes of a frame; the same names as in ``Vector``."""

    result: str
    reason: str | None
    flags: tuple[str, ...]
    canonical: bytes | None
    value: Any
    context: str = ""


class Built(NamedTuple):
    """The vectors of one layout, as the text of their file, and the branches that they reach."""

    layout: str
    text: str
    vectors: int
    curated: int
    coverage: BranchCoverage


def identify(layout: str, data: bytes) -> str:
    """Return the id of a vector: the first 64 bits of SHA-256 over the layout's name, a NUL and the bytes."""
    return hashlib.sha256(layout.encode() + b"\0" + data).hexdigest()[:16]


def expect(layout: str, data: bytes) -> tuple[Expected, set[Any]]:
    """Say what comes of a frame, and which branches it reaches.

    ``NotConfirmed`` when engines disagree, ``BadNotes`` when the protocol's notes lack a flag that the frame needs.
    """
    first, *others = engines(layout)
    answer = ask(first, layout, data)
    # All engines, not one: a vector that only the engine it was made with agrees to would make its mistakes the
    # standard.
    for other in others:
        again = ask(other, layout, data)
        if again != answer:
            raise NotConfirmed(differing(layout, data, first.name, answer, other.name, again))
    found = trace(layout, data)
    # The reader of coverage is the third opinion; its words for a refusal are its own, so reason and offset are
    # compared.
    own = (found.value, None) if found.reason is None else (None, (found.reason.value, found.offset))
    if own != answer[:2]:
        raise NotConfirmed(differing(layout, data, first.name, answer[:2], "the reader of coverage", own))
    value, refusal, written = answer
    whole = notes(protocol(layout)).frames.get(layout)
    context = context_of(notes(protocol(layout)), found)
    try:
        judged = judge(notes(protocol(layout)), found)
    except BadNotes as error:
        raise BadNotes(f"vectors/{protocol(layout)}/notes.toml: {error} ({naming(layout, data)})") from error
    # What is refused is refused for another reason.
    if whole is not None and refusal is None and not whole.is_intact(data):
        judged |= {whole.flag}
    flags = tuple(sorted(judged))
    if refusal is not None:
        expected = Expected("acceptable" if flags else "invalid", refusal[0], flags, None, None, context)
    else:
        canonical = None if written == data else written
        expected = Expected("acceptable" if flags else "valid", None, flags, canonical, value, context)
        if canonical is not None:
            check_canonical(layout, data, canonical, value, flags)
    return expected, found.branches


def check_canonical(layout: str, data: bytes, canonical: bytes, value: Any, flags: tuple[str, ...]) -> None:
    """Raise ``NotConfirmed`` unless the canonical form of a frame is read as the same value.

    A flag says why it is another, except where one value has several legal spellings.
    """
    if not flags and not kind(layout).respells(layout):
        raise NotConfirmed(f"{naming(layout, data)}: it is written back as {canonical.hex()}, and no flag says why")
    # Overlong numbers refused: what an encoder writes is the shortest, and this is what proves it.
    for engine in engines(layout):
        if engine.decode(layout, canonical, overlong="refuse") != value:
            raise NotConfirmed(f"{naming(layout, data)}: {engine.name} reads its canonical form otherwise")


def engines(layout: str) -> list[Engine]:
    """Return the engines of a layout; ``NotConfirmed`` when there are fewer than two."""
    # A verdict is kept for years, so it is never one engine's opinion.
    found = list(present(layout))
    if len(found) < 2:
        raise NotConfirmed(f"{layout}: vectors need two engines, and only {found[0].name} runs here")
    return found


Answer = tuple[Any, tuple[str, int] | None, bytes | None]
"""What an engine says of a frame: the value, or the reason and offset of the refusal; and the bytes of the value."""


def ask(engine: Engine, layout: str, data: bytes) -> Answer:
    """Let an engine read a frame and write it again."""
    try:
        value = engine.decode(layout, data)
    except DecodeError as error:
        return None, (error.reason.value, error.offset), None
    try:
        return value, None, engine.encode(layout, value)
    except EncodeError as error:
        raise NotConfirmed(f"{naming(layout, data)}: {engine.name} reads it and cannot write it: {error}") from error


def naming(layout: str, data: bytes) -> str:
    """Name a frame in a message."""
    # Frames at the limits have 65535 bytes, which no terminal is glad of.
    shown = data.hex() if len(data) <= 64 else f"{data[:64].hex()}… ({len(data)} bytes)"
    return f"{layout}, frame {identify(layout, data)} ({shown or 'empty'})"


def differing(layout: str, data: bytes, one: str, first: Any, other: str, second: Any) -> str:
    """Say how two engines differ over a frame."""

    def words(answer: Any) -> str:
        value, refusal, *written = answer
        if refusal is not None:
            return f"{refusal[0]} at byte {refusal[1]}"
        return f"{value!r}"[:400] + "".join(f", written as {data.hex()[:400]}" for data in written)

    return f"{naming(layout, data)}: {one} says {words(first)}; {other} says {words(second)}"


def protocol(layout: str) -> str:
    """Return the protocol of a layout."""
    return layout.partition("/")[0]


def buildable() -> list[str]:
    """Return the layouts that vectors are made for: those of protocols that have notes."""
    return sorted(name for name in grammars() if files("vectors").joinpath(protocol(name), "notes.toml").is_file())


def build(layout: str) -> Built:
    """Make the file of one layout.

    Raises ``BadCurated`` for curated vectors that are wrong, ``NotConfirmed`` for a frame on which engines disagree.
    """
    about = notes(protocol(layout))
    groups: dict[str, list[VectorEntry]] = {}
    known: set[str] = set()
    met: set[Any] = set()
    # Curated vectors first: what a person has written keeps its words and its rules, and a generated one of the same
    # bytes is left out.
    for group in curated(layout):
        groups[group.name] = []
        for written_by_hand in group.vectors:
            expected, branches = expect(layout, written_by_hand.data)
            entry = msgspec.structs.replace(written_by_hand, context=context_for(written_by_hand.rules, expected))
            agree(layout, about, entry, expected)
            groups[group.name].append(entry)
            met |= branches
            known.add(entry.id)
    written = len(known)
    made: dict[tuple[str, ...], dict[str, list[VectorEntry]]] = {}
    families_of = kind(layout).families
    is_brief = layout.partition("/")[2] in about.briefly
    for specimen in as_sent(layout, about.frames.get(layout), kind(layout).specimens(layout, about)):
        # By content: two specimens with one frame are one vector, named and explained as the first.
        name = identify(layout, specimen.data)
        if name in known:
            continue
        expected, branches = expect(layout, specimen.data)
        if is_brief and branches <= met and specimen.aspect not in COMBINED:
            continue
        known.add(name)
        met |= branches
        rules = rules_for(about, layout, specimen.path, specimen.aspect, frozenset(expected.flags))
        entry = as_entry(name, specimen.comment, specimen.data, expected, tuple(sorted(rules)))
        # A group of both would be half rewritten by the next build.
        if specimen.group in groups:
            raise BadCurated(f"{layout}: the name of the group {specimen.group!r} is kept for generated vectors")
        families = made.setdefault(specimen.names, {family: [] for family in families_of})
        families[specimen.family].append(entry)
    for names, families in made.items():
        for family, entries in families.items():
            if entries:
                name = "-".join((*(names or ("whole",)), family)).lower().replace("_", "-")
                groups[name] = entries
    text = render(layout, about, groups)
    return Built(layout, text, len(known), written, covered(layout, met))


def as_sent(layout: str, whole: WholeFrames | None, specimens: Iterator[Specimen]) -> Iterator[Specimen]:
    """Give specimens as they would be sent; those that look at what that changes both ways, if they are accepted."""
    if whole is None:
        yield from specimens
        return
    for each in specimens:
        words = each.comment
        looked_at = any(matches(pattern, each.path) for pattern in whole.at)
        if looked_at and expect(layout, each.data)[0].reason is None:
            yield each
            words = f"{words}, {whole.words}"
        yield each._replace(data=whole.as_sent(each.data), comment=words)


def curated(layout: str) -> tuple[VectorGroup, ...]:
    """Return the vectors of a layout that were written by hand; ``BadCurated`` when their file is wrong."""
    source = files("vectors").joinpath(protocol(layout), "curated", f"{layout.partition('/')[2]}.json")
    if not source.is_file():
        return ()
    where = f"vectors/{protocol(layout)}/curated/{source.name}"
    try:
        content = source.read_bytes()
        file = msgspec.json.decode(content, type=VectorFile)
    except msgspec.DecodeError as error:
        raise BadCurated(f"{where}: {error}") from error
    about = notes(protocol(layout))
    for flag, words in file.flags.items():
        if about.flags.get(flag) != words:
            raise BadCurated(f"{where}: the flag {flag} has other words than in notes.toml")
    problems = list(check(where, file))
    if problems:
        raise BadCurated(str(problems[0]))
    return file.groups


def agree(layout: str, about: ProtocolNotes, entry: VectorEntry, expected: Expected) -> None:
    """Raise ``BadCurated`` when a curated vector says something else than the engines and the notes, unexplained."""
    for field, words in differences(about, entry, expected):
        raise BadCurated(f"{layout}, curated vector {entry.id} ({entry.comment}): {field}: {words}")


def differences(about: ProtocolNotes, entry: VectorEntry, expected: Expected) -> Iterator[tuple[str, str]]:
    """Give the fields of a vector that are not as expected, with words; an exception of the notes excuses flags."""
    excused = entry.id in about.exceptions
    if not excused:
        if entry.result != expected.result:
            yield "result", f"it is {expected.result!r}, not {entry.result!r}"
        if entry.flags != expected.flags:
            given, judged = (", ".join(flags) or "none" for flags in (entry.flags, expected.flags))
            yield "flags", f"by notes.toml they are {judged}, not {given}"
    if entry.reason != expected.reason:
        yield "reason", f"the engines say {expected.reason or 'that it is accepted'}, not {entry.reason or 'that'}"
    if expected.reason is None and entry.reason is None and revive(entry.value) != expected.value:
        yield "value", f"the engines read {json_of(shorten(expected.value))[:400]}"
    canonical = None if entry.canonical is None else bytes.fromhex(entry.canonical)
    if canonical != expected.canonical:
        is_ = "the bytes" if expected.canonical is None else expected.canonical.hex()
        yield "canonical", f"the engines write {is_}, not {entry.canonical or 'the bytes'}"


def context_for(rules: tuple[str, ...], expected: Expected) -> str:
    """Return the context of a vector: a rule that speaks of it, as of a key in any message, makes it none."""
    return "" if rules else expected.context


def as_entry(name: str, comment: str, data: bytes, expected: Expected, rules: tuple[str, ...]) -> VectorEntry:
    """Make an entry of a file; ``NotConfirmed`` when its value could not be read back."""
    value = shorten(expected.value)
    # A value may look like the spelling of bytes or of a run: then the file would say something else than the engines.
    if revive(value) != expected.value:
        raise NotConfirmed(f"the vector {name}: its value cannot be written as JSON unmistakably")
    return VectorEntry(
        id=name,
        comment=comment,
        hex=pieces(data),
        result=expected.result,  # type: ignore[arg-type]
        rules=rules,
        reason=expected.reason,
        flags=expected.flags,
        canonical=None if expected.canonical is None else expected.canonical.hex(),
        value=value,
        context=context_for(rules, expected),
    )


REPEATED = re.compile(rb"(.)\1{255,}", re.DOTALL)


def pieces(data: bytes) -> str | tuple[str | Repetition, ...]:
    """Write bytes in hex; long ones as a list, in which a byte that repeats itself is a run."""
    if len(data) <= LONG:
        return data.hex()
    found: list[str | Repetition] = []
    at = 0
    for match in REPEATED.finditer(data):
        if match.start() > at:
            found.append(data[at : match.start()].hex())
        found.append(Repetition(match[1].hex(), len(match[0])))
        at = match.end()
    if at < len(data):
        found.append(data[at:].hex())
    return tuple(found)


def shorten(value: Any) -> Any:
    """Turn a value into what JSON has: bytes become ``{"hex": …}``, long repetitions become runs."""
    match value:
        case Mapping():
            return {name: shorten(part) for name, part in value.items()}
        case list():
            return shortened(value) if len(value) > LONG else [shorten(part) for part in value]
        case bytes() if len(value) > LONG and len(set(value)) == 1:
            return {"hex": value[:1].hex(), "times": len(value)}
        case bytes():
            return {"hex": value.hex()}
        case str() if len(value) > LONG and len(set(value)) == 1:
            return {"text": value[0], "times": len(value)}
        case _:
            return value


def shortened(values: list[Any]) -> list[Any]:
    """Write the items of a long list, equal neighbours as a run."""
    found: list[Any] = []
    at = 0
    while at < len(values):
        end = at
        while end < len(values) and values[end] == values[at]:
            end += 1
        item = shorten(values[at])
        found.append(item if end == at + 1 else {"item": item, "times": end - at})
        at = end
    return found


def render(layout: str, about: ProtocolNotes, groups: Mapping[str, list[VectorEntry]]) -> str:
    """Write a file of vectors, for people as well: a few lines for each, what it is about first."""
    # Only flags that some vector carries are explained: a reader is not to look for what is not there.
    used = sorted({flag for entries in groups.values() for entry in entries for flag in entry.flags})
    flags = [f"    {json_of(flag)}: {json_of(about.flags[flag])}" for flag in used]
    lines = ["{", f'  "schema": {json_of(SCHEMA)},', f'  "layout": {json_of(layout)},']
    lines += ['  "flags": {', ",\n".join(flags), "  },"] if flags else ['  "flags": {},']
    met = sorted({entry.context for entries in groups.values() for entry in entries if entry.context})
    contexts = [f"    {json_of(name)}: {json_of(about.contexts[name].words)}" for name in met]
    lines += ['  "contexts": {', ",\n".join(contexts), "  },"] if contexts else []
    shown = []
    for name, entries in groups.items():
        vectors = ",\n".join(rendered(entry) for entry in entries)
        shown.append(f'    {{\n      "name": {json_of(name)},\n      "vectors": [\n{vectors}\n      ]\n    }}')
    return "\n".join((*lines, '  "groups": [', ",\n".join(shown), "  ]", "}", ""))


def rendered(entry: VectorEntry) -> str:
    """Write one vector."""
    outcome = [f'"result": {json_of(entry.result)}']
    outcome += [f'"reason": {json_of(entry.reason)}'] if entry.reason is not None else []
    outcome += [f'"flags": {json_of(list(entry.flags))}'] if entry.flags else []
    outcome.append(f'"rules": {json_of(list(entry.rules))}')
    outcome += [f'"context": {json_of(entry.context)}'] if entry.context else []
    data = entry.hex if isinstance(entry.hex, str) else [msgspec.to_builtins(piece) for piece in entry.hex]
    lines = [f'"id": {json_of(entry.id)}, "comment": {json_of(entry.comment)}', f'"bytes": {json_of(data)}']
    lines.append(", ".join(outcome))
    lines += [f'"canonical": {json_of(entry.canonical)}'] if entry.canonical is not None else []
    lines += [f'"value": {json_of(entry.value)}'] if entry.result != "invalid" and entry.reason is None else []
    lines += [f'"meaning": {json_of(entry.meaning)}'] if entry.meaning is not None else []
    return "        { " + ",\n          ".join(lines) + " }"


def json_of(value: Any) -> str:
    """Write JSON in one line, as people read it."""
    return json.dumps(value, ensure_ascii=False)


def verify(content: bytes, name: str) -> list[Problem]:
    """Check a file of vectors: its shape, ids, flags and order, and what the engines say of each frame."""
    try:
        plain = json.loads(content, object_pairs_hook=object_without_duplicates)
    except ValueError as error:
        return [Problem(name, "", f"is not JSON: {error}")]
    # The schema first: its words say what is wrong to people who do not use Python.
    problems = list(schema_problems(plain, name))
    try:
        file = msgspec.json.decode(content, type=VectorFile)
    except msgspec.DecodeError as error:
        return problems or [Problem(name, *located(plain, str(error)))]
    if problems:
        return problems
    if file.layout not in buildable():
        return [Problem(name, "layout", f"no layout with notes is called {file.layout!r}")]
    problems = list(check(name, file))
    about = notes(protocol(file.layout))
    for context, words in file.contexts.items():
        if context not in about.contexts or about.contexts[context].words != words:
            problems.append(Problem(name, f"contexts.{context}", "other words than in notes.toml"))
    for flag, words in file.flags.items():
        if about.flags.get(flag) != words:
            problems.append(Problem(name, f"flags.{flag}", "other words than in notes.toml"))
    for group in file.groups:
        for entry in group.vectors:
            try:
                expected, _ = expect(file.layout, entry.data)
            except NotConfirmed as error:
                problems.append(Problem(name, placed(group, entry, "bytes"), str(error)))
                continue
            for field, words in differences(about, entry, expected):
                problems.append(Problem(name, placed(group, entry, field), words))
            # Of golden vectors alone: who writes one by hand leaves it to the notes.
            if entry.context != (context := context_for(entry.rules, expected)):
                words = f"by notes.toml it is {context or 'none'}, not {entry.context or 'none'}"
                problems.append(Problem(name, placed(group, entry, "context"), words))
    return problems


def check(name: str, file: VectorFile) -> Iterator[Problem]:
    """Give what is wrong with the ids, flags and order of a file, without a look into its frames."""
    used = {flag for group in file.groups for entry in group.vectors for flag in entry.flags}
    for flag in sorted(used - set(file.flags)):
        yield Problem(name, f"flags.{flag}", "vectors carry this flag, and nothing explains it")
    for context in sorted({entry.context for group in file.groups for entry in group.vectors} - {"", *file.contexts}):
        yield Problem(name, f"contexts.{context}", "vectors are of this context, and nothing explains it")
    for flag in sorted(set(file.flags) - used):
        yield Problem(name, f"flags.{flag}", "is explained, and no vector carries it")
    if list(file.flags) != sorted(file.flags):
        yield Problem(name, "flags", "are not in order")
    seen: dict[str, str] = {}
    names: set[str] = set()
    for group in file.groups:
        if group.name in names:
            yield Problem(name, f"group {group.name}", "there are two groups of this name")
        names.add(group.name)
        for entry in group.vectors:
            if entry.id != (right := identify(file.layout, entry.data)):
                yield Problem(name, placed(group, entry, "id"), f"by its bytes it is {right}")
            if entry.id in seen:
                yield Problem(name, placed(group, entry, "id"), f"is in group {seen[entry.id]} as well")
            seen[entry.id] = group.name
            for field, listed in (("flags", entry.flags), ("rules", entry.rules)):
                if listed != tuple(sorted(set(listed))):
                    yield Problem(name, placed(group, entry, field), "are not in order, or not different")


def placed(group: VectorGroup, entry: VectorEntry, field: str) -> str:
    """Name a field of a vector."""
    return f"group {group.name}, vector {entry.id} ({entry.comment}), {field}"


def write(path: Path, content: bytes) -> None:
    """Put a file in its place whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content)
