"""The page of the mutation score: every function, what is not noticed, and why."""

from conformance.selfcheck.mutation.listed import ListedMutant
from conformance.selfcheck.mutation.operators import mutants_of
from conformance.selfcheck.mutation.page import page
from conformance.selfcheck.mutation.playing import PlayedMutant
from conformance.selfcheck.mutation.score import Score

ONE, TWO, THREE, FOUR = mutants_of("m.n", b"def f(a):\n    return a | 1\n")[:4]


def test_the_page_counts_by_function_and_gives_the_reasons():
    entry = ListedMutant("m.n.f", "legal", "either way", line="return a | 1", becomes=("return a & 1", "return None"))
    score = Score(
        "p",
        "r",
        (PlayedMutant(ONE, "killed", "R-1 a case (case)"), PlayedMutant(TWO, "endless")),
        ((PlayedMutant(THREE, "survived"), entry),),
        (PlayedMutant(FOUR, "never played"),),
        (),
    )
    text = page("p", "document", [score])
    assert "| r | 4 | 2 | 0 | 1 | 0 | 1 | 0 | 66.7% of 3 |" in text
    assert "| `m/n.py:f` | 2 |  | 1 |  | 1 |  |" in text
    assert "| `m.n.f` | `return a \\| 1` | `return a & 1`<br>`return None` | 1 | legal: either way |" in text
    assert "was not played" not in text


def test_the_page_says_what_was_not_played():
    entry = ListedMutant("m.n.f", "legal", "either way")
    score = Score("p", "r", (), ((PlayedMutant(ONE, "listed"), entry), (PlayedMutant(TWO, "survived"), entry)), (), ())
    assert "stands here as listed: 1 of the r's." in page("p", "document", [score])
