"""Unusual choices: what is listed, in which order, to whom, where the documents leave it open."""

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import oddity
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import queryable_info
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Options,
    UndeclareEntity,
    UndeclareKeyExpr,
)


@oddity("ZI-010", does="lists a snapshot in the reverse order")
class ReversedSnapshot(Router):
    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        return super().snapshot(session, asked)[::-1]


@oddity("ZD-097", does="tells a session of its own declarations too")
class Echo(Router):
    def is_listed(self, session: Session, asked: LiveInterest, entity: Entity) -> bool:
        return entity.kind in asked.kinds and self.matches(asked, entity)

    def forwarding_targets(self, entity: Entity) -> list[Session]:
        return [session for session in self.sessions.values() if session.opened]


@oddity("ZD-072", does="adds five hops to a distance")
class LongHops(Router):
    def info(self, entity: Entity) -> Extensions:
        if entity.kind is not EntityKind.QUERYABLE:
            return ()
        # The distance has 16 bits; how much a hop adds is left open (reading R23).
        value = queryable_info(entity.complete, min(entity.distance + 5, 0xFFFF), deployed=self.deployed)
        return (Extension(QUERYABLE_INFO.id, value),)


@oddity("ZI-019", "ZD-094", does="tells of a repeated declaration whom it has not told of it yet")
class NewsOfRepetitions(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        known = session.entities.get((body.kind, body.id))
        super().on_declare_entity(session, body)
        # A Future interest that came behind the first declaration was told of nothing: to it, this one is the first.
        if known is not None:
            self.announce(known)


@oddity("ZI-076", does="leaves what a session knows already out of later snapshots")
class ShortSnapshots(Router):
    def is_listed(self, session: Session, asked: LiveInterest, entity: Entity) -> bool:
        return entity not in session.advertised and super().is_listed(session, asked, entity)


@oddity("ZD-094", does="announces subscribers of one key as one")
class Merging(Router):
    def twin(self, session: Session, entity: Entity) -> Entity | None:
        """Return another entity of the same kind and key that the session knows."""
        return next(
            (
                known
                for known in session.advertised
                if known.kind is entity.kind and known.key == entity.key and known != entity
            ),
            None,
        )

    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        return list({(entity.kind, entity.key): entity for entity in super().snapshot(session, asked)}.values())

    def give_same_id(self, session: Session, entity: Entity) -> None:
        """Let an entity go under the id of its twin."""
        twin = self.twin(session, entity)
        if twin is not None:
            session.advertised.setdefault(entity, session.advertised[twin])

    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        self.give_same_id(session, entity)
        super().advertise(session, entity, interest_id)

    def is_news(self, session: Session, entity: Entity) -> bool:
        return super().is_news(session, entity) and self.twin(session, entity) is None

    def withdraw(self, entity: Entity) -> None:
        for session in self.sessions.values():
            number = session.advertised.get(entity)
            if number is None:
                continue
            heir = self.heir(session, entity)
            if heir is not None:
                session.advertised.setdefault(heir, number)
            elif self.is_wanted(session, entity):
                self.retract(session, entity)
            del session.advertised[entity]
            # What went under the same number has ended with it, as when a session with both of them ends.
            for twin in list(session.advertised) if heir is None else ():
                if twin.kind is entity.kind and session.advertised[twin] == number:
                    del session.advertised[twin]

    def heir(self, session: Session, entity: Entity) -> Entity | None:
        """Return what a session goes on knowing an entity as: another one like it, but not the session's own."""
        alike = (each for each in self.entities() if each.kind is entity.kind and each.key == entity.key)
        return next((each for each in alike if each.owner != session.link), None)


@oddity("ZD-040", "ZD-056", "ZI-064", does="ends a session that undeclares or ends what does not exist")
class Strict(Router):
    def close(self, session: Session) -> None:
        """End a session for good."""
        session.transport.close()
        self.hang_ups.append(session.link)

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        if body.expr_id not in session.theirs:
            self.close(session)
        super().on_undeclare_keyexpr(session, body)

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        if (body.kind, body.id) not in session.entities:
            self.close(session)
        super().on_undeclare_entity(session, body)

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        if message.id not in session.interests:
            self.close(session)
        super().on_interest_final(session, message)

    def on_declare(self, session: Session, message: Declare) -> None:
        # A router asks for nothing, so each D_FINAL answers nothing.
        if isinstance(message.body, DeclareFinal):
            self.close(session)
        super().on_declare(session, message)

    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        if body.expr_id in session.theirs or body.expr_id == 0:
            self.close(session)
        super().on_declare_keyexpr(session, body)


@oddity("ZI-049", "ZI-052", does="ends a session whose interest asks for nothing, or names a key without R")
class StrictOptions(Strict):
    def on_interest(self, session: Session, interest: Interest) -> None:
        odd = not interest.options & Options.R and interest.options & (Options.N | Options.M)
        if odd or not interest.options & (Options.K | Options.S | Options.Q | Options.T):
            self.close(session)
        else:
            super().on_interest(session, interest)
