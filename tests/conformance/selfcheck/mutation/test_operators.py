"""Mutants: which changes are made of a text, and that each is one that somebody could have written."""

import ast
import textwrap
from pathlib import Path

import pytest

from conformance.selfcheck.mutation.operators import mutants_of


def changes(source):
    """Return what the changed lines of a source become, with the operator's name."""
    text = source.encode()
    return {(each.operator, "\n".join(each.lines(text)[1]).strip()) for each in mutants_of("m", text)}


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("if a: b()", ("condition negated", "if not (a): b()")),
        ("if a: b()", ("condition dropped", "if True: b()")),
        ("if a: b()", ("condition dropped", "if False: b()")),
        ("while a: b()", ("condition negated", "while not (a): b()")),
        ("x = b if a else c", ("condition negated", "x = b if not (a) else c")),
        ("x = [a for a in b if a]", ("condition dropped", "x = [a for a in b if True]")),
        ("x = a and b", ("and for the other", "x = a or b")),
        ("x = a and b", ("condition dropped", "x = b")),
        ("x = a and b", ("condition dropped", "x = a")),
        ("x = a or b or c", ("condition dropped", "x = a or c")),
        ("x = not a", ("not left out", "x = a")),
        ("x = a == b", ("comparison", "x = a != b")),
        ("x = a < b", ("comparison", "x = a <= b")),
        ("x = a >= b", ("comparison", "x = a > b")),
        ("x = a < b < c", ("comparison", "x = a < b <= c")),
        ("x = a not in b", ("comparison", "x = a in b")),
        ("x = a is not None", ("comparison", "x = a is None")),
        ("x = a + 1", ("arithmetic", "x = a - 1")),
        ("x = a << 2", ("arithmetic", "x = a >> 2")),
        ("x += 1", ("arithmetic", "x -= 1")),
        ("x = 7", ("constant moved by one", "x = 8")),
        ("x = 7", ("constant moved by one", "x = 6")),
        ("x = True", ("constant", "x = False")),
        ("x = 'word'", ("constant", 'x = ""')),
        ("x = (a, b)", ("element left out", "x = (b)")),
        ("x = {a, b}", ("element left out", "x = {a}")),
        ("x = min(a, b)", ("opposite function", "x = max(a, b)")),
        ("f(a, b, k=c)", ("arguments swapped", "f(b, a, k=c)")),
        ("f(a)", ("statement left out", "pass")),
        ("del a[0]", ("statement left out", "pass")),
        ("raise A", ("statement left out", "pass")),
        ("for a in b: continue", ("break for continue", "for a in b: break")),
        ("for a in b: break", ("continue for break", "for a in b: continue")),
    ],
)
def test_a_line_becomes(line, becomes):
    assert becomes in changes(line)


FUNCTION = '''
def f(a):
    """What it does."""
    b = a
    return b == a
'''


def test_a_function_is_left_early_or_returns_nothing_or_the_opposite():
    found = changes(FUNCTION)
    assert ("early return", "return None\n    b = a") in found
    assert ("nothing returned", "return None") in found
    assert ("condition negated", "return not (b == a)") in found


def test_none_is_as_false_as_false():
    assert changes("def f():\n    return False") == {("constant", "return True")}
    assert ("nothing returned", "return None") in changes("def f():\n    return 0")


MATCHED = """
match a:
    case A() | B():
        c()
    case D() if e:
        f()
"""


def test_a_case_of_a_match_is_left_out():
    found = changes(MATCHED)
    assert ("case left out", "case None if False:") in found
    assert ("alternative left out", "case A():") in found
    assert ("alternative left out", "case B():") in found
    assert ("condition negated", "case D() if not (e):") in found


def test_what_nothing_depends_on_is_left_alone():
    """Annotations, docstrings, imports, decorators: they say the same whatever stands there."""
    source = '"""A page of 1."""\nfrom a import b\n\n@c(1)\ndef f(x: int | None) -> int | None:\n    """One of 2."""\n'
    assert not changes(source)


def test_functions_are_named_and_lines_counted():
    [*_, last] = mutants_of("m", b"class A:\n    def f(self):\n        return 1\n")
    assert (last.module, last.function, last.line) == ("m", "A.f", 3)


def test_bytes_beyond_ascii_do_not_shift_a_change():
    assert ("comparison", 'x = "§ …" != y') in changes('x = "§ …" == y')


def test_every_mutant_compiles_and_differs():
    source = Path(textwrap.__file__).read_bytes()
    found = mutants_of("textwrap", source)
    assert len(found) > 100
    for each in found[::7]:
        assert each.apply(source) != source
        ast.parse(each.apply(source))
