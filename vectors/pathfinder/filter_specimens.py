"""Frames of the layouts ``pathfinder/filter`` and ``pathfinder/deployed-filter``, for generators and vectors.

::

    rng ──sample──► value
    frame ──MUTATIONS──► frame that is almost it
    specimens, large_specimens ──► every branch of the grammar, every refusal, every bound, by name
    frame ──exercised──► the branches of the grammar that it takes, of those in ``every_branch``
"""

from collections.abc import Iterator
from functools import partial
from random import Random

from vectors.language.samples import Below, Mutation, Samples, TextSpecimen
from vectors.pathfinder import filter_samples
from wire.derivation import NoDerivation, derive
from wire.networks import Branch, branches
from wire.pathfinder import grammar_filters
from wire.pathfinder.filter_language import Value, value_of
from wire.pathfinder.filters import SPECIALS
from wire.pathfinder.grammar import LARGEST


def sample(rng: Random, *, deployed: bool = False) -> Value:
    """Make the value of a filter, which has a frame."""
    return value_of(filter_samples.sample(rng, deployed=deployed))


def parts(frame: bytes) -> list[tuple[int, int]]:
    """Return where each filter within a frame begins and ends, inner ones first, as far as parentheses pair."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    escaped = False
    for at, byte in enumerate(frame):
        if escaped:
            escaped = False
        elif byte == _ESCAPE:
            escaped = True
        elif byte == _OPENS:
            opened.append(at)
        elif byte == _CLOSES and opened:
            found.append((opened.pop(), at + 1))
    return found


_ESCAPE, _OPENS, _CLOSES = b"\\()"


def every_branch(*, deployed: bool = False) -> frozenset[Branch]:
    """Return the branches of the grammar."""
    return branches(grammar_filters.deployed if deployed else grammar_filters.document)


def exercised(frame: bytes, *, deployed: bool = False) -> frozenset[Branch]:
    """Return the branches that a frame takes; none if it is no filter."""
    try:
        return derive(grammar_filters.deployed if deployed else grammar_filters.document, frame.decode()).branches
    except (NoDerivation, UnicodeDecodeError):
        return frozenset()


# Mutations

_SPECIALS = SPECIALS.encode()


def _places(frame: bytes, characters: bytes) -> list[int]:
    return [at for at, byte in enumerate(frame) if byte in characters]


def _dropped(characters: bytes) -> Mutation:
    def drop(frame: bytes, below: Below) -> bytes | None:
        places = _places(frame, characters)
        if not places:
            return None
        at = places[below(len(places))]
        return frame[:at] + frame[at + 1 :]

    return drop


def _doubled(characters: bytes) -> Mutation:
    def double(frame: bytes, below: Below) -> bytes | None:
        places = _places(frame, characters)
        if not places:
            return None
        at = places[below(len(places))]
        return frame[:at] + frame[at : at + 1] + frame[at:]

    return double


def _exchanged(characters: bytes) -> Mutation:
    def exchange(frame: bytes, below: Below) -> bytes | None:
        places = _places(frame, characters)
        if not places:
            return None
        at = places[below(len(places))]
        others = characters.replace(frame[at : at + 1], b"")
        other = below(len(others))
        return frame[:at] + others[other : other + 1] + frame[at + 1 :]

    return exchange


def _inserted(*pieces: bytes) -> Mutation:
    def insert(frame: bytes, below: Below) -> bytes:
        at, piece = below(len(frame) + 1), pieces[below(len(pieces))]
        return frame[:at] + piece + frame[at:]

    return insert


def _inside(*pieces: bytes) -> Mutation:
    """Insert before a character that ends a key or a value, so that it becomes part of that."""

    def insert(frame: bytes, below: Below) -> bytes | None:
        places = [at for at in _places(frame, b"=<>*)") if at and frame[at - 1] not in b"\\)"]
        if not places:
            return None
        at, piece = places[below(len(places))], pieces[below(len(pieces))]
        return frame[:at] + piece + frame[at:]

    return insert


def _wrapped(begins: bytes, ends: bytes) -> Mutation:
    return lambda frame, below: begins + frame + ends


def _unwrapped(frame: bytes, below: Below) -> bytes | None:
    return frame[1:-1] if len(frame) > 1 else None


def _cut(frame: bytes, below: Below) -> bytes | None:
    return frame[: below(len(frame))] if frame else None


def _part_doubled(frame: bytes, below: Below) -> bytes | None:
    """Write an item twice."""
    ends = [at for at in _places(frame, b")") if frame[at - 1 : at] != b"\\" and frame.rfind(b"(", 0, at) >= 0]
    if not ends:
        return None
    end = ends[below(len(ends))] + 1
    start = frame.rfind(b"(", 0, end)
    return frame[:end] + frame[start:end] + frame[end:]


def _part_dropped(frame: bytes, below: Below) -> bytes | None:
    """Take an item out."""
    ends = [at for at in _places(frame, b")") if frame[at - 1 : at] != b"\\" and frame.rfind(b"(", 0, at) > 0]
    if not ends:
        return None
    end = ends[below(len(ends))] + 1
    return frame[: frame.rfind(b"(", 0, end)] + frame[end:]


def _key_dropped(frame: bytes, below: Below) -> bytes | None:
    """Take what stands between a parenthesis and an operator away."""
    places = [at for at in _places(frame, b"=<>") if frame.rfind(b"(", 0, at) >= 0]
    if not places:
        return None
    at = places[below(len(places))]
    return frame[: frame.rfind(b"(", 0, at) + 1] + frame[at:]


def _value_dropped(frame: bytes, below: Below) -> bytes | None:
    """Take what stands between an operator and a parenthesis away."""
    places = [at for at in _places(frame, b"=<>") if frame.find(b")", at) >= 0]
    if not places:
        return None
    at = places[below(len(places))]
    return frame[: at + 1] + frame[frame.find(b")", at) :]


MUTATIONS: tuple[tuple[str, Mutation], ...] = (
    ("drop parenthesis", _dropped(b"()")),
    ("double parenthesis", _doubled(b"()")),
    ("turn parenthesis", _exchanged(b"()")),
    ("drop operator", _dropped(b"&|!=<>")),
    ("double operator", _doubled(b"&|!=<>")),
    ("exchange operator", _exchanged(b"=<>")),
    ("exchange composite", _exchanged(b"&|!")),
    ("drop escape", _dropped(b"\\")),
    ("double escape", _doubled(b"\\")),
    ("drop asterisk", _dropped(b"*")),
    ("double asterisk", _doubled(b"*")),
    ("asterisk inside", _inside(b"*", b"**", b"*a*")),
    ("insert special", _inserted(*(SPECIALS[at : at + 1].encode() for at in range(len(SPECIALS))))),
    ("special inside", _inside(*(SPECIALS[at : at + 1].encode() for at in range(len(SPECIALS))))),
    ("escaped inside", _inside(*(b"\\" + special.encode() for special in SPECIALS))),
    ("ordinary escaped inside", _inside(b"\\a", b"\\}", b"\\\0", b"\\\xc3\xa9", b"\\")),
    ("brace inside", _inside(b"}", b"{}")),
    ("NUL inside", _inside(b"\0")),
    ("text inside", _inside(b" ", b"\n", b"\x01", b"\x7f", "é".encode(), "日".encode(), "\U0010ffff".encode())),
    ("integer inside", _inside(b"0", b"-", b"-0", b"7", b"00", b"+1", b"1.5")),
    ("not UTF-8 inside", _inside(b"\x80", b"\xc0\x80", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff")),
    ("not UTF-8 at the end", lambda frame, below: frame + (b"\x80", b"\xc3", b"\xf0\x9f")[below(3)]),
    ("white space", _inserted(b" ", b"\n", b"\t")),
    ("cut", _cut),
    ("drop parentheses", _unwrapped),
    ("add parentheses", _wrapped(b"(", b")")),
    ("not of it", _wrapped(b"(!", b")")),
    ("and of one", _wrapped(b"(&", b")")),
    ("or of two", _wrapped(b"(|(a=b)", b")")),
    ("another after it", lambda frame, below: frame + (b"(a=b)", b")", b" ", b"x")[below(4)]),
    ("double part", _part_doubled),
    ("drop part", _part_dropped),
    ("drop key", _key_dropped),
    ("drop value", _value_dropped),
    ("byte order mark", _wrapped(b"\xef\xbb\xbf", b"")),
)
"""Named changes of a frame. What comes of one may be a filter or not."""


def mutated(rng: Random, frame: bytes) -> tuple[str, bytes]:
    """Return a frame with one mutation that it can have, and the mutation's name."""
    while True:
        name, change = MUTATIONS[rng.randrange(len(MUTATIONS))]
        made = change(frame, rng.randrange)
        if made is not None:
            return name, made


# Specimens


def specimens() -> Iterator[TextSpecimen]:
    """Give small frames that take every branch of the grammar in either reading, and have every refusal."""
    for about, texts in _TEXTS.items():
        for name, text in texts.items():
            yield TextSpecimen(name, text.encode(), about)
    for special in SPECIALS:
        yield TextSpecimen(f"{special} escaped", f"(a\\{special}=\\{special}x)".encode(), "escapes")
        yield TextSpecimen(f"{special} in a key", f"(a{special}b=c)".encode(), "escapes")
        yield TextSpecimen(f"{special} in a value", f"(a=b{special}c)".encode(), "escapes")
    for character in _EDGES:
        code = f"U+{ord(character):04X}"
        yield TextSpecimen(f"{code} in a key", f"(a{character}=b)".encode(), "characters")
        yield TextSpecimen(f"{code} in a value", f"(a=b{character})".encode(), "characters")
        yield TextSpecimen(f"{code} escaped", f"(a=\\{character})".encode(), "characters")
    for number in (*_NUMBERS, *_NO_NUMBERS):
        yield TextSpecimen(f"greater than {number or 'nothing'}", f"(a>{number})".encode(), "numbers")
        yield TextSpecimen(f"less than {number or 'nothing'}", f"(a<{number})".encode(), "numbers")
    for name, frame in _BYTES.items():
        yield TextSpecimen(name, frame, "encoding")
    for cut in range(len(_CUT)):
        yield TextSpecimen(f"cut after {cut}", _CUT[:cut], "beginnings")


def large_specimens() -> Iterator[TextSpecimen]:
    """Give frames that are large: at the bounds, nested deep, of many parts."""
    yield from _at_the_limit()
    yield TextSpecimen("nots nested 20000 deep", b"(!" * 20_000 + b"(a=b)" + b")" * 20_000)
    yield TextSpecimen("nots nested 20000 deep, one not closed", b"(!" * 20_000 + b"(a=b)" + b")" * 19_999)
    yield TextSpecimen("ands nested 5000 deep", b"(&(a=b)" * 5000 + b"(a=b)" + b")" * 5000)
    yield TextSpecimen("50000 asterisks", b"(a=" + b"*" * 50_000 + b")")
    yield TextSpecimen("20000 substrings", b"(a=" + b"*a" * 20_000 + b"*b)")
    yield TextSpecimen("5000 operands", b"(|" + b"(a=b)" * 5000 + b")")


def _at_the_limit() -> Iterator[TextSpecimen]:
    for length in (LARGEST, LARGEST + 1):
        yield TextSpecimen(f"{length} bytes", b"(a=" + b"x" * (length - 4) + b")", "sizes")


def _golden_specimens() -> Iterator[TextSpecimen]:
    """Give those for vectors: what is large and does not repeat one byte would make long files."""
    yield from specimens()
    yield from _at_the_limit()
    yield TextSpecimen("50000 asterisks", b"(a=" + b"*" * 50_000 + b")", "sizes")
    yield TextSpecimen("nots nested 1100 deep", b"(!" * 1100 + b"(a=b)" + b")" * 1100, "sizes")
    yield TextSpecimen("nots nested 1100 deep, one not closed", b"(!" * 1100 + b"(a=b)" + b")" * 1099, "sizes")
    yield TextSpecimen("100 operands", b"(|" + b"(a=b)" * 100 + b")", "sizes")


_CUT = "(&(é\\==b*c)(!(a>-10)))".encode()

_EDGES = "\0\x01 !\"%&'(+;?[]{}~\x7f\x80\u07ff\u0800\ud7ff\ue000\ufeff\ufffd\ufffe\uffff\U00010000\U0010ffff"
"""Characters at either side of what the grammar tells apart, and of what UTF-8 does."""

_BOUNDS = (2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**100)
_NUMBERS = ("0", "1", "9", "10", "42", "-0", "-1", "-90", *map(str, _BOUNDS))
_NO_NUMBERS = ("", "-", "--1", "00", "007", "-01", "+5", " 5", "5 ", "1.5", "1e3", "0x10", "1_0", "x", "٣")

_TEXTS: dict[str, dict[str, str]] = {
    "operators": {
        "equal": "(name=service-a)",
        "greater or equal": "(a>=5)",
        "not equal": "(a!=b)",
        "two operators": "(a==b)",
        "only a key": "(a)",
        "asterisk in a comparison": "(a>5*)",
    },
    "empty strings": {
        "equal to nothing": "(a=)",
        "no key": "(=b)",
        "no key, greater": "(>5)",
        "no key, present": "(=*)",
        "no key and no value": "(=)",
    },
    "substrings": {
        "present": "(a=*)",
        "initial": "(a=b*)",
        "final": "(a=*b)",
        "initial and final": "(a=b*c)",
        "any": "(a=*b*)",
        "any of two": "(a=*b*c*)",
        "all of a substring": "(a=b*c*d*e)",
        "two asterisks": "(a=**)",
        "three asterisks": "(a=***)",
        "two asterisks between": "(a=x**y)",
        "asterisks, one escaped": "(a=*\\**)",
        "asterisk in a key": "(a*=b)",
    },
    "composites": {
        "and of two": "(&(a=b)(version>11))",
        "and of three": "(&(a=b)(c<5)(d=*))",
        "and of one": "(&(a=b))",
        "and of none": "(&)",
        "or of two": "(|(a=b)(c=d))",
        "or of three": "(|(a=b)(c=d)(e=f*))",
        "or of one": "(|(a=b))",
        "or of none": "(|)",
        "not": "(!(a=b))",
        "not not": "(!(!(a=b)))",
        "not of none": "(!)",
        "not of two": "(!(a=b)(c=d))",
        "not without parentheses": "(!a=b)",
        "of all": "(&(|(a=b)(c=*)(!(d>5)))(!(&(e<-5)(f=g*h)))(i=))",
    },
    "parentheses": {
        "nothing": "",
        "no parentheses": "a=b",
        "empty parentheses": "()",
        "double parentheses": "((a=b))",
        "parenthesis too many": "(a=b))",
        "two filters": "(a=b)(c=d)",
        "byte order mark": "\ufeff(a=b)",
    },
    "spaces": {
        "equal, of spaces": "( name = a space adventure )",
        "space before": " (a=b)",
        "space after": "(a=b) ",
        "space between operands": "(&(a=b) (c=d))",
    },
    "escapes": {
        "escape at the end": "(a=b\\",
        "escaped parenthesis at the end": "(a=b\\)",
        "two escapes": "(a=\\\\)",
        "value of escaped and not": "(a=\\*\\*b\\*)",
        "key of escapes": "(\\=\\<\\>=b)",
        "key of one escaped": "(\\*>5)",
        "key of escaped and not": "(\\*a\\*\\*=b)",
    },
}

_BYTES: dict[str, bytes] = {
    "stray continuation byte": b"(a=\x80)",
    "overlong NUL": b"(a=\xc0\x80)",
    "overlong asterisk": b"(a=\xc0\xaa)",
    "surrogate as UTF-8": b"(a=\xed\xa0\x80)",
    "beyond Unicode": b"(a=\xf4\x90\x80\x80)",
    "byte that is never UTF-8": b"(a=\xff)",
    "character not finished": b"(a=\xe6\x97)",
    "character cut at the end": b"(a=\xe6\x97",
    "character cut where none can stand": b"(&\xe6\x97",
    "character cut behind a filter": b"(a=b)\xe6",
    "not UTF-8 behind a filter": b"(a=b)\xff",
    "not UTF-8 behind an error": b"(a=b))\xff",
    "not UTF-8 at the beginning": b"\xff(a=b)",
    "not UTF-8 in a key": b"(a\xff=b)",
    "not UTF-8 behind characters of several bytes": "(é=日".encode() + b"\xff)",
    "error behind characters of several bytes": "(é=日\0)".encode(),
    "not UTF-8 behind an escape": b"(a=\\\xff)",
    "UTF-16": "(a=b)".encode("utf-16-le"),
}


def _samples(*, deployed: bool) -> Samples:
    return Samples(
        partial(sample, deployed=deployed),
        MUTATIONS,
        parts,
        _golden_specimens,
        grammar_filters.widest,
        grammar_filters.DISPUTED_DEPLOYED if deployed else grammar_filters.DISPUTED,
    )


LANGUAGES = {"filter": _samples(deployed=False), "deployed-filter": _samples(deployed=True)}
"""What the generators of frames have of these."""
