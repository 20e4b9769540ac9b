"""What is made for layouts that are a language: texts along its grammar, mutations, smaller texts, what is disputed."""

from collections import Counter
from itertools import islice
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vectors import kinds, strategies
from vectors.checks.check import check, check_only
from vectors.language.coverage import trace
from vectors.language.minimising import characters_of
from vectors.language.samples import samples
from vectors.language.sampling import heights
from vectors.minimising import minimise, values_of_smaller
from vectors.mutation import mutations
from vectors.notes import ProtocolNotes, judge, notes
from vectors.random_choices import RandomChoices
from vectors.sampling import drawing, stream
from wire.abnf import char, either, grammar, many, row
from wire.catalogue import grammars, layout
from wire.derivation import derives
from wire.engines import engine, present
from wire.errors import DecodeError, UnknownLayout
from wire.kinds import Language
from wire.pathfinder.grammar_filters import DISPUTED_DEPLOYED, deployed, document, widest
from wire.runtime import Codec

LAYOUTS = [name for name in grammars() if layout(name).is_text]
EACH = pytest.mark.parametrize("name", LAYOUTS)
FILTER, DEPLOYED, TEXT = "pathfinder/filter", "pathfinder/deployed-filter", "rai/text"
FILTERS = pytest.mark.parametrize("name", [FILTER, DEPLOYED])
ONCE = settings(database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def language(name):
    frame = layout(name).frame
    assert isinstance(frame, Language)
    return frame.grammar


def test_every_language_has_samples():
    assert {FILTER, DEPLOYED, TEXT} <= set(LAYOUTS)
    for name in LAYOUTS:
        assert samples(name).mutations
    for name in ("zenoh/batch", "nobody/nothing", "pathfinder/message"):
        with pytest.raises(UnknownLayout, match=name):
            samples(name)


# Texts along a grammar


def test_the_flattest_text_of_a_rule():
    rules = grammar(
        {
            "list": row(char(0x5B), many("item"), char(0x5D)),
            "item": either(row("list", "word"), "word"),
            "word": many("letter", least=1),
            "letter": either(char(0x61), "escaped"),
            "escaped": row(char(0x5C), char(0x61)),
        }
    )
    assert heights(rules) == {"list": 0, "item": 2, "word": 1, "letter": 0, "escaped": 0}


DRAWN = {FILTER: 1500, DEPLOYED: 1500, TEXT: 10_000}
"""Texts in which all of a grammar is met: words of Rai that begin as ``false`` does, and go on otherwise, are rare."""


@pytest.mark.slow  # many texts, each derived by the document's grammar
@EACH
def test_drawn_texts_are_of_the_grammar_and_take_all_of_it(name):
    """By the grammar alone: what stands at the edges of each range, empty texts, all that may be nested."""
    draw, bits = drawing(layout(name), RandomChoices(overlong=True)), Random(11).getrandbits
    met = set()
    for _ in range(DRAWN[name]):
        value, data = draw(bits)
        assert engine("python").codec(name).decode(data) == value
        met |= trace(name, data).branches
    refusals = {branch for branch in kinds.branches(name) if not branch.path}
    assert set(kinds.branches(name)) - refusals == met


@EACH
def test_half_of_a_stream_is_valid_and_the_rest_almost(name):
    accepted, names = Counter(), Counter()
    for data, mutated in islice(stream(layout(name), 4), 1500):
        try:
            engine("python").decode(name, data)
        except DecodeError as error:
            accepted[error.reason.value] += 1
            assert mutated
        else:
            accepted["valid" if not mutated else "still"] += 1
        names.update(mutated)
    assert accepted["valid"] == 750
    assert accepted["still"] > 75
    assert min(accepted[reason] for reason in ("truncated", "trailing", "bad-syntax", "bad-text")) > 15, accepted
    assert {each for each, _ in samples(name).mutations} <= set(names)


SPLICED = {
    FILTER: (b"(|(a=b)(c=d))", b"(!(e=f))", {b"(|(e=f)(c=d))", b"(|(!(e=f))(c=d))", b"(|(a=b)(e=f))", b"(!(e=f))"}),
    TEXT: (b"{a:{b:1},c:[]}", b"[{d:2}]", {b"{a:{d:2},c:[]}", b"{a:[{d:2}],c:[]}", b"{a:{b:1},c:{d:2}}", b"[{d:2}]"}),
}
SPLICED[DEPLOYED] = SPLICED[FILTER]


@EACH
def test_parts_are_exchanged_between_frames(name):
    frame, other, wanted = SPLICED[name]
    rng, found = Random(2), set()
    for _ in range(4000):
        data, what = mutations(layout(name)).once(frame, rng.randrange, (other,))
        found |= {data} if what == "splice with another frame" else set()
    assert wanted <= found


def parts_within(name, frame):
    return [frame[start:end] for start, end in samples(name).parts(frame)]


@FILTERS
def test_where_the_parts_of_a_filter_stand(name):
    assert parts_within(name, b"(!(a=\\)b))") == [b"(a=\\)b)", b"(!(a=\\)b))"]
    assert parts_within(name, b"(&(a=b)(c=d)") == [b"(a=b)", b"(c=d)"]
    assert parts_within(name, b")(\\") == []


def test_where_the_parts_of_a_text_stand():
    assert parts_within(TEXT, b'{a:[1],"}":{}}') == [b"[1]", b"{}", b'{a:[1],"}":{}}']
    assert parts_within(TEXT, b'{"\\"}":[]') == [b"[]"]
    assert parts_within(TEXT, b"}{") == []


MADE = {
    FILTER: {"no-integer", "only-asterisks"},
    DEPLOYED: {"closing-brace", "only-asterisks"},
    TEXT: {"byte-order-mark", "something-behind"},
}


@EACH
def test_strategies_make_what_is_disputed_as_well(name):
    flags = set()

    @settings(ONCE, max_examples=80)
    @given(strategies.frames(layout(name), overlong=name == TEXT))
    def collect(frame):
        flags.update(trace(name, frame).flags)

    collect()
    assert flags >= MADE[name]


# What is disputed


@settings(ONCE, max_examples=300)
@given(st.lists(st.sampled_from("((()))&|!=<>**\\}ab0-1 "), max_size=14).map("".join) | st.just(""))
def test_the_widest_grammar_has_what_any_reading_has(text):
    readings = [derives(each, text) for each in (document, deployed)]
    assert derives(widest, text) or not any(readings)
    disputed = [trace(name, text.encode()).flags for name in (FILTER, DEPLOYED)]
    if derives(widest, text) and not all(readings):
        assert all(flags or taken for flags, taken in zip(disputed, readings, strict=True)), text
    if not derives(widest, text):
        assert disputed == [frozenset(), frozenset()]


@pytest.mark.parametrize(
    ("text", "by_letter", "by_deployed"),
    [
        ("(a=b)", "", ""),
        ("(a=)", "", "no-value"),
        ("(=b)", "", "no-key"),
        ("(=*)", "", "no-key"),
        ("(a=**)", "only-asterisks", "only-asterisks"),
        ("(a=**b)", "", ""),
        ("(a>x)", "no-integer", "no-integer"),
        ("(a>-0)", "", ""),
        ("(a>007)", "no-integer", "no-integer"),
        ("(a}=b)", "closing-brace", "closing-brace"),
        ("(&(a=b))", "", "one-operand"),
        ("(|(!(=b)))", "", "no-key one-operand"),
        ("(&(a=b)(c}>))", "closing-brace no-integer", "closing-brace no-integer"),
        ("(a=b", "", ""),
        ("(a=b})(", "", ""),
    ],
)
def test_what_readings_differ_about(text, by_letter, by_deployed):
    assert sorted(trace(FILTER, text.encode()).flags) == by_letter.split()
    assert sorted(trace(DEPLOYED, text.encode()).flags) == by_deployed.split()


@pytest.mark.parametrize(
    ("text", "disputed"),
    [
        ('{"a":17.50,b:c,}', ""),
        ("{a:+5}", "plus-sign"),
        ("{a:-007}", "leading-zeros"),
        ("{a:[5.,5.e1]}", "no-digits"),
        ("{a:[b,]}", "comma-behind-item"),
        ("{true:1}", "literal-as-name"),
        ("{a:inf,b:NaN}", "number-word"),
        ("{a:info}", ""),
        ('"\\u0000"', "escaped-nul"),
        ('"\\ud83d\\ude00"', ""),
        ('"\\ud83dx"', "half-pair"),
        ('"\\q\\/"', "unknown-escape"),
        ('"a\nb"', "raw-control"),
        ("\ufeff{}", "byte-order-mark"),
        ("{}\v", "other-white-space"),
        ("[] []", "something-behind"),
        ("{'a':1}", ""),
        ("{a:1\nb:2}", ""),
    ],
)
def test_what_readers_of_relaxed_json_differ_about(text, disputed):
    assert sorted(trace(TEXT, text.encode()).flags) == disputed.split()


def test_every_dispute_is_explained_and_has_vectors():
    assert set(notes("rai").flags) >= samples(TEXT).disputed
    about = notes("pathfinder")
    assert set(about.flags) >= DISPUTED_DEPLOYED
    found = trace(DEPLOYED, b"(=b)")
    assert found.reason is not None
    assert judge(ProtocolNotes(flags={}), found) == {"no-key"}


# Smaller texts


class Planted:
    """The engine ``python`` with something wrong."""

    name = "planted"

    def __init__(self, decoded=lambda value, data: value, encoded=lambda data: data):
        self.decoded, self.encoded = decoded, encoded

    def codec(self, name):
        right = engine("python").codec(name)
        return Codec(
            lambda data, refuse=False: self.decoded(right.decode(data, refuse), data),
            lambda value: self.encoded(right.encode(value)),
        )


def of_asterisks(value, data):
    return [part | {"any": part["any"][1:]} if len(part.get("any", ())) > 1 else part for part in value]


@pytest.mark.slow  # 3,000 frames, by the document's grammar; each step of shrinking too
@pytest.mark.parametrize(
    ("planted", "kind", "smallest"),
    [
        (Planted(decoded=of_asterisks), "value", 6),
        (Planted(decoded=lambda value, data: value[:1] if b"(!(|" in data else value), "value", 10),
    ],
    ids=["asterisks", "parts"],
)
def test_a_planted_difference_is_found_and_made_small(planted, kind, smallest):
    report = check(FILTER, [engine("reference"), planted], frames=3000, examples=0, most=1)
    (finding,) = report.findings
    assert finding.difference.kind == kind
    assert finding.data is not None
    assert len(finding.data) <= smallest + 1, finding.data


def test_a_value_is_made_small_with_all_that_belongs_together():
    planted = Planted(encoded=lambda data: data.replace(b"(!(!", b"(!(&"))
    given = engine("python").decode(FILTER, b"(|(a=b)(&(!(!(|(name=*x*)(c>7))))(d=e)))")
    report = check_only(FILTER, [engine("reference"), planted], values=[given])
    value = report.findings[0].value
    assert [part["type"] for part in value[:2]] == ["not", "not"]
    assert len(value) == 3


def test_smaller_values_are_those_of_smaller_texts():
    value = engine("python").decode(FILTER, b"(&(a=b)(!(c=d)))")
    smaller = [engine("python").encode(FILTER, each) for each in values_of_smaller(FILTER)(value)]
    assert {b"(a=b)", b"(!(c=d))", b"(&(!(c=d)))", b"(&(a=b)(c=d))"} <= set(smaller)
    assert list(values_of_smaller(FILTER)([{"type": "not"}])) == []


def test_characters_stay_whole():
    data = "aé日\U0001f600".encode() + b"\xff\xe6"
    assert [data[start:end].decode(errors="replace") for start, end in characters_of(data)] == [
        *"aé日\U0001f600",
        "\ufffd",
        "\ufffd",
    ]


def test_a_frame_is_minimised_to_what_is_wanted():
    frame = "(|(&(name=日本)(b>7))(!(c=*x*y*)))".encode()
    kept = minimise(FILTER, frame, lambda data: b">" in data and not refused(data))
    assert kept == b"(>)"


def refused(data):
    try:
        engine("python").decode(FILTER, data)
    except DecodeError:
        return True
    return False


def test_no_language_is_read_by_less_than_two_engines():
    for name in LAYOUTS:
        assert [each.name for each in present(name)] == ["reference", "python"]
        assert language(name).rules[0].name == layout(name).frame.language
