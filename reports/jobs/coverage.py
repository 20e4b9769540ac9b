"""How much of a protocol a lake has seen: rules that were judged, messages that were said, states that are rare."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from conformance.catalogue.loading import load_catalogue, protocols
from conformance.catalogue.rules import Rule
from conformance.run.played_cases import why_unplayable
from conformance.verdicts import Outcome
from harness.protocol import load as load_protocol
from reports.jobs import spark as sparks
from reports.jobs.summary import RuleRow
from reports.jobs.versions import natural
from reports.lake.lake import Lake
from reports.lake.schemas import DECODED
from wire.catalogue import grammars
from wire.catalogue import layout as find
from wire.columns import Table, columns_of
from wire.kinds import Json, JsonObject, JsonUnion, Limited, Part

SAYING = (Outcome.PASS, Outcome.ODD, Outcome.DEVIATION, Outcome.VIOLATION, Outcome.CRASH)
"""What says something about a rule."""

STATE = ("protocol", "layout", "types", "refused")
"""What makes a frame's state: the messages in it, or the class of its refusal."""

SEQ_BITS = 40


class RulesJudged(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the rules that can be judged on a wire, and bind this role or any, were; and which ``never``."""

    protocol: str
    name: str
    version: str
    role: str
    judged: int
    of: int
    never: tuple[str, ...]


class MessagesSeen(msgspec.Struct, frozen=True, kw_only=True):
    """How many frames of a layout had which messages, those that ``never`` came, and how many frames there were."""

    protocol: str
    layout: str
    frames: int
    refused: int
    seen: dict[str, int]
    never: tuple[str, ...]


class FrameState(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of frames (``types``, with blanks), or why they are ``refused``; an example by session and place."""

    protocol: str
    layout: str
    types: str
    refused: str
    frames: int
    session: str
    seq: int


class LakeCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen: rules by implementation, messages by layout, and all states, the rarest first."""

    rules: tuple[RulesJudged, ...]
    messages: tuple[MessagesSeen, ...]
    states: tuple[FrameState, ...]


def coverage(lake: Lake, rows: Sequence[RuleRow], spark: Any) -> LakeCoverage:
    """Return how much a lake has seen; ``rows`` are those of its summary."""
    found = states(lake, spark)
    return LakeCoverage(rules=tuple(rules_judged(rows)), messages=tuple(messages_seen(found)), states=tuple(found))


def rules_judged(rows: Iterable[RuleRow]) -> Iterator[RulesJudged]:
    """Yield for each implementation which rules were judged, under whatever profile."""
    judged: dict[tuple[str, str, str, str], set[str]] = {}
    for row in rows:
        known = judged.setdefault((row.protocol, row.name, row.version, row.role), set())
        if any(each.value in row.outcomes for each in SAYING):
            known.add(row.rule)
    for protocol, name, version, role in sorted(judged, key=_order):
        known = judged[protocol, name, version, role]
        # A lake may hold what another version of goldwire knew.
        if protocol not in protocols():
            continue
        # Judged or not, only rules that a wire can show count: others would make every coverage look bad for ever.
        wanted = [rule.id for rule in _catalogue(protocol).rules.values() if _binds(rule, role, protocol)]
        # What was never seen is what a reader acts on; what was is a number.
        never = tuple(rule for rule in wanted if rule not in known)
        yield RulesJudged(
            protocol=protocol,
            name=name,
            version=version,
            role=role,
            judged=len(wanted) - len(never),
            of=len(wanted),
            never=never,
        )


_catalogue = cache(load_catalogue)


def _order(key: tuple[str, str, str, str]) -> tuple[object, ...]:
    protocol, name, version, role = key
    return protocol, name, role, natural(version), version


def _binds(rule: Rule, role: str, protocol: str) -> bool:
    """Tell whether a rule can be judged on a wire, and is not one of another role alone."""
    # Who was recorded without a role is held to every rule: of what they are nothing is known.
    others = load_protocol(protocol).roles.keys() - {role} if role else set()
    return not why_unplayable(rule) and rule.binds not in others


def messages_seen(found: Iterable[FrameState]) -> Iterator[MessagesSeen]:
    """Yield which messages of each layout were seen, and which never."""
    by_layout: dict[tuple[str, str], list[FrameState]] = {}
    for each in found:
        by_layout.setdefault((each.protocol, each.layout), []).append(each)
    for (protocol, layout), states in sorted(by_layout.items()):
        seen: dict[str, int] = {}
        for state in states:
            for name in state.types.split():
                seen[name] = seen.get(name, 0) + state.frames
        yield MessagesSeen(
            protocol=protocol,
            layout=layout,
            frames=sum(state.frames for state in states),
            refused=sum(state.frames for state in states if state.refused),
            seen=dict(sorted(seen.items())),
            never=tuple(name for name in messages(layout) if name not in seen),
        )


def messages(layout: str) -> list[str]:
    """Return the names of the messages that frames of a layout can hold, as the table ``decoded`` has them."""
    if layout not in grammars():
        return []
    tree = find(layout)
    if tree.is_text:
        return []
    if tree.is_json:
        # The limit and the text around the messages have no names.
        root: Part = tree.root
        while isinstance(root, Limited | Json):
            root = root.node
        return sorted(set(_members(root))) if isinstance(root, JsonUnion) else []
    return sorted(set(_choices(columns_of(tree))))


def _members(part: JsonObject | JsonUnion) -> Iterator[str]:
    if isinstance(part, JsonUnion):
        for each in part.messages:
            yield from _members(each)
    else:
        yield part.name


def _choices(table: Table) -> Iterator[str]:
    for column in table.columns:
        yield from column.choices
        if column.items is not None:
            yield from _choices(column.items)


def states(lake: Lake, spark: Any) -> list[FrameState]:
    """Return how often frames were in each state, the rarest first, with the first frame of the first session."""
    rows = _states_on_spark(lake, spark) if spark is not None else _states(lake)
    found: dict[tuple[str, ...], FrameState] = {}
    for row in rows:
        key = tuple(row[name] or "" for name in STATE)
        state = FrameState(
            protocol=key[0],
            layout=key[1],
            types=key[2],
            refused=key[3],
            frames=row["frames"],
            session=row["session"],
            seq=row["seq"],
        )
        # The same state comes from several files, each with a first frame of its own.
        before = found.get(key)
        if before is not None:
            first = min(before, state, key=lambda each: (each.session, each.seq))
            state = msgspec.structs.replace(first, frames=before.frames + state.frames)
        found[key] = state
    return sorted(found.values(), key=lambda each: (each.frames, each.protocol, each.layout, each.refused, each.types))


def _states(lake: Lake) -> Iterator[dict[str, Any]]:
    """Yield the states of each file: sessions become numbers in their order, so that no row is sorted."""
    for part in lake.parts(DECODED):
        if not len(part):
            continue
        coded = part["session"].combine_chunks().dictionary_encode()
        names = coded.dictionary.take(pc.array_sort_indices(coded.dictionary))
        # Session and place in one integer: its minimum is the first frame of the first session, which Arrow finds in
        # one pass, where sorting would move all rows.
        number = pc.shift_left(pc.index_in(part["session"], names).cast(pa.int64()), SEQ_BITS)
        keyed = part.select(STATE).append_column("first", pc.add(number, part["seq"]))
        for row in keyed.group_by(list(STATE)).aggregate([("first", "min"), ("first", "count")]).to_pylist():
            first = row["first_min"]
            session = names[first >> SEQ_BITS].as_py()
            yield row | {"frames": row["first_count"], "session": session, "seq": first & ((1 << SEQ_BITS) - 1)}


def _states_on_spark(lake: Lake, spark: Any) -> list[dict[str, Any]]:
    functions = sparks.functions()
    rows = sparks.rows_of(spark, lake, DECODED, lake.pieces(DECODED))
    # As in ``_states``: the least of (session, place) is the first frame.
    counts = rows.groupBy(*STATE).agg(
        functions.count("*").alias("frames"), functions.min(functions.struct("session", "seq")).alias("first")
    )
    return [row.asDict() for row in counts.select(*STATE, "frames", "first.*").collect()]
