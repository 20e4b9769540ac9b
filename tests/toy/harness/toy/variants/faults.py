"""The faults of the reference server: each a small lie next to the truth, listed by the rule that it breaks."""

from harness.toy.peers.server import Server
from harness.toy.variants.registry import fault
from wire.toy.values import Message, Save


@fault("TOY-005", does="answers every request twice")
class AnswersTwice(Server):
    def answer(self, link: int, request: Message, value: bytes | None = None) -> None:
        super().answer(link, request, value)
        super().answer(link, request, value)


@fault("TOY-006", does="keeps the first value of a key")
class KeepsTheFirst(Server):
    def on_save(self, link: int, request: Save) -> None:
        if request.key in self.stored:
            self.answer(link, request)
        else:
            super().on_save(link, request)
