"""What a field can be where it meets the others: the factors of a covering array over a message."""

from collections.abc import Iterator

from vectors.binary.composing import present
from vectors.binary.paths import Arrangement, LayoutPlace, join
from vectors.binary.targets import SpecimenTarget
from vectors.covering_arrays import Factor, Option
from wire.kinds.composing import Looking


def factors(looking: Looking, target: SpecimenTarget) -> Iterator[Factor]:
    """Give what varies in a message: each group of flags, and each form of a field."""
    record = target.place
    for index, (name, outer) in enumerate(zip(record.labels, record.inner, strict=True)):
        for choices, inner in forms(outer):
            for group, values in inner.part.group_options():
                # What has one value meets everything anyway.
                if len(values) > 1:
                    options = tuple(Option(words, index, choices, name, numbers) for words, numbers in values)
                    yield Factor(group, options, flag=True)
            options = tuple(
                Option(f"{name} {words}", index, choices, name, limits, tuple(plan.items()))
                for words, plan, limits in inner.part.pair_options(looking, target, inner, join(target.where, name))
            )
            if options:
                yield Factor(name, options)


def forms(place: LayoutPlace) -> Iterator[tuple[tuple[str, ...], LayoutPlace]]:
    """Give the forms of a field that have bytes, with the choices that lead to each."""
    # What has no bytes cannot meet anything.
    if not place.part.alternatives():
        if place.part.most_bytes():
            yield (), place
        return
    for label, inner in zip(place.labels, place.inner, strict=True):
        if label not in place.impossible:
            for choices, form in forms(inner):
                yield (label, *choices), form


def with_flags(record: LayoutPlace, arrangement: Arrangement) -> Arrangement:
    """Return an arrangement that names the bytes of all flags, also of those that no condition looks at."""
    there = {
        name: present(outer).part
        for name, outer, choices in zip(record.labels, record.inner, arrangement.choices, strict=True)
        if "absent" not in choices
    }
    flags = {name: tuple(part.candidates((), frozenset())) for name, part in there.items() if part.has_few}
    return Arrangement(arrangement.choices, {**flags, **arrangement.values})
