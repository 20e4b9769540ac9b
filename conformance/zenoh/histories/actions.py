"""Actions: what one session does with one message, as values that print as the driver's verbs.

Keys stand without a namespace, which each play adds. A key with ``sender=False`` and scope 0 is to be spelled through
an alias of the node's own where it has one: which that is shows only when it is played.
"""

from abc import abstractmethod
from collections.abc import Callable

import msgspec

from conformance.wording import worded
from wire.abstract import AbstractStructMeta
from wire.zenoh.grammar_extensions import QUERYABLE_INFO, TARGET
from wire.zenoh.keys import queryable_info, wire_expr_extension
from wire.zenoh.values import (
    OPTION,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Request,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)

Spell = Callable[[WireExpr], WireExpr]
"""Spells a key for whoever receives it: the node, in a namespace and with its aliases, or the model."""

ALL = 1
"""The value of the Target extension that asks all queryables."""


def as_it_is(key: WireExpr) -> WireExpr:
    """Spell a key for the model."""
    return key


class Action(msgspec.Struct, metaclass=AbstractStructMeta, frozen=True):
    """One message; ``deployed`` where it is made picks the layouts in which the document and the field differ."""

    @abstractmethod
    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the message."""

    @abstractmethod
    def __str__(self) -> str:
        """Return the call of the driver's verb."""


class DeclaresAlias(Action, frozen=True):
    """An alias is declared."""

    id: int
    key: WireExpr
    extensions: Extensions = ()
    inner: Extensions = ()

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the D_KEYEXPR."""
        return Declare(DeclareKeyExpr(self.id, spell(self.key), self.inner), None, self.extensions)

    def __str__(self) -> str:
        rest = f"{also(self.inner, 'inner')}{also(self.extensions)}"
        return f"declare_keyexpr({text(self.key)}, id={self.id}{rest})"


class ReleasesAlias(Action, frozen=True):
    """An alias is released."""

    id: int
    extensions: Extensions = ()
    inner: Extensions = ()

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the U_KEYEXPR."""
        return Declare(UndeclareKeyExpr(self.id, self.inner), None, self.extensions)

    def __str__(self) -> str:
        return f"undeclare_keyexpr({self.id}{also(self.inner, 'inner')}{also(self.extensions)})"


class Declares(Action, frozen=True):
    """An entity is declared; ``info`` is a queryable's completeness and distance.

    ``inner`` are further extensions of the body: behind QueryableInfo, or before it if they stand ``first``.
    """

    kind: EntityKind
    id: int
    key: WireExpr
    info: tuple[bool, int] | None = None
    inner: Extensions = ()
    extensions: Extensions = ()
    first: bool = False

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the D_SUBSCRIBER, D_QUERYABLE or D_TOKEN."""
        inner = self.inner
        if self.info is not None:
            info = Extension(QUERYABLE_INFO.id, queryable_info(*self.info, deployed=deployed))
            inner = (*inner, info) if self.first else (info, *inner)
        return Declare(DeclareEntity(self.kind, self.id, spell(self.key), inner), None, self.extensions)

    def __str__(self) -> str:
        info = "" if self.info is None else f", complete={self.info[0]}, distance={self.info[1]}"
        rest = f"{info}{within(self)}{also(self.extensions)}"
        return f"declare_{self.kind.value}({text(self.key)}, id={self.id}{rest})"


class Undeclares(Action, frozen=True):
    """An entity is undeclared; ``key`` goes into the WireExpr extension (``None``: none is sent).

    ``inner`` are further extensions of the body: behind that one, or before it if they stand ``first``.
    """

    kind: EntityKind
    id: int
    key: WireExpr | None
    inner: Extensions = ()
    extensions: Extensions = ()
    first: bool = False

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the U_SUBSCRIBER, U_QUERYABLE or U_TOKEN."""
        inner = self.inner
        if self.key is not None:
            key = wire_expr_extension(spell(self.key), deployed=deployed)
            inner = (*inner, key) if self.first else (key, *inner)
        return Declare(UndeclareEntity(self.kind, self.id, inner), None, self.extensions)

    def __str__(self) -> str:
        key = "" if self.key is None else f", key={text(self.key)}"
        return f"undeclare_{self.kind.value}({self.id}{key}{within(self)}{also(self.extensions)})"


class UndeclaresOwn(Undeclares, frozen=True):
    """An entity is undeclared by whom it does not belong to: whoever receives this has declared it itself."""

    def __str__(self) -> str:
        return f"undeclare_{self.kind.value}(id of one that the other side has declared)"


class SendsInterest(Action, frozen=True):
    """An interest is sent."""

    id: int
    mode: Mode
    kinds: frozenset[EntityKind]
    key: WireExpr | None = None
    aggregate: bool = False
    keyexprs: bool = False
    extensions: Extensions = ()

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the INTEREST."""
        options = Options.A if self.aggregate else Options(0)
        options |= Options.K if self.keyexprs else Options(0)
        for kind in self.kinds:
            options |= OPTION[kind]
        key = None if self.key is None else spell(self.key)
        if key is not None:
            options |= Options.R
            options |= Options.N if key.suffix is not None else Options(0)
            options |= Options.M if key.sender else Options(0)
        return Interest(self.id, self.mode, options, key, self.extensions)

    def __str__(self) -> str:
        kinds = "".join(f", {kind.name[0]}" for kind in EntityKind if kind in self.kinds)
        key = "" if self.key is None else f", key={text(self.key)}"
        flags = (", aggregate=True" if self.aggregate else "") + (", keyexprs=True" if self.keyexprs else "")
        return f"interest(Mode.{self.mode.name}{kinds}{key}{flags}, id={self.id}{also(self.extensions)})"


class EndsInterest(Action, frozen=True):
    """An interest is ended."""

    id: int
    extensions: Extensions = ()

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the INTEREST in mode Final."""
        return InterestFinal(self.id, self.extensions)

    def __str__(self) -> str:
        return f"final({self.id}{also(self.extensions)})"


class SendsOddInterest(Action, frozen=True):
    """An interest is sent whose options name a key that it does not have (N or M without R), or no kind."""

    id: int
    options: Options

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the INTEREST."""
        return Interest(self.id, Mode.CURRENT_FUTURE, self.options)

    def __str__(self) -> str:
        return f"send(Interest({self.id}, Mode.CURRENT_FUTURE, Options({int(self.options):#x})))"


class SendsFinal(Action, frozen=True):
    """A D_FINAL is sent, with an interest id or without, where no interest waits for one."""

    id: int | None = None

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the D_FINAL."""
        return Declare(DeclareFinal(), self.id)

    def __str__(self) -> str:
        return f"send(Declare(DeclareFinal(), {self.id}))"


class Publishes(Action, frozen=True):
    """Data is put on a key; no other publication of a history has its payload."""

    key: WireExpr
    payload: str

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the PUSH."""
        return Push(spell(self.key), self.payload.encode())

    def __str__(self) -> str:
        return f"publish({text(self.key)}, {worded(self.payload)})"


class Queries(Action, frozen=True):
    """A query is sent; no other of a history has its id. ``target`` is the value of its Target, 0 for the default."""

    id: int
    key: WireExpr
    target: int = 0

    def message(self, spell: Spell = as_it_is, *, deployed: bool = False) -> NetworkMessage:
        """Return the REQUEST; its parameters name it, as a router gives it an id of its own when it forwards it."""
        target = (Extension(TARGET.id, self.target, mandatory=True),) if self.target else ()
        return Request(self.id, spell(self.key), self.parameters, target)

    @property
    def parameters(self) -> str:
        """What the query can be known by."""
        return f"query={self.id}"

    def __str__(self) -> str:
        target = f", target={self.target}" if self.target else ""
        return f"query({text(self.key)}, id={self.id}{target})"


def text(key: WireExpr) -> str:
    """Return a key in words: plain text where it is spelled out, else the number that it stands on."""
    if key.sender and key.scope == 0:
        return worded(key.suffix)
    table = "its sender's" if key.sender else "its receiver's"
    return f"number {key.scope} of {table} and {worded(key.suffix)}"


def within(action: Declares | Undeclares) -> str:
    """Return the extensions of a declaration's body as a further argument, if there are any."""
    return also(action.inner, "inner, first" if action.first else "inner")


def also(extensions: Extensions, name: str = "extensions") -> str:
    """Return extensions as a further argument, if there are any."""
    parts = [
        f"extension {each.id:#x}"
        + (f", {worded(each.value)}" if each.value is not None else "")
        + (", mandatory" if each.mandatory else "")
        for each in extensions
    ]
    return f", {name}: {'; '.join(parts)}" if parts else ""
