"""Subjects and wildcards: what two of them have in common."""

import pytest

from wire.subjects import overlap


@pytest.mark.parametrize(
    ("one", "other", "is_so"),
    [
        ("A.B", "A.B", True),
        ("A.B", "A.C", False),
        ("A.B", "A.B.C", False),
        ("A.>", "A.B.C", True),
        ("A.>", "A", False),
        ("A.>", "B.>", False),
        (">", "A.*.C", True),
        ("A.*.C", "A.B.*", True),
        ("A.*.C", "A.B", False),
        ("A.*", "A.B.>", False),
        ("*.B.>", "A.*.C", True),
    ],
)
def test_wildcards_overlap_where_a_subject_is_of_both(one: str, other: str, is_so: bool) -> None:
    assert overlap(one, other) is is_so
    assert overlap(other, one) is is_so
