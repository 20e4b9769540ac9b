"""Straight-line Python from layouts: one reader and one writer per record, union, list and chain.

What the code counts on: a byte that is not there is an ``IndexError``, which only the entry of a layout turns into a
refusal; a value of the wrong type or size is refused by the very operation that writes it.
"""

from wire.emit import json
from wire.emit.naming import PartNames, direct, identifier
from wire.kinds.compound import Compound
from wire.kinds.contexts import Code, Lines
from wire.layout import Layout

HEAD = '''# mypy: disable-error-code="assignment, no-any-return, no-redef, union-attr, var-annotated"
"""Codecs of {protocol}: generated from wire/{protocol} by ``python -m wire.emit``. Do not edit."""

from collections.abc import Mapping
from typing import Any

from wire.errors import EncodeError, Reason
from wire.runtime import (
    BIT_0,
    BIT_1,
    BIT_2,
    BIT_3,
    BIT_4,
    BIT_5,
    BIT_6,
    CONTINUED,
    OCTET,
    VARINT,
    Codec,
    Refusal,
{called})

TRUNCATED, BAD_TEXT, BAD_VALUE, RESERVED = Reason.TRUNCATED, Reason.BAD_TEXT, Reason.BAD_VALUE, Reason.RESERVED
UNKNOWN_ID, TOO_LONG, TRAILING = Reason.UNKNOWN_ID, Reason.TOO_LONG, Reason.TRAILING
ENCODE_FAILURES = (EncodeError, TypeError, ValueError, LookupError, AttributeError, OverflowError)
'''


USUAL = (
    "blanks",
    "dispatch",
    "encode_refusal",
    "flags_table",
    "refuse_unknown",
    "refusing",
    "spell_flags",
    "spell_varint",
    "varint",
)
"""What every module imports of ``wire/runtime.py``."""

RARE = ("enclosed", "named_bits", "nul", "spell_bits", "zeros")
"""What a module imports only if it calls it."""


def emit(protocol: str, layouts: list[Layout]) -> str:
    """Return the module for all layouts of a protocol."""
    binary = [layout for layout in layouts if not layout.is_json]
    names = PartNames(binary)
    lines: list[str] = []
    for part, name in names.tables.items():
        lines += ["", *part.python_table(name)]
    for part, name in names.parts.items():
        blank = list(part.python_blank(name, names))
        lines += ["", *blank] if blank else []
    # What is read within another's function has one of its own only if somebody else calls it.
    inlined = {inner for part in names.parts for inner in part.python_inlined()}
    for part in names.parts:
        inlined -= set(direct(part)) - set(part.python_inlined())
    for part in names.parts:
        if part not in inlined:
            lines += ["", "", *part.python_function(Code(names)), "", "", *part.python_writer_function(Code(names))]
    taken = {f"write_{name}" for name in names.parts.values()}
    for layout in layouts:
        made = json.emit(layout, identifier(layout), taken) if layout.is_json else _entry(layout, names)
        lines += ["", "", *made]
    lines += ["", "", "CODECS = {"]
    for layout in layouts:
        entry = identifier(layout)
        lines.append(f'    "{layout.name.partition("/")[2]}": Codec(decode_{entry}, encode_{entry}),')
    body = "\n".join([*lines, "}", ""])
    # What a module does not call it does not import: linters look at generated code too.
    called = sorted([*USUAL, *(name for name in RARE if f"{name}(" in body)])
    head = (HEAD if binary else json.HEAD).format(
        protocol=protocol, called="".join(f"    {name},\n" for name in called)
    )
    return "\n".join([head, *([json.IMPORTS] if binary and binary != layouts else []), body])


def _entry(layout: Layout, names: PartNames) -> Lines:
    root, name = layout.frame, identifier(layout)
    assert isinstance(root, Compound)  # `PartNames` refuses any other as a whole frame
    limit = layout.root.frame_limit
    yield f"def decode_{name}(data: bytes, refuse: bool = False) -> Any:"
    yield f'    """Decode one ``{layout.name}``."""'
    yield "    try:"
    if limit is not None:
        yield f"        if len(data) > {limit}:"
        yield f"            raise Refusal(TOO_LONG, {limit})"
    yield f"        {root.python_entry(Code(names))}"
    yield "        if at != len(data):"
    yield "            raise Refusal(TRAILING, at)"
    yield "    except (IndexError, Refusal) as error:"
    yield f'        raise refusing(error, "{layout.name}", data, refuse) from None'
    yield "    return value"
    yield ""
    yield ""
    yield f"def encode_{name}(value: Any) -> bytes:"
    yield f'    """Encode one ``{layout.name}``."""'
    yield "    try:"
    yield f"        out: bytes = {root.python_written(Code(names), 'value')}"
    if limit is not None:
        yield f"        if len(out) > {limit}:"
        yield f'            raise EncodeError("more than {limit} bytes")'
    yield "    except ENCODE_FAILURES as error:"
    yield f'        raise encode_refusal(error, "{layout.name}", value) from None'
    yield "    return out"
