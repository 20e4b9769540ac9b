"""Pathfinder, "Filter Representation": which texts are filters, and which services they match."""

from conformance.cases import rule
from conformance.pathfinder.answers import granted
from conformance.pathfinder.filter_examples import MEANINGS, MEANT, NO_FILTERS, VALID
from conformance.pathfinder.fixtures import PublishedServices, ask_together, open_session
from conformance.pathfinder.roles import SERVER
from conformance.wording import worded
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.json.strict import LEAST, MOST
from wire.pathfinder.filters import SPECIALS, escape


@rule("PF-067", roles=SERVER)
def test_valid_filters(node: NodeUnderTest) -> None:
    """Ask for services with filters of every form.

    Each is accepted.
    """
    listings = ask_together(node, [("services", {"filter": each}) for each in VALID])
    for filter, listing in zip(VALID, listings, strict=True):
        assert granted(listing), f"{worded(filter)} is refused"


@rule("PF-068", roles=SERVER, needs=("PF-157",))
def test_one_operand(node: NodeUnderTest) -> None:
    """Ask for services with an and, and with an or, of one filter.

    Where that is a filter it matches what the one matches.
    """
    published = PublishedServices(node, {"b": {"a": ["b"]}, "c": {"a": ["c"]}})
    # R28: the grammar takes one operand, and many a parser wants two.
    found = [published.found_if_taken(filter) for filter in ("(&(a=b))", "(|(a=b))")]
    node.shows("PF-068", "R28", "B" if None in found else "A")
    assert all(names in (None, {"b"}) for names in found), "an and or an or of one filter matches something else"


@rule("PF-068", roles=SERVER, needs=("PF-157",))
def test_no_operands(node: NodeUnderTest) -> None:
    """Ask for services with an and, and with an or, of no filter.

    That is refused.
    """
    for filter in ("(&)", "(|)"):
        listing = open_session(node).services(filter)
        assert listing.refused, f"{worded(filter)} is not refused"


@rule("PF-068", roles=SERVER, needs=("PF-157",))
def test_many_operands(node: NodeUnderTest) -> None:
    """Ask for services with an and, and with an or, of ten filters.

    Each operand counts.
    """
    published = PublishedServices(
        node, {str(n): {"n": [str(n)], **{f"k{k}": ["x"] for k in range(n)}} for n in range(11)}
    )
    # Services that have all, and those with one name short of it.
    every = "".join(f"(k{k}=x)" for k in range(10))
    any_of = "".join(f"(n={n})" for n in range(10))
    published.check([(f"(&{every})", "10"), (f"(|{any_of})", "0 1 2 3 4 5 6 7 8 9")])


@rule("PF-069", roles=SERVER, needs=("PF-157",))
def test_escapes(node: NodeUnderTest) -> None:
    """Publish names and values that hold the special characters, and ask for each with a backslash before it.

    It stands for itself.
    """
    values = {f"u{ord(special):x}": {"a": [f"x{special}y"]} for special in SPECIALS}
    keys = {f"k{ord(special):x}": {f"k{special}": ["x"]} for special in SPECIALS}
    # What a server finds that drops the special character, or keeps the backslash.
    alike = {"bare": {"a": ["xy"]}, "doubled": {"a": ["x\\*y", "x\\\\y"]}}
    published = PublishedServices(node, {**values, **keys, **alike, "all": {"a": [SPECIALS], SPECIALS: ["x"]}})
    published.check(
        [
            *((f"(a=x\\{special}y)", f"u{ord(special):x}") for special in SPECIALS),
            *((f"(k\\{special}=x)", f"k{ord(special):x}") for special in SPECIALS),
            # All in one, as the end of one escape is the beginning of the next.
            (f"(a={escape(SPECIALS)})", "all"),
            (f"({escape(SPECIALS)}=x)", "all"),
        ]
    )


@rule("PF-069", roles=SERVER, needs=("PF-157",))
def test_escapes_beside_asterisks(node: NodeUnderTest) -> None:
    """Publish values that hold the special characters, and ask for each with a backslash before it, and asterisks.

    It stands for itself, also where it is an asterisk.
    """
    values = {f"u{ord(special):x}": f"x{special}y" for special in SPECIALS}
    # What is found where the character is dropped, or an escaped asterisk stands for anything.
    values |= {"bare": "xy", "letter": "xzy", "lone": "*"}
    published = PublishedServices(node, {name: {"a": [value]} for name, value in values.items()})
    # The exclamation mark last: some do not take it for special, and the others are to be looked at first.
    for special in sorted(SPECIALS, key=lambda each: each == "!"):
        name = f"u{ord(special):x}"
        lone = " lone" if special == "*" else ""
        escaped = escape(special)
        published.check(
            [
                (f"(a=x{escaped}*)", name),
                (f"(a=*{escaped}y)", name),
                (f"(a=*{escaped}*)", name + lone),
                (f"(a=x*{escaped}*y)", name),
            ]
        )


@rule("PF-070", roles=SERVER, needs=("PF-157",))
def test_empty_strings(node: NodeUnderTest) -> None:
    """Ask for services whose property is the empty string.

    Where that is a filter such a one matches, and no other.
    """
    # Blank, absent and something: what an empty value is confused with.
    published = PublishedServices(node, {"empty": {"a": [""]}, "space": {"a": [" "]}, "x": {"a": ["x"]}, "none": {}})
    found = published.found_if_taken("(a=)")
    node.shows("PF-070", "R41", "B" if found is None else "A")
    assert found in (None, {"empty"}), "(a=) does not match what it says"


@rule("PF-070", roles=SERVER, needs=("PF-157",))
def test_empty_keys(node: NodeUnderTest) -> None:
    """Ask for services whose property of no name has some value, and any.

    Where these are filters they match such a property.
    """
    published = PublishedServices(node, {"nameless": {"": ["a"]}, "named": {"a": ["a"]}})
    found = [published.found_if_taken(filter) for filter in ("(=a)", "(=*)")]
    node.shows("PF-070", "R27", "B" if None in found else "A")
    assert all(names in (None, {"nameless"}) for names in found), "a filter without a key matches something else"


@rule("PF-071", roles=SERVER, needs=("PF-157",))
def test_braces(node: NodeUnderTest) -> None:
    """Ask for values that hold a closing brace, which the grammar has nowhere.

    Where these are filters the brace stands for itself.
    """
    values = {"brace": "}", "pair": "{}", "opened": "{", "empty": ""}
    published = PublishedServices(node, {name: {"a": [value]} for name, value in values.items()})
    found = [published.found_if_taken(filter) for filter in ("(a=})", "(a={})")]
    node.shows("PF-071", "R25", "A" if None in found else "B")
    # By the letter a brace is nowhere in the grammar (R25); where it is taken it has no meaning of its own.
    for names, expected in zip(found, ({"brace"}, {"pair"}), strict=True):
        assert names in (None, expected), "a brace in a filter does not stand for itself"


@rule("PF-072", roles=SERVER, needs=("PF-157",))
def test_comparisons(node: NodeUnderTest) -> None:
    """Ask for numbers above and below another, and equal to it.

    The three are three different things.
    """
    # Five as a text: whether the number equals it is another reading (R30).
    published = PublishedServices(node, {"four": {"a": [4]}, "five": {"a": ["5"]}, "six": {"a": [6]}})
    assert "six" in published.found("(a>5)"), "(a>5) does not match 6"
    assert "four" in published.found("(a<5)"), "(a<5) does not match 4"
    assert "four" not in published.found("(a>5)"), "(a>5) matches 4"
    assert "six" not in published.found("(a<5)"), "(a<5) matches 6"
    assert published.found("(a=5)") == {"five"}, "(a=5) does not match the text 5 alone"


@rule("PF-072", roles=SERVER)
def test_comparisons_with_texts(node: NodeUnderTest) -> None:
    """Ask for what is above or below something that is no integer.

    That is a filter or it is none; a number does not match it.
    """
    published = PublishedServices(node, {"number": {"a": [5]}})
    # A word, nothing, one letter and a blank: each is a value of the grammar, and no integer.
    texts = ("(a>abc)", "(a<abc)", "(a<)", "(a>)", "(a>x)", "(a< )")
    found = published.all_found_if_taken(texts)
    node.shows("PF-072", "R05", "B" if None in found else "A")
    assert all(not names for names in found), "a number matches a comparison with a text"


@rule("PF-073", roles=SERVER, needs=("PF-157",))
def test_asterisks(node: NodeUnderTest) -> None:
    """Ask with an asterisk before, behind and between texts.

    Each is a filter, and what stands around the asterisks has to be there.
    """
    # For each place of an asterisk a text that has something there, and one that has nothing.
    values = {"x": "x", "xa": "xa", "ax": "ax", "axa": "axa", "xyz": "xyz", "xaybz": "xaybz", "xzy": "xzy", "y": "y"}
    published = PublishedServices(node, {name: {"a": [value]} for name, value in values.items()})
    published.check(
        [
            ("(a=x*)", "x xa xyz xaybz xzy"),
            ("(a=*x)", "x ax"),
            ("(a=*x*)", "x xa ax axa xyz xaybz xzy"),
            ("(a=x*y*z)", "xyz xaybz"),
            ("(a=*y*z)", "xyz xaybz"),
            ("(a=x*y*)", "xyz xaybz xzy"),
        ]
    )


@rule("PF-073", roles=SERVER, needs=("PF-157",))
def test_asterisks_side_by_side(node: NodeUnderTest) -> None:
    """Ask with two asterisks and nothing around them.

    It matches any text, any value, or is no filter.
    """
    # A text, a number, nothing: which of them match tells the three options of R26 apart.
    published = PublishedServices(node, {"text": {"a": ["x"]}, "number": {"a": [5]}, "none": {}})
    found = published.found_if_taken("(a=**)")
    node.shows("PF-073", "R26", "C" if found is None else "B" if "number" in found else "A")
    assert found is None or {"text"} <= found <= {"text", "number"}, "(a=**) does not match what it says"
    between = published.found_if_taken("(a=x**)")
    assert between is None or "text" in between, "(a=x**) does not match x"


@rule("PF-075", roles=SERVER, needs=("PF-157",))
def test_integers(node: NodeUnderTest) -> None:
    """Compare with integers of every form, up to both ends of the range.

    All are accepted, and compared as numbers.
    """
    # Both ends: compared as floating-point numbers, the two largest integers would be equal.
    numbers = {"least": LEAST, "minus": -1, "zero": 0, "one": 1, "most": MOST}
    published = PublishedServices(node, {name: {"a": [value]} for name, value in numbers.items()})
    published.check(
        [
            ("(a>0)", "one most"),
            ("(a>-1)", "zero one most"),
            ("(a<-0)", "least minus"),
            (f"(a>{MOST})", ""),
            (f"(a<{LEAST})", ""),
            (f"(a<{MOST})", "least minus zero one"),
            (f"(a>{LEAST})", "minus zero one most"),
            (f"(a>{MOST - 1})", "most"),
        ]
    )


@rule("PF-075", roles=SERVER)
def test_what_is_almost_an_integer(node: NodeUnderTest) -> None:
    """Compare with what is written almost as an integer, or is too large for one.

    It is accepted or refused, and the server goes on.
    """
    published = PublishedServices(node, {"zero": {"a": [0]}})
    # The last is beyond what readers of integers take (Python's takes 4300 digits).
    almost = ("007", "+5", "1_0", "1.5", "1e3", "0x10", " 5", "5 ", "--1", "-", "9" * 20, "-" + "9" * 20, "9" * 5000)
    found = published.all_found_if_taken([f"(a>{each})" for each in almost])
    # But for that one, which may be refused for its size.
    node.shows("PF-075", "R05", "B" if None in found[:-1] else "A")
    assert node.other.is_served(), "nobody is served after a comparison with what is almost an integer"


@rule("PF-076", roles=SERVER)
def test_what_filters_mean(node: NodeUnderTest) -> None:
    """Publish services with and without names and values, and ask for them with twenty filters.

    Each matches what it says.
    """
    PublishedServices(node, MEANT).check(MEANINGS)


@rule("PF-076", roles=SERVER)
def test_equal_and_numbers(node: NodeUnderTest) -> None:
    """Ask for what equals 5.

    The text 5 does; the number does or does not.
    """
    published = PublishedServices(node, {"text": {"a": ["5"]}, "number": {"a": [5]}, "other": {"a": ["05", 55]}})
    found = published.found("(a=5)")
    node.shows("PF-076", "R30", "A" if "number" in found else "B")
    assert {"text"} <= found <= {"text", "number"}, "(a=5) does not match what it says"


@rule("PF-076", roles=SERVER)
def test_capital_letters(node: NodeUnderTest) -> None:
    """Ask for a text in small letters.

    One in capital letters matches or does not.
    """
    # R32: LDAP, where filters of this form come from, does not tell capitals from small letters.
    published = PublishedServices(node, {"small": {"a": ["x"]}, "capital": {"a": ["X"]}})
    found = published.found("(a=x)")
    node.shows("PF-076", "R32", "B" if "capital" in found else "A")
    assert "small" in found, "(a=x) does not match x"


@rule("PF-211", roles=SERVER, needs=("PF-157",))
def test_what_is_no_filter(node: NodeUnderTest) -> None:
    """List services and subscribe with texts that are no filters.

    Each is refused, and the server goes on.
    """
    # By both commands that take a filter: their parsers may be called differently.
    listing = [("services", {"filter": text}) for text in NO_FILTERS]
    watching = [("subscribe", {"subscription-id": new_id(), "filter": text}) for text in NO_FILTERS]
    for transaction in ask_together(node, [*listing, *watching]):
        text = transaction.request.fields["filter"]
        assert not transaction.accepted, f"{transaction.command} takes {worded(text)} for a filter"
        assert transaction.refused, f"{transaction.command} does not refuse {worded(text)}"
    assert node.other.is_served(), "nobody is served after texts that are no filters"


@rule("PF-212", roles=SERVER)
def test_substrings(node: NodeUnderTest) -> None:
    """Ask with beginnings, ends and what is between them, for texts with line ends and repetitions.

    The parts are found one after the other, without overlaps.
    """
    # Line ends, since a dot in a regular expression does not match them; repetitions, where the first place found need
    # not be the right one.
    values = {
        "lines": "a\nb",
        "foo-line": "foo\n",
        "xfoo": "xfoo",
        "xxaxxb": "xxaxxb",
        "aba": "aba",
        "abba": "abba",
        "ababa": "ababa",
        "ab": "ab",
        "aab": "aab",
        "axy": "axy",
        "axyy": "axyy",
    }
    published = PublishedServices(node, {name: {"s": [value]} for name, value in values.items()})
    published.check(
        [
            ("(s=a*b)", "lines ab aab"),
            ("(s=*foo)", "xfoo"),
            ("(s=foo*)", "foo-line"),
            ("(s=xx*b)", "xxaxxb"),
            ("(s=ab*ba)", "abba ababa"),
            ("(s=*ab*ab*)", "ababa"),
            ("(s=*a*a*b)", "aab"),
            ("(s=a*a)", "aba abba ababa"),
            ("(s=*bb*)", "abba"),
            ("(s=*xy*y)", "axyy"),
        ]
    )
    assert "xxaxxb" in published.found("(s=*a*b*)"), "(s=*a*b*) does not match xxaxxb"


@rule("PF-212", roles=SERVER)
def test_substrings_of_numbers(node: NodeUnderTest) -> None:
    """Ask for texts that begin with 5.

    Such a text matches; the number 55 does or does not.
    """
    published = PublishedServices(node, {"text": {"s": ["55"]}, "number": {"s": [55]}, "other": {"s": ["65", 65]}})
    found = published.found("(s=5*)")
    node.shows("PF-212", "R31", "B" if "number" in found else "A")
    assert {"text"} <= found <= {"text", "number"}, "(s=5*) does not match what it says"


@rule("PF-212", roles=SERVER)
def test_a_filter_that_takes_long(node: NodeUnderTest) -> None:
    """Ask with fifty asterisks for a text of four thousand letters that almost matches.

    It is answered as quickly as any other, and rightly.
    """
    published = PublishedServices(node, {"long": {"s": ["a" * 4000]}})
    # A matcher that backtracks tries a number of ways that has a hundred digits.
    published.check([("(s=" + "*a" * 50 + "*b)", ""), ("(s=" + "*a" * 50 + "*)", "long")])


@rule("PF-213", roles=SERVER)
def test_greater_and_less(node: NodeUnderTest) -> None:
    """Publish numbers of one and two digits, above and below 0, and ask for those beyond others.

    They are compared as numbers, and none is beyond itself.
    """
    # One digit and two: compared as texts, 10 comes before 9.
    numbers = {"five": 5, "nine": 9, "ten": 10, "minus": -3}
    published = PublishedServices(node, {name: {"n": [value], "a": ["x"]} for name, value in numbers.items()})
    published.check(
        [
            ("(&(n>5)(a=x))", "nine ten"),
            ("(n>9)", "ten"),
            ("(n<9)", "five minus"),
            ("(n<10)", "five nine minus"),
            ("(n>-3)", "five nine ten"),
            ("(n<-2)", "minus"),
            (f"(n>{MOST - 1})", ""),
        ]
    )


@rule("PF-213", roles=SERVER)
def test_greater_and_texts(node: NodeUnderTest) -> None:
    """Ask for what is above 5 and below 9, with texts of numbers among the values.

    The texts match or do not, the number does.
    """
    texts = {"digits": {"n": ["7"]}, "letters": {"n": ["x"]}}
    # Any value may match, also one behind a text that does not.
    numbers: dict[str, dict[str, list[str | int]]] = {"number": {"n": [7]}, "both": {"n": ["x", 7]}}
    published = PublishedServices(node, {**numbers, **texts, "none": {}})
    for filter in ("(n>5)", "(n<9)"):
        found = published.found(filter)
        node.shows("PF-213", "R06", "B" if found & texts.keys() else "A")
        assert numbers.keys() <= found <= {*numbers, *texts}, f"{filter} does not match what it says"


@rule("PF-214", roles=SERVER)
def test_white_space(node: NodeUnderTest) -> None:
    """Publish names and values with spaces around them and without, and ask for each.

    The spaces belong to them.
    """
    # Spaces around a value, inside it, around a name, and a tab, which trimming takes for a space.
    spaced = {"spaced": {"a": [" x y "]}, "bare": {"a": ["x y"]}, "key": {" a ": ["x y"]}, "tab": {"a": ["x\ty"]}}
    published = PublishedServices(node, spaced)
    published.check([("(a= x y )", "spaced"), ("(a=x y)", "bare"), ("( a =x y)", "key"), ("(a=x\ty)", "tab")])
