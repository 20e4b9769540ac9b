"""Texts that languages trip over: what they are broken by stands where somebody would look for it."""

from random import Random

from fuzz.net.texts import TextLanguage


def test_a_mark_stands_in_a_segment_of_its_own() -> None:
    """A regression: a segment that is a dot, which paths of files do not take as a name, was hardly ever said."""
    language = TextLanguage("/", (), (".",))
    broken = [language.broken(Random(number)).split(b"/") for number in range(1000)]
    assert sum(b"." in each for each in broken) > 40


def test_a_language_without_any_mark_is_broken_as_well() -> None:
    language = TextLanguage(".", (), ())
    assert len({language.broken(Random(number)) for number in range(100)}) > 30
