"""Mutants of a source: the small changes that a slip of a programmer might have made, each at one place.

A mutant is an edit of the text, not of the tree, so that it can be shown as the line that somebody would have written.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec


class Mutant(msgspec.Struct, frozen=True):
    """One change of one module: ``start`` and ``end`` are byte offsets of the text that ``after`` stands in for."""

    module: str
    function: str
    line: int
    operator: str
    start: int
    end: int
    before: str
    after: str

    @property
    def place(self) -> str:
        """The file and the function that it is in: ``wire/zenoh/keys.py:resolve``."""
        return f"{self.module.replace('.', '/')}.py:{self.function}"

    def apply(self, source: bytes) -> bytes:
        """Return the module's source with the change made."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[list[str], list[str]]:
        """Return the lines that are changed, and what they become."""
        begin = source.rfind(b"\n", 0, self.start) + 1
        end = source.find(b"\n", self.end) % (len(source) + 1)
        old, new = source[begin:end], source[begin : self.start] + self.after.encode() + source[self.end : end]
        return old.decode().split("\n"), new.decode().split("\n")


COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
"""What each comparison becomes: its opposite, or, where there is an order, the same moved by one."""

ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}

OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
"""Functions that are taken for one another."""

Edit = tuple[str, int, int, str]
"""An operator's name, two offsets, and the new text."""


def mutants_of(module: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a module in the order of the text; the same change twice is one."""
    text = _Text(source)
    found: dict[tuple[int, int, str], Mutant] = {}
    for function, node in _functions(ast.parse(source)):
        for operator, start, end, after in _edits(node, text):
            before = source[start:end].decode()
            line = source.count(b"\n", 0, start) + 1
            mutant = Mutant(module, function, line, operator, start, end, before, after)
            if before != after:
                found.setdefault((start, end, after), mutant)
    return sorted(found.values(), key=lambda each: (each.start, each.end, each.after))


class _Text:
    """The text of a module by lines and columns, as the tree counts them: columns are bytes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        start = self.lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return start, self.lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def of(self, node: ast.AST) -> str:
        """Return a node's text."""
        start, end = self.span(node)
        return self.source[start:end].decode()

    def between(self, left: ast.AST, right: ast.AST, word: str) -> tuple[int, int]:
        """Return where a word stands between two nodes."""
        end = self.span(left)[1]
        start = self.source.index(word.encode(), end, self.span(right)[0])
        return start, start + len(word)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node that runs, with the qualified name of the function that it stands in (empty: the module)."""

    def visit(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
        for child in _that_run(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}" if name else child.name
            yield inner, child
            yield from visit(child, inner)

    yield from visit(tree, "")


def _that_run(node: ast.AST) -> Iterable[ast.AST]:
    """Return a node's children, but for those that nothing depends on: annotations, docstrings, imports."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "type_params", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Import | ast.ImportFrom | ast.Assert):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            yield child


def _edits(node: ast.AST, text: _Text) -> Iterator[Edit]:
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            yield from _condition(node.test, text)
        case ast.comprehension():
            for test in node.ifs:
                yield from _condition(test, text)
        case ast.match_case():
            if node.guard is not None:
                yield from _condition(node.guard, text)
            if not isinstance(node.pattern, ast.MatchAs) or node.pattern.pattern is not None:
                yield "case left out", *text.span(node.pattern), "None if False" if node.guard is None else "None"
        case ast.MatchOr():
            yield from _left_out(node.patterns, text, " | ", "alternative left out")
        case ast.BoolOp():
            yield from _left_out(node.values, text, None, "condition dropped")
            word = "and" if isinstance(node.op, ast.And) else "or"
            for left, right in pairwise(node.values):
                yield f"{word} for the other", *text.between(left, right, word), "or" if word == "and" else "and"
        case ast.UnaryOp(op=ast.Not()):
            yield "not left out", *text.span(node), text.of(node.operand)
        case ast.Compare():
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                was, other = COMPARISONS[type(op)]
                yield "comparison", *text.between(left, right, was), other
        case ast.BinOp():
            if type(node.op) in ARITHMETIC:
                was, other = ARITHMETIC[type(node.op)]
                yield "arithmetic", *text.between(node.left, node.right, was), other
        case ast.Constant():
            yield from _constant(node, text)
        case ast.Tuple() | ast.List() | ast.Set():
            if isinstance(getattr(node, "ctx", None), ast.Load | None) and len(node.elts) > 1:
                yield from _element_left_out(node, text)
        case ast.Call():
            yield from _call(node, text)
        case ast.Return():
            yield from _returned(node, text)
        case ast.FunctionDef():
            yield from _early_return(node, text)
        case ast.Continue():
            yield "break for continue", *text.span(node), "break"
        case ast.Break():
            yield "continue for break", *text.span(node), "continue"
        case ast.AugAssign():
            if type(node.op) in ARITHMETIC:
                was, other = ARITHMETIC[type(node.op)]
                yield "arithmetic", *text.between(node.target, node.value, was + "="), other + "="
    if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Delete | ast.Raise):
        yield "statement left out", *text.span(node), "pass"


def _condition(test: ast.expr, text: _Text) -> Iterator[Edit]:
    span = text.span(test)
    yield "condition negated", *span, f"not ({text.of(test)})"
    yield "condition dropped", *span, "True"
    yield "condition dropped", *span, "False"


def _left_out(parts: list[ast.expr] | list[ast.pattern], text: _Text, glue: str | None, name: str) -> Iterator[Edit]:
    """Leave out one part after the other, with what joins it to the next or, of the last, to the one before."""
    for place, part in enumerate(parts):
        if place + 1 < len(parts):
            yield name, text.span(part)[0], text.span(parts[place + 1])[0], ""
        else:
            yield name, text.span(parts[place - 1])[1], text.span(part)[1], ""


def _element_left_out(node: ast.Tuple | ast.List | ast.Set, text: _Text) -> Iterator[Edit]:
    yield from _left_out(node.elts, text, ", ", "element left out")


def _constant(node: ast.Constant, text: _Text) -> Iterator[Edit]:
    match node.value:
        case bool(value):
            yield "constant", *text.span(node), str(not value)
        case int(value) | float(value):
            yield "constant moved by one", *text.span(node), repr(value + 1)
            yield "constant moved by one", *text.span(node), repr(value - 1)
        case str(value) if value and text.of(node)[0] in "'\"":
            yield "constant", *text.span(node), '""'
        case _:
            pass


def _call(node: ast.Call, text: _Text) -> Iterator[Edit]:
    if isinstance(node.func, ast.Name) and node.func.id in OPPOSITES:
        yield "opposite function", *text.span(node.func), OPPOSITES[node.func.id]
    for left, right in pairwise(node.args):
        middle = text.source[text.span(left)[1] : text.span(right)[0]].decode()
        swapped = f"{text.of(right)}{middle}{text.of(left)}"
        yield "arguments swapped", text.span(left)[0], text.span(right)[1], swapped


def _returned(node: ast.Return, text: _Text) -> Iterator[Edit]:
    if node.value is None:
        yield "statement left out", *text.span(node), "pass"
        return
    span = text.span(node.value)
    # None is as false as False, to whoever asks.
    if not isinstance(node.value, ast.Constant) or not (node.value.value is None or node.value.value is False):
        yield "nothing returned", *span, "None"
    if isinstance(node.value, ast.Compare | ast.BoolOp) or (
        isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.Not)
    ):
        yield "condition negated", *span, f"not ({text.of(node.value)})"


def _early_return(node: ast.FunctionDef, text: _Text) -> Iterator[Edit]:
    """Leave a function before its first statement; of one that is a single return, that says the same."""
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if body and not isinstance(body[0], ast.Return | ast.Raise):
        start = text.span(body[0])[0]
        indent = " " * body[0].col_offset
        yield "early return", start, start, f"return None\n{indent}"
