"""Unusual clients."""

from typing import Any

from harness.zenoh.peers.client import Client
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import oddity
from wire.zenoh.values import Declare, DeclareFinal, EntityKind, Interest, Mode, Options


@oddity("ZI-002", does="pushes its tokens unasked, and answers interests all the same")
class EagerClient(Client):
    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return entity.kind is EntityKind.TOKEN or super().is_wanted(session, entity)


@oddity("ZI-070", does="hands a question for tokens on to its router, and ends its answer when that has ended its own")
class HandingOnClient(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.answered = Options(0)
        self.handed_on: dict[int, int] = {}

    def on_interest(self, session: Session, interest: Interest) -> None:
        self.answered = interest.options
        super().on_interest(session, interest)

    def finish(self, session: Session, interest_id: int) -> None:
        if Options.T not in self.answered:
            super().finish(session, interest_id)
            return
        question = self.take_interest()
        self.handed_on[question] = interest_id
        self.send(session, Interest(question, Mode.CURRENT, Options.T))

    def on_declare(self, session: Session, message: Declare) -> None:
        super().on_declare(session, message)
        if isinstance(message.body, DeclareFinal) and message.interest_id in self.handed_on:
            super().finish(session, self.handed_on.pop(message.interest_id))
