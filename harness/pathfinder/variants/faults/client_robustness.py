"""Faults of a client against Pathfinder, "Message" and "Transactions": what it makes of what no server may say."""

from contextlib import suppress
from json import JSONDecoder

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.server_state import ServerState
from harness.pathfinder.variants.lenient import Fields, salvaged
from harness.pathfinder.variants.registry import fault
from wire.errors import DecodeError, EncodeError
from wire.pathfinder.values import Message, read, write


class MendingClient(Client):
    """A client that makes messages of what is none."""

    def mend(self, fields: Fields) -> Fields:
        """Return what a message that the document does not have is taken for."""
        return fields

    def received(self, link: int, frame: bytes, now: float) -> None:
        try:
            read(frame, deployed=self.deployed)
        except DecodeError:
            with suppress(EncodeError):
                # What cannot be mended is handed on as it came.
                frame = write(self.mend(salvaged(frame) or {}), deployed=self.deployed)
        super().received(link, frame, now)


@fault("PF-221", does="takes a missing generation for 0")
class HearsGenerationZero(MendingClient):
    def mend(self, fields: Fields) -> Fields:
        return {"generation": 0} | fields


@fault("PF-221", does="reads numbers from strings")
class HearsNumbersInStrings(MendingClient):
    def mend(self, fields: Fields) -> Fields:
        return {name: int(each) if str(each).isdecimal() else each for name, each in fields.items()}


@fault("PF-221", does="reads the first object of a frame, and overlooks what stands behind it")
class HearsBeginnings(Client):
    def received(self, link: int, frame: bytes, now: float) -> None:
        with suppress(ValueError, RecursionError):
            text = frame.decode()
            frame = text[: JSONDecoder().raw_decode(text)[1]].encode()
        super().received(link, frame, now)


@fault("PF-221", does="dies of what is no JSON")
class FrailClient(Client):
    def received(self, link: int, frame: bytes, now: float) -> None:
        if salvaged(frame) is None:
            raise ValueError("no JSON")
        super().received(link, frame, now)


@fault("PF-221", does="stays away once a server has said what is no message")
class ResentfulClient(Client):
    def on_breach(self, state: ServerState, now: float) -> None:
        self.hang_up(state, now)


class OverlooksNumbers(Client):
    """A client that tells some matches whose number is that of no live transaction."""

    def is_told(self, state: ServerState, message: Message) -> bool:
        """Tell whether such a match is notified."""
        return True

    def received(self, link: int, frame: bytes, now: float) -> None:
        state, message = self.links.get(link), understood(frame)
        stray = message and message.get("match-type") and state and message["ta-id"] not in state.live
        # Filed under 0, as there is no subscription that it belongs to.
        if state is not None and stray and self.is_told(state, message):
            self.on_match((state.server, 0), message)
        else:
            super().received(link, frame, now)


def understood(frame: bytes) -> Message:
    """Return a message, empty if it is none."""
    try:
        return read(frame)
    except DecodeError:
        return {}


@fault("PF-222", does="takes a match for its subscription's, whatever its number")
class HearsAnyNumber(OverlooksNumbers):
    def is_told(self, state: ServerState, message: Message) -> bool:
        return bool(state.subscriptions)


@fault("PF-222", does="tells matches of a subscription that has ended")
class ListensOn(OverlooksNumbers):
    def is_told(self, state: ServerState, message: Message) -> bool:
        return not state.subscriptions
