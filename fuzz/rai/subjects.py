"""Subjects, wildcards and patterns at random: as RV, Redis and PCRE spell them, and broken as each may be."""

from random import Random

from fuzz.net.texts import MANY, UNUSUAL, TextLanguage
from wire.rai.wildcards import pattern_of_glob, pattern_of_rv

SERVED = "LAB."
"""How the subjects begin that a publisher under test serves."""

SUBJECTS = TextLanguage(
    ".", ("*", ">"), ("..", "_", "*.", ".>", ">.", "**", "?", "[", "]", "\\", "$", "-", "^", "{", "%")
)
NAMES = TextLanguage(".", (), (), longest=2000)
"""Subjects alone, without wildcards; no longer than brokers take from who subscribes to them."""

GLOBS = TextLanguage(
    ".",
    ("*", "?", "[ab]", "[^a]", "[a-c]"),
    # A bracket that is not closed is what such programs look for the end of.
    ("[", "[", "[a", "[a-", "[^", "]", "[]", "[^]", "\\", "[z-a]", "**", "[\\]"),
)
RETURNS = TextLanguage(".", ("*", ">"), ("..", "_", ".", "auth", "dict", "get_subs", "$", "/"), ("1", "2", "a", "subs"))

PIECES = (
    *("(?s)", "\\A", "LAB", "\\.", "[^.]+", ".", ".*", ".*?", "a", "b", "\\z", "\\Z", "$", "^", "|"),
    *("(a|b)", "(?:a)", "(a+)+", "(a*)*", "(a|a)*", "(.*)*", "a{2}", "a{0,3}", "a{1000}", "(a{30}){30}", "a{65536}"),
    *(
        "[a-c]",
        "[^a]",
        "[]",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "*",
        "+",
        "?",
        "??",
        "\\",
        "\\d",
        "\\w",
        "\\x41",
        "\\x{10FFFF}",
    ),
    *(
        "(?i)",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?>a)",
        "(?<n>a)",
        "\\1",
        "\\k<n>",
        "\\p{L}",
        "\\Qa\\E",
        "\\b",
        "(?R)",
        "(*F)",
    ),
    *("\\x{110000}", "\\u0041", "(?#a)", "(?x)", "[[:alpha:]]", "\\c", "\u00e9", "\U0001f980", "\n", "\0"),
)
"""What patterns of PCRE are made of, and what is made of them by mistake."""


def subject(random: Random) -> str:
    """Return a subject that is served, nearly always: few, so that they have to do with each other.

    Once in a while it is one that few think of.
    """
    if random.random() < UNUSUAL:
        return SERVED + NAMES.unusual(random)
    names = SUBJECTS.names
    count = random.choice((1, 1, 1, 2, 2, 3))
    text = SUBJECTS.separator.join(names[min(int(random.expovariate(0.8)), len(names) - 1)] for _ in range(count))
    return (SERVED if random.random() < 0.96 else "") + text


def wildcard(random: Random) -> tuple[str, str]:
    """Return a wildcard as RV spells it, and a pattern for it."""
    kind = random.random()
    spelt = SERVED + SUBJECTS.text(random) if kind < 0.8 else SUBJECTS.text(random)
    if ">" in spelt[:-1]:
        spelt = spelt[: spelt.index(">") + 1]
    if kind < 0.55 or kind >= 0.9:
        return spelt, pattern_of_rv(spelt)
    if kind < 0.75:
        return spelt, pattern_of_glob(SERVED + GLOBS.text(random))
    return spelt, pattern(random)


def pattern(random: Random) -> str:
    """Return a pattern that may be one."""
    found = "".join(random.choices(PIECES, k=random.choice((1, 2, 3, 4, 6, 10))))
    if random.random() < 0.1:
        found = random.choice(("(", "(?:", "[", "a?")) * random.choice(MANY) + found
    return found if random.random() < 0.3 else f"(?s)\\ALAB\\.{found}"


def broken_subject(random: Random) -> bytes:
    """Return what may be a subject no more."""
    broken = SUBJECTS.broken(random)
    return SERVED.encode() + broken if random.random() < 0.85 else broken


def broken_wildcard(random: Random) -> bytes:
    """Return what may be no wildcard any more, as RV or as Redis spells it."""
    return broken_subject(random) if random.random() < 0.5 else SERVED.encode() + GLOBS.broken(random)


def broken_return(random: Random) -> bytes:
    """Return what may be no end of a subject."""
    return RETURNS.broken(random)


def broken_pattern(random: Random) -> bytes:
    """Return a pattern that may be none, or one of a wildcard that is broken."""
    if random.random() < 0.5:
        return pattern(random).encode()
    try:
        return pattern_of_glob(SERVED + GLOBS.broken(random)[:2000].decode(errors="replace")).encode()
    except ValueError:
        return GLOBS.broken(random)
