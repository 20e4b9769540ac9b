"""Defects of clients. None shows in a case of the suite: each wants something that no document speaks of.

Each calls what it overrides, so that one client can have all of them.
"""

import os
import time

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import MatchedService, MatchSource
from harness.pathfinder.peers.server_state import ClientRequest, ServerState
from harness.pathfinder.variants.registry import defect
from wire.pathfinder.values import Message

LONG = 60.0
"""Seconds for which a client that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of a service that has more than 127 values under one name")
class DiesOfManyValues(Client):
    def on_match(self, source: MatchSource, match: Message) -> None:
        for values in match.get("service-props", {}).values():
            bytearray(128)[len(values)] = 1
        super().on_match(source, match)


@defect("parser", does="dies of an orphan that has lost its owner later than a number of 64 bits can say")
class DiesOfALateOrphan(Client):
    def on_match(self, source: MatchSource, match: Message) -> None:
        int(match.get("orphan-since", 0)).to_bytes(8)
        super().on_match(source, match)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies when a server says three times in a row that something is gone which another one tells of")
class DiesOfAnothersDisappearance(Client):
    def vanish(self, service: int, source: MatchSource) -> None:
        known = self.view.services.get(service)
        gone: list[int] = vars(self).setdefault("gone", [])
        if known is not None and source not in known.sources:
            gone.append(service)
            if gone[-3:] == [service] * 3:
                raise KeyError(source)
        else:
            gone.clear()
        super().vanish(service, source)


@defect("state", does="dies when a server ends a subscription that has told of three services, an orphan among them")
class DiesOfAnEndedSubscription(Client):
    def on_complete(self, state: ServerState, request: ClientRequest, now: float) -> None:
        subscription_id = request.fields.get("subscription-id")
        if request.command == "subscribe" and subscription_id in state.subscriptions:
            told = {each for each, _ in self.view.at(server=state.server, subscription=subscription_id)}
            if len(told) > 2 and any(self.view.services[each].seen.orphan for each in told):
                raise RuntimeError("changed while it was looked at")
        super().on_complete(state, request, now)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of a reason of 1024 bytes or more for which a subscription is refused")
class DiesOfALongReason(Client):
    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        if request.command == "subscribe":
            bytearray(1024)[len((reason or "").encode("utf-8", "surrogatepass"))] = 0
        super().on_fail(state, request, reason, now)


@defect("text", does="dies of a property whose name has more than 100 letters that are not all ASCII")
class DiesOfAWideName(Client):
    def on_match(self, source: MatchSource, match: Message) -> None:
        for name in match.get("service-props", {}):
            if len(name) > 100 and not name.isascii():
                raise UnicodeError("more bytes than letters")
        super().on_match(source, match)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each orphan that has lost its owner at a fraction of a second")
class LeaksADescriptorForAFraction(Client):
    def on_match(self, source: MatchSource, match: Message) -> None:
        if match.get("orphan-since", 0) % 1:
            vars(self).setdefault("leaked", []).append(os.dup(2))
        super().on_match(source, match)


@defect("resource", does="keeps what it has made for a service that is modified where it has not appeared")
class LeaksModifications(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        if match_type == "modified" and (known is None or source not in known.sources):
            vars(self).setdefault("kept", []).append(bytearray(b"x") * (1 << 20))
        super().see(service, source, latest, match_type)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs where a service that it knows gets 64 names or more")
class HangsOfManyNames(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        if service in self.view.services and len(latest.props) >= 64:
            time.sleep(LONG)
        super().see(service, source, latest, match_type)


@defect("hang", does="hangs where a service that it knows appears in a generation that is 2 ** 52 later or more")
class HangsOfALaterGeneration(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        known = self.view.services.get(service)
        if known is not None and match_type == "appeared" and latest.generation - known.seen.generation >= 1 << 52:
            time.sleep(LONG)
        super().see(service, source, latest, match_type)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="hangs up at all servers when one says what is no message in more than 128 KiB")
class HangsUpEverywhere(Client):
    def received(self, link: int, frame: bytes, now: float) -> None:
        vars(self)["size"] = len(frame)
        super().received(link, frame, now)

    def on_breach(self, state: ServerState, now: float) -> None:
        super().on_breach(state, now)
        for other in self.server_states if vars(self)["size"] > 128 << 10 else ():
            if other.link is not None:
                self.hang_up(other, now)
                self.try_again(other, now)


@defect("harm", does="forgets all subscriptions when one is refused for a reason that has no letters")
class ForgetsAllSubscriptions(Client):
    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        super().on_fail(state, request, reason, now)
        if request.command == "subscribe" and reason == "":
            for other in self.server_states:
                other.subscriptions.clear()


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="tells its application nothing any more once an orphan had lost its owner at 2 ** 53 or later")
class TellsItsApplicationNothing(Client):
    def on_match(self, source: MatchSource, match: Message) -> None:
        if match.get("orphan-since", 0) >= 1 << 53:
            vars(self)["is_mute"] = True
        super().on_match(source, match)

    def on_appeared(self, service: int, latest: MatchedService) -> None:
        if not vars(self).get("is_mute"):
            super().on_appeared(service, latest)
