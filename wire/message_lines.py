"""Frames in one line per message, made of their dumps: for those who read what went wrong, not the whole frame.

``DECLARE I=1 interest_id=7, D_TOKEN N=1 token_id=3 key_scope=0 key_suffix="lab/a"``. What a layout refuses is shown as
far as it was understood, with the reason.
"""

import json
import re
from collections.abc import Iterator, Sequence
from importlib import import_module

import msgspec

from wire.dump import Dump, Row, TooManyFields, dump, visible

ITEM = re.compile(r"(?:.*\[\d+\]\.)?[A-Z][A-Z0-9_]*(?=\.)")
"""The part of a path that names a message: a member of a list of messages, or of none. Extensions have no such name."""

NAME = re.compile(r"[A-Z][A-Z0-9_]*")
BITS = re.compile(r"(\w+)=(\w+)(?: |$)")
EXTENSION = re.compile(r"extensions\[\d+\]$")
_LENIENT = json.JSONDecoder(strict=False)

MAX_FIELDS = 4096
"""Fields of a frame at most: a message has dozens, and nobody reads a line of thousands."""


class MessageLine(msgspec.Struct, frozen=True):
    """One message of a frame: what it is in one line, and where its bytes stand; ``fields`` by their rows.

    ``name`` is what kind of message it is, whatever its fields hold: ``DECLARE D_SUBSCRIBER``, ``refused: truncated``.
    """

    text: str
    start: int
    end: int
    fields: tuple[Row, ...] = ()
    refused_at: int | None = None
    name: str = ""

    def place_of(self, field: str) -> tuple[int, int] | None:
        """Return where a field stands in the frame, by its name or the end of its path; ``None`` if it is not there."""
        pattern = re.compile(rf"(?:^|.*?\.){re.escape(field)}(?=$|[.\[])")
        named = next((found[0] for row in self.fields if (found := pattern.match(row.path))), None)
        if named is None:
            return None
        # "extensions" stands for all that belongs to it: its rows follow one another.
        own = [row for row in self.fields if row.path == named or row.path.startswith((f"{named}.", f"{named}["))]
        return own[0].offset, own[-1].offset + len(own[-1].data)


def message_lines(layout: str, frame: bytes) -> list[MessageLine]:
    """Return the messages of a frame, in order; what frames only wrap is left out where they hold messages."""
    try:
        dumped = dump(layout, frame, most=MAX_FIELDS)
    except TooManyFields as error:
        return [MessageLine(str(error), 0, len(frame))]
    if dumped.text:
        return [_text(dumped, layout.partition("/")[2].replace("-", " "))]
    groups: dict[str, list[Row]] = {}
    for row in dumped.rows:
        found = ITEM.match(row.path)
        groups.setdefault(found[0] if found else "", []).append(row)
    told = line_of(layout, frame) if dumped.error is None else None
    if told is not None:
        return [MessageLine(told[1], 0, len(frame), dumped.rows, name=told[0])]
    # A FRAME says nothing that its messages do not, but one that is empty, or was cut, stands for itself.
    names = [each for each in groups if not any(other.startswith(f"{each}.") for other in groups)]
    messages = [_message(name, groups[name]) for name in names]
    return [*messages, *_refused(dumped, messages)]


def line_of(layout: str, frame: bytes) -> tuple[str, str] | None:
    """Return a frame's kind and the frame in a line, where its protocol exports a ``LINE`` that tells more."""
    tell = getattr(import_module(f"wire.{layout.partition('/')[0]}"), "LINE", None)
    found: tuple[str, str] | None = None if tell is None else tell(frame)
    return found


def _message(name: str, rows: Sequence[Row]) -> MessageLine:
    clauses: list[list[str]] = [[]]
    title, titles = "", [name.rpartition(".")[2]]
    for row in rows:
        within, _, field = (row.path[len(name) + 1 :] if name else row.path).rpartition(".")
        inner = next((part for part in reversed(within.split(".")) if NAME.fullmatch(part)), "") if within else ""
        # The body inside a message, such as the declaration in a DECLARE, has a name of its own.
        if inner != title:
            title = inner
            titles.append(title)
            clauses.append([])
        is_extension = bool(EXTENSION.search(within))
        clauses[-1] += _words(row, field, is_extension)
    if not any(row.path.endswith(".header") for row in rows) and name:
        clauses[0].insert(0, name.rpartition(".")[2])
    text = ", ".join(" ".join(clause) for clause in clauses if clause)
    # A frame that is one message, and whose fields stand in no record with a name, says by its header what it is.
    kind = " ".join(dict.fromkeys(filter(None, titles))) or next((r for row in rows for r in row.remarks), "")
    return MessageLine(text, rows[0].offset, rows[-1].offset + len(rows[-1].data), tuple(rows), name=kind)


def _words(row: Row, field: str, is_extension: bool) -> Iterator[str]:
    """Yield what a row says in a line: a header names the message and the bits that are set."""
    if field == "header":
        yield row.remarks[0].replace(", ", " ") if row.remarks else field
        # An id chose the name, and what is 0 says nothing that its name does not.
        bits = {key: value for key, value in BITS.findall(row.value) if key not in ("id", "encoding", "Mod")}
        yield from (f"{key}={value}" for key, value in bits.items() if value.strip("0x"))
    elif is_extension and row.remarks:
        yield f"({'; '.join(row.remarks)})"
    elif BITS.match(row.value):
        set_bits = [(key, value) for key, value in BITS.findall(row.value) if value.strip("0x")]
        yield f"{field}={'+'.join(key if value == '1' else f'{key}:{value}' for key, value in set_bits) or '0'}"
    else:
        yield f"{field}={row.value}"


def _refused(dumped: Dump, messages: Sequence[MessageLine]) -> Iterator[MessageLine]:
    if dumped.error is not None:
        start = messages[-1].end if messages else 0
        text = f"refused: {dumped.error.reason.value} at byte {dumped.error.offset}, {dumped.error.path}"
        name = f"refused: {dumped.error.reason.value}"
        yield MessageLine(text, min(start, dumped.error.offset), len(dumped.data), (), dumped.error.offset, name)


def _text(dumped: Dump, layout: str) -> MessageLine:
    """Tell a frame that is a text: it is readable as it is, so only its name is added, or why it is refused.

    A message that is the only one of its layout is called as that.
    """
    name = text = next((remark for row in dumped.rows for remark in row.remarks), layout).replace("-", " ")
    offset = None
    if dumped.error is not None:
        name = f"refused: {dumped.error.reason.value}"
        text = f"refused: {dumped.error.reason.value} at byte {dumped.error.offset}, {dumped.error.detail}"
        offset = dumped.error.offset
    rows = (*dumped.rows, *members(dumped.data))
    return MessageLine(text, 0, len(dumped.data), rows, offset, name)


def members(data: bytes) -> Iterator[Row]:
    """Yield the members of a JSON object with their names, also of one that its layout refuses."""
    text = data.decode("latin-1")  # a character for each byte, so that places agree
    for found in re.finditer(r'"([^"\\]*)"\s*:\s*', text):
        try:
            _, end = _LENIENT.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            end = found.end()
        yield Row(found.start(), data[found.start() : end], found[1], visible(data[found.end() : end]))
