"""Urbit, "Packet Types": what a publisher makes of packets that are odd, wrong, or not for it."""

from msgspec.structs import replace

from conformance.cases import rule
from conformance.urbit.offences import FAR, LOOPBACK, Offended, Spoilt, about
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import require_lease, tell
from harness.urbit.ships import PUBLISHER as PUBLISHING
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from wire.urbit.values import (
    Ames,
    Body,
    HeartbeatRequest,
    HeartbeatResponse,
    Origin,
    Packet,
    Promise,
    ScryResponse,
    Ship,
    with_checksum,
    write,
)


@rule("URB-002", roles=PUBLISHER)
def test_types_of_answers(node: NodeUnderTest) -> None:
    """Ask for what is there and what is not, send heartbeats of a live session and of an unknown one, cancel, be told.

    All that comes back is a response, of the protocol of what was sent.
    """
    asking = node.main
    node.grow("there")
    asking.promised("none/yet")
    asking.request("there")
    asking.beat()
    asking.beat(unknown_session(), number=1)
    asking.cancel("none/yet")
    asking.promised("later")
    tell(node, asking, "later")
    asking.read()
    forms = {event.form for event in asking.received() if event.form is not Ames}
    assert forms <= {Promise, ScryResponse, HeartbeatResponse}, "a publisher answers by a packet of a request's type"


@rule("URB-002", roles=PUBLISHER)
def test_the_type_alone_tells_packets_apart(node: NodeUnderTest) -> None:
    """Ask for a path that is promised, and cancel it: two packets that differ in type and signature alone.

    The one is promised, the other is not answered.
    """
    asking = node.main
    asking.promised("first")
    asking.cancel("second")
    asking.settle()
    seen = {about(event.packet) for event in asking.received(Promise)}
    assert seen == {asking.path("first")}, "a cancellation is taken for a request"


@rule("URB-007", roles=PUBLISHER)
def test_wrong_checksums(node: NodeUnderTest) -> None:
    """Send packets whose checksum is 0, differs in one bit, or is that of the packet without its last byte.

    They are dropped.
    """

    def spoil(packet: Packet) -> Spoilt:
        frame = write(packet)
        right = int.from_bytes(frame[:4], "little") >> 11 & 0xFFFFF
        for wrong in (0, *(right ^ 1 << bit for bit in (0, 7, 10, 16, 19))):
            yield write(replace(packet, checksum=wrong))
        yield with_checksum(frame[:-1])[:4] + frame[4:]

    offended = Offended(node)
    offended.offend(spoil)
    offended.heard_nothing()


@rule("URB-008", roles=PUBLISHER)
def test_other_versions(node: NodeUnderTest) -> None:
    """Send packets of the versions 1 to 7.

    They are dropped.
    """
    offended = Offended(node)
    offended.offend(lambda packet: [write(replace(packet, version=version)) for version in range(1, 8)])
    offended.heard_nothing()


@rule("URB-132", roles=PUBLISHER)
def test_packets_for_other_ships(node: NodeUnderTest) -> None:
    """Send packets to ships of all ranks whose numbers are like the publisher's, and to the sender itself.

    They are dropped.
    """
    offended, number = Offended(node), PUBLISHING.number
    others = [Ship.of(each) for each in (number + 1, number ^ 0x8000, *(1 << bit | number for bit in (16, 40, 100)))]
    offended.offend(
        lambda packet: [write(replace(packet, receiver=each)) for each in (*others, packet.sender)],
    )
    offended.heard_nothing()


@rule("URB-009", roles=PUBLISHER)
def test_ships_of_all_ranks(node: NodeUnderTest) -> None:
    """Ask as a galaxy, a planet, a moon and a comet.

    All are promised what they ask for.
    """
    for asking, rank in zip(node.of_all_ranks(), ("galaxy", "planet", "moon", "comet"), strict=True):
        assert asking.request("none/yet") is not None, f"a {rank} is not served"


@rule("URB-010", roles=PUBLISHER)
def test_packets_with_an_origin(node: NodeUnderTest) -> None:
    """Send a request, a heartbeat and a cancellation that name the address that they come from.

    They are taken as if they did not.
    """
    asking = node.main
    origin = Origin(LOOPBACK, asking.link.ports[0])
    request = asking.packet(asking.request_for("relayed"), origin=origin)
    since = asking.place
    path = asking.path("relayed")
    promise = asking.ask(lambda: asking.send_packet(request), lambda event: about(event.packet) == path)
    assert promise is not None, "a request with an origin is not answered"
    asking.promised("dropped")
    asking.promised("kept")
    renewed = asking.renewed

    def beat() -> None:
        asking.number += 1
        asking.renew()
        asking.send_packet(asking.packet(HeartbeatRequest(asking.id, asking.number), origin=origin))

    answer = asking.ask(beat, lambda event: event.form is HeartbeatResponse, thing="an answer to a heartbeat")
    assert answer is not None, "a heartbeat with an origin is not answered"
    body = answer.packet.body
    if not (isinstance(body, HeartbeatResponse) and body.live):
        require_lease(node, renewed)
        raise AssertionError("a heartbeat with an origin is answered by a nack")
    for _ in range(asking.copies):
        asking.send_packet(asking.packet(asking.cancellation_of("dropped"), origin=origin))
    asking.settle()
    asking.beat_on()
    node.grow("dropped")
    asking.surely(tell(node, asking, "kept"), "notification")
    assert not asking.notifications("dropped", since=since), "a cancellation with an origin is not taken"


@rule("URB-012", roles=PUBLISHER)
def test_who_answers_whom(node: NodeUnderTest) -> None:
    """Ask, send heartbeats, and be told something, as ships of all ranks.

    All that comes back goes from the publisher to that ship.
    """
    ships = (node.main, *node.of_all_ranks())
    node.grow("there")
    for asking in ships:
        asking.promised("later")
        asking.request("there")
        asking.heartbeat()
        asking.heartbeat(unknown_session(), number=1)
    node.grow("later")
    for asking in ships:
        asking.notified("later")
        for event in asking.received():
            assert event.packet.receiver == asking.me, "an answer goes to another ship than the one that asked"
            assert event.packet.sender == asking.other, "an answer is from another ship than the one that was asked"


@rule("URB-142", roles=PUBLISHER)
def test_less_than_a_prelude(node: NodeUnderTest) -> None:
    """Send datagrams that end within header or prelude: none, one byte, and so on.

    They are dropped: nothing comes back, the session lives, and its promise is kept.
    """
    offended = Offended(node)
    asking = offended.asking
    for body in (asking.request_for("spoilt"), HeartbeatRequest(asking.id, FAR)):
        for origin in (None, Origin(LOOPBACK, asking.link.ports[0])):
            frame = write(asking.packet(body, origin=origin))
            prelude = 4 + (0 if origin is None else 6) + 1 + 4 + 2
            for length in range(prelude):
                offended.elsewhere.send_bytes(frame[:length] if length < 4 else with_checksum(frame[:length]))
        offended.elsewhere.settle()
    offended.heard_nothing()


@rule("URB-130", roles=PUBLISHER)
def test_packets_of_ames(node: NodeUnderTest) -> None:
    """Send packets of ames, both ways, without data, with some, and with bodies of other packets in them.

    Nothing is promised, the session lives where it is, and its promise is kept.
    """
    offended = Offended(node)
    asking = offended.asking
    inner = [write(asking.packet(body))[11:] for body in (HeartbeatRequest(asking.id, FAR), *ends(asking))]
    for data in (b"", b"\0", bytes(range(256)) * 3, *inner):
        for is_response in (False, True):
            for driver in (asking, offended.elsewhere):
                driver.say(Ames(data, is_response))
    offended.elsewhere.settle()
    asking.settle()
    offended.heard_nothing()


def ends(asking: TestSubscriber) -> list[Body]:
    """Return what would end an interest, and begin one."""
    return [asking.cancellation_of("kept"), asking.request_for("spoilt")]


@rule("URB-131", roles=PUBLISHER)
def test_what_only_subscribers_are_sent(node: NodeUnderTest) -> None:
    """Send the publisher heartbeat responses, nacks, promises and scry responses.

    No session is opened by them, and the one that there is lives where it is; its promise is kept.
    """
    offended = Offended(node)
    asking, unknown = offended.asking, unknown_session()
    for driver in (asking, offended.elsewhere):
        for id in (asking.id, unknown):
            for number in (1, asking.number, asking.number + 1, FAR):
                driver.say(HeartbeatResponse(id, number, live=True))
                driver.say(HeartbeatResponse(id, number, live=False))
            for name in ("kept", "spoilt"):
                driver.say(Promise(id, asking.path(name), 1, bytes(64)))
                driver.say(ScryResponse(asking.path(name), 1, bytes(64), 1, b"a value"))
    offended.elsewhere.settle()
    asking.settle()
    assert not asking.heartbeat(unknown).live, "a promise that the publisher was sent has opened a session"
    offended.heard_nothing()
