"""Drawing: the moves of a history, each chosen by what the model knows by then.

Few keys, few ids and few sessions: so they meet. At the ends of every range, as that is where numbers are cut.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from conformance.histories.drawing import Chooser
from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    Publishes,
    Queries,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.model import Model
from conformance.zenoh.histories.moves import Move, Sends
from conformance.zenoh.histories.unspecified import UNSPECIFIED
from conformance.zenoh.stimuli import UNKNOWN_EXTENSIONS
from harness.zenoh.peers.routing import ALL_COMPLETE
from wire.zenoh.grammar_extensions import NODE_ID, QOS, TIMESTAMP
from wire.zenoh.keys import intersects
from wire.zenoh.values import EntityKind, Extension, Extensions, Mode, WireExpr

ENDS = ("close", "drop")

PLAYERS = ("a", "b", "c", "d")
"""Sessions beside the witness."""

LONG = "/".join(["a-long-way-down"] * 9)
"""A key whose length takes two bytes."""

KEYS = ("a", "b", "ab", "a/b", "a/c", "b/c", "a/b/c", "a/b/b/c", "a/d", f"a/{LONG}")
WILD = ("a/*", "*/b", "a/**", "**/c", "a/*/c", "a/**/c", "a/b$*", "**")
PATTERNS = (*WILD, "*", "a$*", "$*b/c", "a/b/**")
"""Of each matching rule something on both sides: ** for no chunk, one and two, $* for nothing.

No chunk begins with @: whether wildcards match such a one no document says, and routers before 1.7 differ.
"""

FEW = ("a", "b", "a/b", "a/*")
"""Keys for histories in which the numbers are what meets."""

BELOW = ("", "/*", "/**", "/c")
"""What is asked for below an alias."""

NAMED = (*KEYS, *("a", "b", "a/b") * 3)
"""What aliases are given to: most often to what other keys begin with."""

FURTHER = ("", "", "", "/b", "/c", "/b/c")
"""What is declared, published and queried below an alias."""

TOP = 2**32 - 1
ENTITY_IDS = (1, 2, 3, 127, 128, TOP)
INTEREST_IDS = (1, 0, 128, TOP)
EXPR_IDS = (1, 128, 65535)
TWINS = tuple(1 + 2**bits for bits in (7, 8, 14, 16, 31))
"""Ids that are 1 for who keeps fewer bits of them than a z32 has."""

LIKE_THE_OTHERS = (1, 2)
"""ExprIds that the other side may have given to keys as well: most count from 1."""

DISTANCES = (0, 1, 127, 128, 0xFFFE, 0xFFFF)
CROWD = 110
"""Tokens of a crowd: more than the faults that count to a hundred take for long."""

TARGETS = (0, 1, ALL_COMPLETE)

KNOWN = (
    Extension(QOS.id, 0x08),
    Extension(TIMESTAMP.id, bytes.fromhex("81808080808080800110") + b"t" * 16),
    Extension(NODE_ID.id, 0, mandatory=True),
)

WEIGHTS: dict[str, dict[str, int]] = {
    "modes": {"declare": 4, "undeclare": 3, "ask": 5, "end": 3},
    "options": {"declare": 5, "undeclare": 2, "ask": 7, "end": 2, "name": 1},
    "aliases": {"name": 4, "release": 3, "declare": 7, "undeclare": 2, "ask": 3, "end": 1, "publish": 2, "query": 1},
    "entities": {"declare": 6, "again": 2, "undeclare": 5, "ask": 2, "end": 1},
    "numbers": {"name": 5, "release": 4, "declare": 6, "undeclare": 4, "ask": 4, "end": 2},
    "data": {"declare": 4, "undeclare": 2, "publish": 5, "query": 4, "name": 2},
    "propagation": {"declare": 5, "again": 1, "undeclare": 3, "ask": 3, "end": 2},
    "unspecified": {"declare": 3, "undeclare": 2, "ask": 3, "end": 1, "name": 1},
}
"""How often each kind of action is drawn, by theme."""


LEAVING = {"propagation": 4, "entities": 2, "aliases": 4}
"""How many of a hundred moves end a session, by theme; else one."""

RARELY = 12
"""One in so many messages has extensions."""

MOST_ACTIONS = 4
"""Messages in one batch: enough for every order of three things, and one that they meet."""


class DrawnFrom(msgspec.Struct, frozen=True):
    """What histories are drawn from; of ten interests so many ask with K, and so many with A."""

    entity_ids: tuple[int, ...]
    interest_ids: tuple[int, ...]
    expr_ids: tuple[int, ...]
    players: tuple[str, ...]
    keys: tuple[str, ...]
    aliased: int
    aggregated: int


OF_ALL = DrawnFrom(ENTITY_IDS, INTEREST_IDS, EXPR_IDS, PLAYERS, KEYS * 2 + WILD, 4, 1)

OF_NUMBERS = DrawnFrom((1, *TWINS), (1, *TWINS), (*LIKE_THE_OTHERS, TWINS[1]), PLAYERS[:2], FEW, 7, 6)
"""Few sessions and keys, so that the numbers meet: such as are easily taken for each other."""


class ZenohMoveGenerator:
    """Draws the moves of one history, and has the model receive them."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self.choose, self.number = chooser.choice, chooser.randint
        self.theme = theme
        self.model = Model()
        self.rarely = RARELY
        self.unwanted = 2
        """How many declarations are drawn with no regard to who asks for what, for each that somebody asks for."""
        self.is_about_numbers = theme in ("numbers", "client_numbers")
        self.of = OF_NUMBERS if self.is_about_numbers else OF_ALL
        self.count = 0
        self.crowded = False
        self.busy: set[int] = set()
        self.past: dict[str, list[Declares]] = {}
        """What each session has declared so far."""
        self.actions: dict[str, Callable[[str], Action | None]] = {
            "declare": self.declaration,
            "again": self.repetition,
            "undeclare": self.undeclaration,
            "ask": self.question,
            "end": self.final,
            "name": self.naming,
            "release": self.release,
            "publish": self.publication,
            "query": self.query,
        }
        self.interest_ids = self.of.interest_ids
        self.choices = [name for name, weight in WEIGHTS.get(theme, {}).items() for _ in range(weight)]

    def opening(self) -> list[Move]:
        """Draw who is there at the beginning."""
        players = self.of.players[: self.number(2, len(self.of.players))]
        for who in players:
            self.model.joins(who)
        return [SessionOpens(who) for who in players]

    def move(self) -> Move | None:
        """Draw the next move."""
        self.model.begin()
        away = [who for who in self.of.players if who not in self.model.names]
        dice = self.number(0, 99)
        if dice < LEAVING.get(self.theme, 1) and len(self.model.names) > 1:
            who = self.choose(sorted(self.model.names))
            self.model.leaves(who)
            return SessionEnds(who, self.choose(ENDS))
        if away and dice < 2 * LEAVING.get(self.theme, 1) + 6:
            self.model.joins(away[0])
            return SessionOpens(away[0])
        if self.theme == "unspecified" and dice > 60:
            return self.choose(UNSPECIFIED)
        if dice > 97 and not self.crowded:
            return self.crowd(self.choose(sorted(self.model.names)))
        if dice > 85 and len(self.model.names) > 1:
            return self.together()
        return self.sends(self.choose(sorted(self.model.names)))

    def closing(self) -> list[Move]:
        """Ask for all that is there: what was withdrawn in silence shows in no other answer."""
        return self.asking(self.choose(sorted(self.model.names)))

    def asking(self, who: str) -> list[Move]:
        """Return the move with which a session asks for all that is there, if it has an id for that."""
        self.model.begin()
        free = [number for number in self.interest_ids if number not in self.model.session(who).interests]
        return [Sends(who, (SendsInterest(number, Mode.CURRENT, frozenset(EntityKind)),)) for number in free[:1]]

    def sends(self, who: str) -> Sends | None:
        """Draw what a session sends."""
        self.busy = set()
        actions = [self.action(who) for _ in range(self.number(1, MOST_ACTIONS))]
        chosen = tuple(action for action in actions if action is not None)
        fragments = self.choose((0, 0, 0, 0, 0, 0, 0, 1, 7, 40))
        return Sends(who, chosen, fragments) if chosen else None

    def together(self) -> Move | None:
        """Draw what two sessions send at once: one asks, which is not to miss what the other declares."""
        one, two = self.choose(sorted(self.model.names)), self.choose(sorted(self.model.names))
        self.busy = set()
        asked = self.question(one)
        if asked is None or one == two:
            return None
        self.model.receives(one, asked.message())
        changes = [action for _ in range(self.number(1, MOST_ACTIONS)) if (action := self.change(two)) is not None]
        return Together((Sends(one, (asked,)), Sends(two, tuple(changes)))) if changes else None

    def change(self, who: str) -> Action | None:
        """Draw something that is declared, or undeclared."""
        action = self.declaration(who) if self.number(0, 2) else self.undeclaration(who)
        if action is not None:
            self.model.receives(who, action.message())
        return action

    def crowd(self, who: str) -> Sends:
        """Draw the declaration of so many tokens that a snapshot of them is long; once is enough."""
        self.crowded = True
        actions = tuple(Declares(T, CROWD + number, WireExpr(f"a/crowd/{number}")) for number in range(CROWD))
        for action in actions:
            self.model.receives(who, action.message())
        return Sends(who, actions)

    def action(self, who: str) -> Action | None:
        """Draw what a session sends next."""
        action = self.actions[self.choose(self.choices)](who)
        if action is not None:
            self.model.receives(who, action.message())
        return action

    # --- declarations -------------------------------------------------------------------------------------

    def declaration(self, who: str) -> Action | None:
        """Draw a declaration under an id that is free."""
        session = self.model.session(who)
        kind = self.choose(tuple(EntityKind)) if self.theme != "data" else self.choose(DATA)
        wanted = None if self.theme == "data" or self.number(0, self.unwanted) else self.wanted(who)
        if wanted is not None:
            kind = wanted[0]
        free = [number for number in self.of.entity_ids if (kind, number) not in session.entities]
        if not free:
            return None
        past = self.past.setdefault(who, [])
        gone = [action for action in past if (action.kind, action.id) not in session.entities and action.key.scope == 0]
        if gone and self.number(0, 3) == 0:
            again = self.choose(gone)
            return replace(again, info=self.info(again.kind)) if self.is_about_numbers else again
        info = self.info(kind)
        # Else half of the time a key that somebody has already: what is one of several is withdrawn in many ways.
        held = sorted({entity.key for entity in self.model.entities() if "crowd" not in entity.key})
        chosen = wanted[1] if wanted is not None else self.named(who)
        key = self.key(who, chosen or self.choose(held if held and self.number(0, 1) else self.of.keys))
        inner, first = self.inner(), self.choose((False, True))
        past.append(Declares(kind, self.choose(free), key, info, inner, self.extensions(), first and bool(inner)))
        return past[-1]

    def info(self, kind: EntityKind) -> tuple[bool, int] | None:
        """Draw a queryable's completeness and distance, or that it says nothing of them."""
        if kind is EntityKind.QUERYABLE and self.choose((False, True)):
            return self.choose((False, True)), self.choose(DISTANCES)
        return None

    def wanted(self, who: str) -> tuple[EntityKind, str] | None:
        """Draw a kind and a key that an interest of another session is about: so each shows whether it still runs."""
        others = [self.model.session(other) for other in sorted(self.model.names) if other != who]
        running = [asked for session in others for _, asked in sorted(session.interests.items()) if asked.kinds]
        if not running:
            return None
        asked = self.choose(running)
        keys = [key for key in KEYS if asked.key is None or intersects(asked.key, key)]
        return (self.choose([kind for kind in EntityKind if kind in asked.kinds]), self.choose(keys)) if keys else None

    def repetition(self, who: str) -> Action | None:
        """Draw a declaration that was made before."""
        entities = list(self.model.session(who).entities.values())
        if not entities:
            return None
        entity = self.choose(entities)
        info = (entity.complete, entity.distance) if entity.kind is EntityKind.QUERYABLE else None
        return Declares(entity.kind, entity.id, self.key(who, entity.key), info)

    def undeclaration(self, who: str) -> Action | None:
        """Draw the end of an entity."""
        entities = list(self.model.session(who).entities.values())
        if not entities:
            return None
        entity = self.choose(entities)
        key, inner, first = self.key(who, entity.key), self.inner(), self.choose((False, True))
        return Undeclares(entity.kind, entity.id, key, inner, self.extensions(), first and bool(inner))

    def naming(self, who: str) -> Action | None:
        """Draw an alias under a number that is free."""
        free = [number for number in self.of.expr_ids if number not in self.model.session(who).theirs]
        if not free:
            return None
        name = self.choose(FEW[:-1] if self.is_about_numbers else NAMED)
        key = self.key(who, name)
        # D_KEYEXPR has no M: its scope is the declarer's own.
        key = key if key.sender else WireExpr(name)
        return DeclaresAlias(self.choose(free), key, self.extensions(), self.inner())

    def release(self, who: str) -> Action | None:
        """Draw the release of an alias: not behind a question, whose answer may be spelled through it."""
        taken = sorted(self.model.session(who).theirs)
        released = ReleasesAlias(self.choose(taken), self.extensions(), self.inner()) if taken else None
        # Who gets the answer has sent the release by then, and may have given the number to another key.
        return None if self.busy else released

    # --- interests ----------------------------------------------------------------------------------------

    def question(self, who: str) -> Action | None:
        """Draw an interest under an id that is free."""
        session = self.model.session(who)
        free = [number for number in self.interest_ids if number not in session.interests and number not in self.busy]
        if not free:
            return None
        number = self.choose(free)
        self.busy.add(number)
        mode = self.choose([Mode.CURRENT, Mode.FUTURE, Mode.CURRENT_FUTURE, Mode.CURRENT_FUTURE])
        kinds = self.choose(SETS_OF_KINDS)
        key = self.key_to_ask_for(who) if self.number(0, 3) else None
        running = [asked for _, asked in sorted(session.interests.items()) if asked.kinds]
        if running and self.number(0, 4) == 0:
            # What is asked for already, in whatever mode: neither interest is to touch the other.
            same = self.choose(running)
            kinds, key = same.kinds, None if same.key is None else self.key(who, same.key)
        aggregate, keyexprs = self.number(0, 9) < self.of.aggregated, self.number(0, 9) < self.of.aliased
        if keyexprs and self.number(0, 9) == 0:
            kinds = frozenset()  # key expressions alone, of which none is declared for nothing
        return SendsInterest(number, mode, kinds, key, aggregate, keyexprs, self.extensions())

    def key_to_ask_for(self, who: str) -> WireExpr:
        """Draw the key of an interest: where it is about aliases, one that begins with an alias half of the time."""
        named = sorted(self.model.session(who).theirs.values())
        if named and (self.is_about_numbers or self.theme.endswith("aliases")) and self.number(0, 1):
            return self.key(who, self.choose(named) + self.choose(BELOW))
        return self.key(who, self.choose(self.of.keys if self.is_about_numbers else PATTERNS + KEYS))

    def final(self, who: str) -> Action | None:
        """Draw the end of an interest."""
        running = [number for number in self.model.session(who).interests if number not in self.busy]
        return EndsInterest(self.choose(running), self.extensions()) if running else None

    # --- data ---------------------------------------------------------------------------------------------

    def publication(self, who: str) -> Action | None:
        """Draw data on a key without wildcards."""
        self.count += 1
        return Publishes(self.key(who, self.named(who) or self.choose(KEYS)), f"data {self.count}")

    def query(self, who: str) -> Action | None:
        """Draw a query on a key without wildcards."""
        self.count += 1
        return Queries(self.count, self.key(who, self.named(who) or self.choose(KEYS)), self.choose(TARGETS))

    # --- spelling -----------------------------------------------------------------------------------------

    def key(self, who: str, key: str) -> WireExpr:
        """Draw one of the spellings of a key: in full, through an alias of the sender's, or of the receiver's."""
        way = self.number(0, 5)
        if way == 0 or (way == 1 and self.is_about_numbers):
            return WireExpr(key, sender=False)
        theirs = self.model.session(who).theirs
        numbers = [number for number, named in theirs.items() if f"{key}/".startswith(f"{named}/")]
        if way == 1 or not numbers:
            return WireExpr(key)
        number = self.choose(numbers)
        return WireExpr(key[len(theirs[number]) :] or ("" if way < 4 else None), number)

    def named(self, who: str) -> str:
        """Draw a key that begins with one of a session's aliases: half of the time where it is about these."""
        named = list(self.model.session(who).theirs.values())
        if not named or not self.theme.endswith(("aliases", "numbers")) or self.number(0, 1):
            return ""
        return self.choose(named) + self.choose(FURTHER)

    def extensions(self) -> Extensions:
        """Draw the extensions of a message, if any."""
        if self.number(1, self.rarely) > 1:
            return ()
        chosen = [self.choose(KNOWN + UNKNOWN_EXTENSIONS) for _ in range(self.number(1, 2))]
        return tuple(chosen) if len({each.id for each in chosen}) == len(chosen) else tuple(chosen[:1])

    def inner(self) -> Extensions:
        """Draw extensions of a body that nobody knows, if any."""
        return (self.choose(UNKNOWN_EXTENSIONS),) if self.number(1, self.rarely) == 1 else ()


S, Q, T = EntityKind
DATA = (S, S, Q, Q, T)
SETS_OF_KINDS = tuple(map(frozenset, ((S, Q, T), (S, Q, T), (S,), (Q,), (T,), (S, T), (Q, T), (S, Q))))
