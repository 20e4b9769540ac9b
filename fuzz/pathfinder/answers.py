"""What servers say, at random: answers to what a client may have asked for, about few services and few values.

A message has ``HERE`` for its transaction identifier, in whose place its session puts that of a transaction of the
same command that goes on; where there is none it is not said. Any other is a lie, and is sent as it stands.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from fuzz.net.texts import LOOKALIKES, ODD, SIZES
from fuzz.pathfinder.filters import filter_text
from fuzz.pathfinder.messages import EDGES, HERE, NO_NUMBERS, Speech, frame_of, quoted
from harness.pathfinder.peers.client import HOPELESS
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.tester.scripted_servers import match
from wire.json.strict import MOST
from wire.pathfinder.values import COMMANDS, MULTIPLE, VERSION, Message

REASONS = (*sorted(HOPELESS), "client-id-exists", "unsupported-protocol-version", "insufficient-resources", None)

LISTINGS = ("services", "subscriptions", "clients")


class ServerSpeech(Speech):
    """What a session may say as a server, at random."""

    def message(self) -> Message:
        """Return an answer as a server might give it that speaks the protocol well."""
        random = self.random
        match random.choices(range(6), (14, 3, 2, 3, 3, 1))[0]:
            case 0:
                return self.told()
            case 1:
                return self.answer("subscribe", random.choice(("accept", "accept", "complete", "fail")))
            case 2:
                return self.answer("hello", random.choice(("complete", "complete", "fail")))
            case 3:
                return self.answer(random.choice(COMMANDS), random.choice(("complete", "complete", "fail")))
            case 4:
                return self.answer(random.choice(LISTINGS), random.choice(("accept", "accept", "complete")))
            case _:
                return self.listed()

    def answer(self, command: str, type: str, fields: Mapping[str, Any] | None = None) -> Message:
        """Return an answer; now and then under an identifier that may be that of another transaction."""
        random = self.random
        ta = HERE if random.random() < 0.97 else random.choice((1, 2, 3, *EDGES))
        said: dict[str, Any] = {"ta-cmd": command, "ta-id": ta, "msg-type": type, **(fields or {})}
        if (command, type) == ("hello", "complete"):
            said["protocol-version"] = VERSION if random.random() < 0.9 else random.choice((0, 1, 3, MOST))
        elif type == "fail" and (reason := random.choice(REASONS)) is not None:
            said["fail-reason"] = reason
        elif type == "complete" and command in MULTIPLE and random.random() < 0.1:
            said["msg-type"] = "accept"
        return said

    def told(self, props: Mapping[str, Any] | None = None) -> Message:
        """Return a notification of a service to a subscription."""
        what = self.random.choice(("appeared", "appeared", "appeared", "modified", "modified", "disappeared"))
        if props is not None:
            what = "appeared"
        told = match(what, self.id())
        return self.answer("subscribe", "notify", told if what == "disappeared" else {**told, **self.described(props)})

    def described(self, props: Mapping[str, Any] | None = None) -> Message:
        """Return the fields of a service beside its identifier: now and then those of an orphan."""
        random = self.random
        fields = dict(self.publish(props))
        for name in ("ta-cmd", "ta-id", "msg-type", "service-id"):
            del fields[name]
        fields["client-id"] = random.choice((7, 7, 8)) if random.random() < 0.96 else random.choice(EDGES)
        if random.random() < 0.15:
            fields["orphan-since"] = random.choice((0, 0.5, 1.25, 1.7e9, 1e300, MOST))
        return fields

    def listed(self) -> Message:
        """Return an entry of a list that was asked for."""
        random = self.random
        command = random.choice(LISTINGS)
        client = {"client-id": random.choice((7, 8))}
        match command:
            case "services":
                return self.answer(command, "notify", {"service-id": self.id(), **self.described()})
            case "subscriptions":
                return self.answer(command, "notify", {"subscription-id": self.id(), **client, **self.filtered()})
            case _:
                address = random.choice(("tcp:127.0.0.1:4711", "tls:[::1]:4711", "ux:a", ""))
                return self.answer(command, "notify", {**client, "client-addr": address, "time": self.id()})

    def with_props(self, props: Mapping[str, Any]) -> Message:
        return self.told(props)

    def text(self) -> Message:
        """Return an answer in which a text or a number is broken."""
        random = self.random
        match random.choices(range(5), (6, 2, 2, 2, 1))[0]:
            case 0:
                return {**self.told({}), "service-props": self.odd_props()}
            case 1:
                command = random.choice(("subscribe", "hello", "publish", "services"))
                return {**self.answer(command, "fail"), "fail-reason": self.odd_reason()}
            case 2:
                said = dict(self.told())
                said[random.choice([name for name in said if name != "ta-cmd"])] = random.choice(NO_NUMBERS)
                return said
            case 3:
                said = dict(self.message())
                said[random.choice([name for name in said if name not in ("ta-cmd", "ta-id")])] = self.odd_text()
                return said
            case _:
                return {**self.told({}), "orphan-since": random.choice((b"1E400", b"-1", b"-0.0", b"1e-400", b'""'))}

    def odd_reason(self) -> bytes:
        """Return a reason that is none of the document's, encoded."""
        random = self.random
        texts = (filter_text(random), random.choice(ODD), random.choice(LOOKALIKES), "x" * random.choice(SIZES), "")
        return quoted(random.choice(texts)) if random.random() < 0.7 else self.odd_name()


def message(random: Random) -> bytes:
    """Return an answer."""
    return encode_message(ServerSpeech(random).message())


def text(random: Random) -> bytes:
    """Return an answer in which a property, a reason or a number is broken."""
    return encode_message(ServerSpeech(random).text())


def frame(random: Random) -> bytes:
    """Return a frame that no server would send now."""
    return frame_of(ServerSpeech(random))
