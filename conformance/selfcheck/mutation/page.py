"""The mutation score as a page in Markdown: for each peer its functions, and what need not be noticed, with reasons."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.catalogue.rules import Profile
from conformance.selfcheck.mutation.score import Score

COLUMNS = ("killed", "equivalent", "legal", "open", "unexplained", "error")


def page(protocol: str, profile: Profile, scores: Sequence[Score]) -> str:
    """Write the scores of a protocol's peers."""
    lines = [
        f"# The mutation score of {protocol}",
        "",
        f"Made by `goldwire selfcheck {protocol} --mutants --profile {profile} --write FILE`. The source of each",
        "reference peer is changed by machine, one place at a time, and the gate has to notice",
        "([selfcheck.md](selfcheck.md)). The score is of what is neither equivalent (it does the same) nor legal (the",
        "documents allow it, or do not speak of it). What a run finds out is kept, and holds as long as no source has",
        "changed; so this is of one state of all sources, also where a run was ended and gone on with.",
        "",
        *_taken(scores),
        f"| role | mutants | {' | '.join(COLUMNS)} | score |",
        f"|---|---|{'---|' * len(COLUMNS)}---|",
    ]
    for score in scores:
        counts: Counter[str] = Counter()
        for (_, column), count in _by_function(score).items():
            counts[column] += count
        cells = " | ".join(str(counts[each]) for each in COLUMNS)
        lines.append(f"| {score.role} | {counts.total()} | {cells} | {score.score:.1%} of {score.counted} |")
    for score in scores:
        lines += ["", f"## {score.role}", "", *_functions(score), "", *_entries(score)]
    return "\n".join(lines).rstrip() + "\n"


def _taken(scores: Sequence[Score]) -> Iterator[str]:
    """Say what was not played for the page."""
    if any(score.taken for score in scores):
        count = ", ".join(f"{score.taken} of the {score.role}'s" for score in scores)
        yield f"Of what the list explains, some was not played (`--unlisted`), and stands here as listed: {count}."
        yield ""


def _by_function(score: Score) -> Counter[tuple[str, str]]:
    found = Counter((each.mutant.place, "killed") for each in score.killed)
    found.update((each.mutant.place, entry.why) for each, entry in score.excused)
    found.update((each.mutant.place, "unexplained") for each in score.unexplained)
    found.update((each.mutant.place, "error") for each in score.stumbled)
    return found


def _functions(score: Score) -> Iterator[str]:
    counts = _by_function(score)
    yield f"| function | {' | '.join(COLUMNS)} |"
    yield f"|---|{'---|' * len(COLUMNS)}"
    for place in dict.fromkeys(sorted(place for place, _ in counts)):
        yield f"| `{place}` | {' | '.join(str(counts[place, each] or '') for each in COLUMNS)} |"


def _entries(score: Score) -> Iterator[str]:
    """Yield what the list says, with how many mutants each entry stands for."""
    counts = Counter(entry for _, entry in score.excused)
    if not counts:
        return
    yield "| function | line | becomes | mutants | why |"
    yield "|---|---|---|---|---|"
    for entry, count in counts.items():
        line, becomes = _code(entry.line) or "any", "<br>".join(map(_code, entry.changes)) or "anything"
        yield f"| `{entry.function}` | {line} | {becomes} | {count} | {entry.why}: {entry.reason} |"


def _code(text: str) -> str:
    """Return code for a cell, in which a bar would begin the next."""
    return f"`{text}`".replace("|", "\\|") if text else ""
