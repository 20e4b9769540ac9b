"""One kind of node, one place: whoever makes vectors of binary layouts asks the kinds, and knows none by name."""

import ast

from house import modules

from wire.kinds import __all__ as named

INTERFACE = {"KINDS", "Node", "Part"}
"""What ``wire/kinds`` names besides the kinds: the table of them, and what all of them are."""

KINDS = frozenset(named) - INTERFACE

TEXTS = {name for name in KINDS if name.startswith("Json")} | {"Language"}
"""What a text is made of: these kinds stand in tables (ARCHITECTURE.md, "Kinds of JSON stay in tables")."""

ASKING = ("wire.emit.python", "wire.emit.native", "wire.emit.columnar", "vectors.notes")
"""Who else makes something of binary layouts, and only asks."""


def test_the_grid_of_binary_layouts_names_no_kind() -> None:
    """Neither imports one, nor the file of one, nor says its name (``getattr``, ``type(part).__name__``)."""
    house = modules("wire", "vectors")
    kinds = {name for name in house if name.startswith("wire.kinds.") and KINDS & set(house[name].classes)}
    assert len(kinds) > 20
    named = {}
    for module in house.values():
        if module.name.startswith("vectors.binary"):
            imported = {name for name in module.imported if {name.rpartition(".")[0], name} & kinds}
            imported |= {name for name in module.imported if name.rpartition(".")[2] in KINDS}
            named[module.name] = sorted(imported | module.texts & KINDS)
    assert named
    assert not any(named.values()), named


def test_constructs_are_not_looked_at_either() -> None:
    """``wire/primitives.py`` has the constructs: minimising asks the leaf that read a field, by no name."""
    house = modules("vectors")
    found = {
        name: sorted(each for each in module.imported if each.startswith("wire.primitives."))
        for name, module in house.items()
        if name.startswith("vectors.binary")
    }
    assert {each for imported in found.values() for each in imported} <= {"wire.primitives.vle"}


def test_nobody_asks_a_part_of_a_binary_layout_for_its_class() -> None:
    asked = []
    for module in modules("vectors").values():
        if module.name.startswith("vectors.binary"):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                    asked += [(module.name, each) for each in ast.unparse(node.args[1]).split(" | ")]
    assert {each for _, each in asked} <= {"int", "str", "bytes", "tuple", "Const", "Ref"}


def test_emitters_and_notes_name_no_kind_of_binary_layouts() -> None:
    """A new kind is one new file and one line: nobody has to be told that it is like a record, or a chain."""
    house = modules("wire", "vectors")
    files = {name for name in house if name.startswith("wire.kinds.") and (KINDS - TEXTS) & set(house[name].classes)}
    for name in ASKING:
        module = house[name]
        kinds = {each for each in module.imported if {each.rpartition(".")[0], each} & files}
        kinds |= {each for each in module.imported if each.rpartition(".")[2] in KINDS - TEXTS}
        assert not kinds | (module.texts & (KINDS - TEXTS)), name
