"""Symptoms: what shows that something is wrong with an implementation, and by what two of them are one."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from conformance.contract.signatures import signature
from fuzz.net.moves import EndsSession, GivesCommand, NetworkTest, Opens, Says
from wire.message_lines import MessageLine, message_lines

KINDS = {
    "crash": "the implementation crashes",
    "hang": "the implementation answers nobody any more",
    "service": "the implementation does not do any more what it is there for",
    "harm": "somebody who did nothing wrong is harmed",
    "growth": "the implementation takes more and more of the machine",
    "rule": "a rule of the document is broken",
}
"""What a symptom may be of."""

_PLACES = (
    # The last one counts of Python, whose innermost frame comes last; the first of all others.
    # Of sanitizers: a name of the file without folders, which are those of who built it, and no values.
    re.compile(r"(?P<place>[^/\s]+:\d+:\d+): (?P<why>runtime error: [^\n]{1,120})"),
    re.compile(
        r"^SUMMARY: (?P<why>\w+Sanitizer: [\w-]+) (?:[^\n]*/)?(?P<place>[^/\s]+\.\w+:\d+(?::\d+)?)(?: in[^\n]*)?$",
        re.MULTILINE,
    ),
    # The summary names a function of the sanitizer: the first frame says more that is none of its own, by its file or,
    # where that is not known, by its place in the program.
    re.compile(
        r"==\d+==ERROR: (?P<why>\w+Sanitizer: [\w-]+)[\s\S]*?"
        r"\n\s*#\d+ 0x[0-9a-f]+ in \S+ (?:[^\n]*/)?(?!(?:sanitizer|interception|[almtu]\w*san)_)"
        r"(?P<place>[^/\s]+\.(?:c|cc|cpp|cxx|h|hpp|rs|go|m|zig):\d+(?::\d+)?)"
    ),
    re.compile(
        r"==\d+==ERROR: (?P<why>\w+Sanitizer: [\w-]+)[\s\S]*?"
        r"\n\s*#\d+ 0x[0-9a-f]+ +(?:in (?!__(?:sanitizer|interceptor|[almtu]\w*san)_)\S+ )?"
        r"\((?:[^\n]*/)?(?P<place>[^/\s)]+\+0x[0-9a-f]+)\)"
    ),
    re.compile(r"panicked at (?:[^\n]*/)?(?P<place>[^/\n]+\.rs:\d+)(?:[:\d]*\n(?P<why>(?:(?! at /)[^\n]){1,120}))?"),
    re.compile(r"(?P<place>memory allocation) of (?P<why>\d+ bytes failed)"),  # Rust's, which does not panic then
    re.compile(r"(?P<place>terminate called after throwing an instance of '[^']+')"),
    re.compile(r"(?P<place>[\w./-]+: [^\n]*Assertion `[^']+' failed)"),
    # Go: the frame in which it panicked, below those of the runtime.
    re.compile(
        r"(?:^|; )(?:panic|fatal error): (?P<why>(?:(?! at /)[^\n]){1,120})[\s\S]*?\ngoroutine \d+ \[[^\]]*\]:\n"
        r"(?:(?:panic|runtime\.[^\n(]+)\([^\n]*\n\t[^\n]*\n)*[^\n]*\n\t(?:[^\n]*/)?(?P<place>[^/\s]+\.go:\d+)",
        re.MULTILINE,
    ),
    # Redis: an assertion, or the function in which a signal came.
    re.compile(r"==> (?P<place>\w+\.c:\d+) '(?P<why>[^\n]{1,120}?)' is not true"),
    re.compile(r"(?P<why>crashed by signal: \d+)[\s\S]*?EIP:\n[^\n]*\((?P<place>\w+)\+"),
)
_PYTHON_FRAME = re.compile(
    r'^\s*File "(?:[^"]*/)?(?P<file>[^"/]+)", line (?P<line>\d+), in (?P<function>\S+)', re.MULTILINE
)
_PYTHON_ERROR = re.compile(
    r"^((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Exhausted|Overflow)\w*|[\w.]+\.error)\b", re.MULTILINE
)

RECURSED = 3
"""How often a frame stands in a traceback that has recursed: Python leaves further ones out."""

GROWS = "each time the test is played, it takes more {}"
GROWS_FAST = "played a few times, the test lets it take a gigabyte more memory"
"""What growth is said to be: of who took too much before it was known to go on, no more than that."""

_ENDED = re.compile(r"it ended with status -?\d+")
"""What an instance says of a process that has ended, before what that has printed."""

SHORT = 1000
"""Bytes of the longest messages whose kinds are remembered."""

NAMED = 3
"""Kinds of messages, the last ones of a test, by which symptoms are told apart that have no place."""


class Symptom(msgspec.Struct, frozen=True):
    """What was seen: its kind (``KINDS``), what happened in one line, the rule if one was broken.

    ``place`` is where a crash happened, as far as its output says; ``output`` the last that was printed; ``about`` what
    was said at last in the smallest test that does it.
    """

    kind: str
    what: str
    rule: str = ""
    place: str = ""
    output: str = ""
    about: tuple[str, ...] = ()

    @property
    def rough(self) -> str:
        """By what it is recognised before anything is known of the test: the same whatever the values are."""
        # Rules are said to be broken in words that name keys and values, and one who breaks one does so with many.
        if self.rule:
            return f"{self.kind}|{self.rule}|"
        # How soon somebody who grows has taken too much is chance.
        what = GROWS.format("memory") if self.what == GROWS_FAST else self.what
        return f"{self.kind}||{self.place or normal(what)}"

    @property
    def says_where(self) -> bool:
        """Whether it says by itself what is wrong: two that say the same are one."""
        return bool(self.place or self.rule)

    @property
    def key(self) -> str:
        """By what two findings are one."""
        return self.rough if self.says_where else f"{self.rough}|{' + '.join(self.about)}"

    @property
    def digest(self) -> str:
        """``key``, in eight characters."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:8]


def normal(what: str) -> str:
    """Return what happened without what differs from run to run."""
    # By which signal a process ended is said in numbers, and is no value.
    ended = _ENDED.match(what)
    return ended[0] if ended else signature(what)


def crash(output: str, signs: Sequence[str] = ()) -> Symptom:
    """Return the symptom of a process that has died, or in which something has, by what it printed at last.

    ``signs`` are texts by which its lines tell of a crash.
    """
    place, why = crash_place(output)
    if place:
        return Symptom("crash", ": ".join(filter(None, (place, why))), place=place, output=output)
    # What it printed else may be a log, with times, of which any line may be the first that is left.
    told = next((line.strip() for line in output.splitlines() if any(sign in line for sign in signs)), "")
    ended = _ENDED.match(output)
    return Symptom("crash", told or (ended[0] if ended else "without a word"), output=output)


def crash_place(output: str) -> tuple[str, str]:
    """Return where a process died, by the words of sanitizers, panics and tracebacks, and why if they say it.

    Both are empty when nothing says it.
    """
    for pattern in _PLACES:
        if found := pattern.search(output):
            return " ".join(found["place"].split()), " ".join((found.groupdict().get("why") or "").split())
    frames, errors = list(_PYTHON_FRAME.finditer(output)), _PYTHON_ERROR.findall(output)
    if not frames:
        return "", ""
    functions = [(each["file"], each["function"]) for each in frames]
    # Where it recursed too deeply is chance: what it went through again and again is not.
    again = [each for each in functions if functions.count(each) >= RECURSED] if "RecursionError" in errors[-1:] else []
    # Elsewhere the line counts as well: a function may die of several things.
    file, function = min(again) if again else (f"{frames[-1]['file']}:{frames[-1]['line']}", frames[-1]["function"])
    return f"{errors[-1] if errors else 'an exception'} in {function} ({file})", ""


def about(test: NetworkTest, layout: str, frames: str) -> tuple[str, ...]:
    """Return what a small test is about: the kinds of messages that are said last, and what ends or is told else.

    ``layout`` is that of messages, ``frames`` that of frames.
    """
    said: dict[str, None] = {}
    for move in test:
        for name in names_of(move, layout, frames):
            # Where it stands last: what comes before it mostly prepares it.
            said.pop(name, None)
            said[name] = None
    # What is refused says least: of what was said otherwise, that is what it was about.
    telling = [name for name in said if name != REFUSED] or list(said)
    return tuple(telling[-NAMED:])


def names_of(move: object, layout: str, frames: str) -> Sequence[str]:
    """Return the kinds of what a move says, ends or tells, whatever the values are."""
    match move:
        case Says(level="raw"):
            return [RAW]
        case Says(level=level, data=data):
            return [name for each in data for name in kinds_of(layout if level == "message" else frames, each)]
        case EndsSession(verb=verb):
            return [verb]
        case GivesCommand(verb=verb):
            return [f"command {verb}"]
        case Opens(how=how) if how:
            return [f"session as {how}"]
        case _:
            return []


def kinds_of(layout: str, data: bytes) -> tuple[str, ...]:
    """Return the kinds of the messages in some bytes; what is refused is one of them.

    What says the same again and again is a kind of its own: it hangs or fills who has no trouble with what is said
    otherwise, and would be taken for that if it came by the same name.
    """
    return _remembered(layout, data) if len(data) <= SHORT else _kinds_of(layout, data)


def _kinds_of(layout: str, data: bytes) -> tuple[str, ...]:
    return tuple(_kind_of(line, data) for line in message_lines(layout, data) if line.name)


# Tests are made of others, and the same messages are looked at again and again.
_remembered = lru_cache(20_000)(_kinds_of)


def _kind_of(line: MessageLine, data: bytes) -> str:
    if line.name.startswith("refused"):
        return REFUSED
    return f"{REPETITIVE} {line.name}" if _AGAIN_AND_AGAIN.search(data, line.start, line.end) else line.name


REPETITIVE = "repetitive"
_AGAIN_AND_AGAIN = re.compile(rb"([\x20-\xf7]{1,8}?)\1{7}")
"""A few bytes as texts have them, eight times in a row; others are numbers, and zeros mostly."""

RAW = "bytes of the stream"
REFUSED = "what no layout accepts"
