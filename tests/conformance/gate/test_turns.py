"""In which order histories are played."""

from conformance.cases import Case, Marks
from conformance.gate.items import CaseItem
from conformance.gate.turns import in_turn


def item(name: str, *, is_seeded: bool = True) -> CaseItem:
    """Return an item of pytest's, as far as its place in the order depends on it."""
    made = CaseItem.__new__(CaseItem)
    made.name, made.case = name, Case(name, item, Marks((), is_seeded=is_seeded))
    return made


def test_all_kinds_have_a_turn_before_one_has_another() -> None:
    kinds = ("owners", "filters", "lifetime")
    before = [item("abilities", is_seeded=False)]
    after = [item("ping", is_seeded=False), item("odd[3]", is_seeded=False)]
    histories = [item(f"{kind}[{seed}]") for kind in kinds for seed in (1, 2, 17)]
    ordered = [each.name for each in in_turn([*before, *histories, *after])]
    assert ordered[0] == "abilities"
    assert ordered[-2:] == ["ping", "odd[3]"]
    # Each seed begins with another kind than the one before it; the last is the sixteenth after the first.
    assert ordered[1:-2] == [
        *("owners[1]", "filters[1]", "lifetime[1]"),
        *("filters[2]", "lifetime[2]", "owners[2]"),
        *("filters[17]", "lifetime[17]", "owners[17]"),
    ]


def test_what_is_no_history_stays_where_it_is() -> None:
    items = [item(name, is_seeded=False) for name in ("b", "a[2]", "a[1]")]
    assert in_turn(items) == items
    assert in_turn([]) == []
