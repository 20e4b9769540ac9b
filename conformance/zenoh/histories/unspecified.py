"""Unspecified: what the document does not allow, or says nothing about, so that several answers to it are right.

Some are wrong whatever one reads: a guest who sends such things harms nobody else, and nothing stays of it.
"""

from conformance.zenoh.histories.actions import (
    Declares,
    DeclaresAlias,
    EndsInterest,
    ReleasesAlias,
    SendsFinal,
    SendsInterest,
    SendsOddInterest,
    Undeclares,
    UndeclaresOwn,
)
from conformance.zenoh.histories.moves import Unspecified
from wire.zenoh.values import EntityKind, Extension, Mode, Options, WireExpr

S, Q, T = EntityKind
EVERYTHING = frozenset(EntityKind)
ALL_KINDS = Options.S | Options.Q | Options.T

ONE, TWO = WireExpr("guest/1"), WireExpr("guest/2")
UNKNOWN = 77
"""A number that nobody gives to a key."""

LISTENS = SendsInterest(1, Mode.CURRENT_FUTURE, frozenset({T}), WireExpr("guest/**"))
ALIEN = Extension(0xA, mandatory=True)


def both(kind: EntityKind, end: str = "") -> tuple[tuple[str, str], ...]:
    """Return one kind of entity on both keys of a guest."""
    return (kind.value, f"guest/1{end}"), (kind.value, f"guest/2{end}")


UNSPECIFIED: tuple[Unspecified, ...] = (
    # A number that is given twice names one of the two keys.
    Unspecified(
        (DeclaresAlias(5, ONE), DeclaresAlias(5, TWO), Declares(T, 1, WireExpr(None, 5))), "ZD-037", both(T), (0, 1)
    ),
    Unspecified(
        (DeclaresAlias(5, ONE), DeclaresAlias(5, TWO), Declares(S, 1, WireExpr("/x", 5))),
        "ZD-037",
        both(S, "/x"),
        (0, 1),
    ),
    Unspecified((DeclaresAlias(0, ONE), Declares(T, 1, TWO)), "ZD-032", both(T)[1:], (1,)),
    Unspecified(
        (DeclaresAlias(5, ONE), ReleasesAlias(UNKNOWN), Declares(S, 1, WireExpr(None, 5))), "ZD-040", both(S)[:1], (1,)
    ),
    Unspecified((DeclaresAlias(5, ONE), ReleasesAlias(5), Declares(S, 1, WireExpr("/x", 5))), "ZD-040"),
    Unspecified(
        (DeclaresAlias(5, ONE), Declares(T, 1, WireExpr(None, 5)), ReleasesAlias(5), DeclaresAlias(5, TWO)),
        "ZD-041",
        both(T)[:1],
    ),
    # An alias over an alias is looked up in one table, or in none: both come, or neither.
    Unspecified(
        (
            DeclaresAlias(5, WireExpr("guest")),
            DeclaresAlias(6, WireExpr("/1", 5)),
            DeclaresAlias(7, WireExpr("/2", 5)),
            Declares(T, 1, WireExpr(None, 6)),
            Declares(T, 2, WireExpr(None, 7)),
        ),
        "ZD-034",
        both(T),
        (0, 2),
    ),
    *(Unspecified((Declares(kind, 1, WireExpr("guest/1", UNKNOWN)),), "ZD-051") for kind in EntityKind),
    Unspecified((Declares(S, 1, WireExpr(None)),), "ZD-051"),
    # An undeclaration ends one entity at most, and none of anybody else's.
    *(Unspecified((Undeclares(kind, 2, ONE),), "ZD-056") for kind in EntityKind),
    Unspecified((Declares(S, 1, ONE), Declares(S, 2, TWO), Undeclares(S, 1, None)), "ZD-056", both(S), (1, 2)),
    Unspecified((Declares(S, 1, ONE), Declares(S, 2, TWO), Undeclares(S, 3, ONE)), "ZD-056", both(S), (1, 2)),
    Unspecified((Declares(S, 1, ONE), Declares(S, 2, TWO), Undeclares(S, 1, TWO)), "ZD-063", both(S), (1, 2)),
    # What ends nothing harms no interest that runs.
    Unspecified((LISTENS, EndsInterest(99)), "ZI-064", listens=True),
    Unspecified((LISTENS, SendsFinal()), "ZD-088", listens=True),
    Unspecified((LISTENS, SendsFinal(99)), "ZD-088", listens=True),
    Unspecified((LISTENS, Declares(T, 1, ONE)), "ZD-097", both(T)[:1], listens=True),
    # Interests that ask for nothing, or for what nobody can read.
    Unspecified((SendsInterest(1, Mode.CURRENT, frozenset()),), "ZI-052", asked=1),
    Unspecified((SendsOddInterest(1, ALL_KINDS | Options.N),), "ZI-049", asked=1, all=True),
    Unspecified((SendsOddInterest(1, ALL_KINDS | Options.M),), "ZI-049", asked=1, all=True),
    Unspecified((SendsInterest(1, Mode.CURRENT_FUTURE, EVERYTHING, WireExpr(None, UNKNOWN)),), "ZI-053"),
    Unspecified((SendsInterest(1, Mode.CURRENT_FUTURE, EVERYTHING, WireExpr("a/b", UNKNOWN)),), "ZI-053"),
    Unspecified((SendsInterest(1, Mode.CURRENT_FUTURE, EVERYTHING, extensions=(ALIEN,)),), "ZI-059", all=True),
)

STRAY = 77
"""The id of an interest that a router asks a client besides those of a history."""

FROM_A_ROUTER: tuple[Unspecified, ...] = (
    # What ends nothing, or is about nothing.
    Unspecified((EndsInterest(STRAY),), "ZI-064"),
    Unspecified((SendsFinal(),), "ZD-088"),
    Unspecified((SendsFinal(STRAY),), "ZD-088"),
    Unspecified((ReleasesAlias(UNKNOWN),), "ZD-040"),
    *(Unspecified((Undeclares(kind, STRAY, ONE),), "ZD-056") for kind in EntityKind),
    *(Unspecified((UndeclaresOwn(kind, 1, None),), "ZD-056") for kind in EntityKind),
    # Interests that ask for nothing, or for what nobody can read.
    Unspecified((SendsInterest(STRAY, Mode.CURRENT, frozenset()),), "ZI-052", asked=STRAY),
    Unspecified((SendsOddInterest(STRAY, ALL_KINDS | Options.N),), "ZI-049", asked=STRAY, all=True),
    Unspecified((SendsOddInterest(STRAY, ALL_KINDS | Options.M),), "ZI-049", asked=STRAY, all=True),
    Unspecified((SendsInterest(STRAY, Mode.CURRENT_FUTURE, EVERYTHING, WireExpr(None, UNKNOWN)),), "ZI-053"),
    Unspecified((SendsInterest(STRAY, Mode.CURRENT_FUTURE, EVERYTHING, WireExpr("a/b", UNKNOWN)),), "ZI-053"),
    Unspecified((SendsInterest(STRAY, Mode.CURRENT_FUTURE, EVERYTHING, extensions=(ALIEN,)),), "ZI-059", all=True),
)
"""The same where there are no guests: on the one session of a client, which it may end for that."""
