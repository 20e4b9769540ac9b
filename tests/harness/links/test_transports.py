"""A new transport is a class in a file of its own and one line in the registry: here a path that loses datagrams."""

import msgspec
import pytest

from harness.clock import RealClock
from harness.errors import BadDescription, Deadline, NotAnswered
from harness.iuts.description import resolve
from harness.links import transports
from harness.links.transports import TRANSPORTS, dial, framing_of, free_addresses, listen, parse_address
from harness.links.udp import Udp, UdpLink
from harness.timing import Timing
from harness.trace import Trace
from harness.zenoh.framings import FRAMINGS
from harness.zenoh.peers.transport import Settings
from harness.zenoh.protocol import PROTOCOL
from harness.zenoh.tester.driver import Driver
from wire.zenoh.values_transport import WhatAmI

CLOCK = RealClock()


class LossyLink(UdpLink):
    """A link that loses every second datagram which it is to send, the first one first."""

    sent = 0

    def _push(self, data: bytes) -> None:
        self.sent += 1
        if self.sent % 2 == 0:
            super()._push(data)


class Lossy(Udp):
    """UDP, but for the tester's dialling end, which loses datagrams."""

    link = LossyLink


@pytest.fixture
def lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSPORTS, "lossy", Lossy("lossy", "udp-lossy"))
    monkeypatch.setitem(transports.SPELLINGS, "udp-lossy", "lossy")


@pytest.mark.usefixtures("lossy")
def test_it_is_spelt_dialled_listened_for_and_recorded_like_any_other() -> None:
    assert str(parse_address("udp-lossy/127.0.0.1:4711")) == "lossy/127.0.0.1:4711"
    assert free_addresses(["lossy"])[0].transport == "lossy"
    trace, listener = Trace("test", "lossy"), listen("lossy", {}, CLOCK)
    assert listener.address.startswith("lossy/127.0.0.1:")
    link = dial(listener.address, {}, CLOCK, trace=trace)
    assert link.peername == listener.address
    link.send(b"lost")
    link.send(b"arrives")
    far = listener.accept(CLOCK.now() + 5)
    assert far.receive(CLOCK.now() + 5).data == b"arrives"
    with pytest.raises(Deadline):
        far.receive(CLOCK.now() + 0.05)
    assert [entry.data for entry in trace] == [b"", b"lost", b"arrives"], "the tester knows that it has sent both"
    for each in (link, far, listener):
        each.close()


@pytest.mark.usefixtures("lossy")
def test_a_peer_of_ours_serves_it() -> None:
    description = msgspec.structs.replace(resolve("peer:", "zenoh"), transports=("lossy",))
    running = PROTOCOL.embedded(description)
    driver = None
    try:
        trace = Trace("zenoh", "lossy")
        link = dial(running.address("lossy"), FRAMINGS, CLOCK, trace=trace)
        link.send(b"lost")  # so that what follows has its turn
        driver = Driver(link, trace, Settings(b"gw-lossy", WhatAmI.CLIENT), timing=Timing(answer=0.5))
        with pytest.raises(NotAnswered):
            driver.open()  # INIT arrives, OPEN is lost
    finally:
        if driver is not None:
            driver.drop()
        running.stop()


def test_a_stream_needs_a_framing_and_packets_need_none() -> None:
    assert framing_of({}, "udp").encode(b"x") == b"x"
    with pytest.raises(BadDescription, match="this protocol has no framing for tls: it has tcp"):
        framing_of({"tcp": framing_of({}, "udp")}, "tls")
