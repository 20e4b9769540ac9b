"""zenoh-interests, "Final Mode (INTEREST_FINAL)": what ends an interest, and what does not."""

from conformance.cases import rule
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import InterestHandle, declared, token
from wire.zenoh.values import EntityKind, Interest, InterestFinal, Mode, Options

T = EntityKind.TOKEN

# A Final that ends too early, as hex: nothing of it, or half of what its header announces.
UNFINISHED = {"without an id": "19", "with half an id": "1980", "without its extensions": "9905"}


@rule("ZI-063", transports=("tcp", "udp"))
def test_interest_right_behind_a_final(node: NodeUnderTest) -> None:
    """End an interest and ask again at once, in one batch.

    The byte after the Final begins the new INTEREST, which is answered.
    """
    running = node.interest(Mode.CURRENT_FUTURE, T, key="a/*")
    running.snapshot()
    options = Options.T | Options.R | Options.N | Options.M
    behind = InterestHandle(node.main, Interest(60, Mode.CURRENT, options, node.main.wire_expr("b/*")))
    node.main.send(InterestFinal(running.id), behind.message)
    assert behind.reply().final is not None, "the INTEREST behind a Final is not answered"


@rule("ZI-064", transports=("tcp", "udp"))
def test_final_for_what_does_not_run(node: NodeUnderTest) -> None:
    """Send Finals for a Current interest, for one that has ended, and for one that never was.

    They are ignored, or the session ends; nothing is answered under their ids.
    """
    session = node.main
    node.interest(Mode.CURRENT, T, key="a/*", id=107).snapshot()
    node.interest(Mode.CURRENT_FUTURE, T, key="a/*", id=108).snapshot()
    session.final(108)
    session.barrier()
    since = session.place
    session.send(InterestFinal(107), InterestFinal(108), InterestFinal(123))
    session.read()
    assert session.ended or session.answers(), "the session hangs after a Final for what does not run"
    under = [event for event in session.received(since) if event.interest_id in (107, 108, 123)]
    assert not under, "a Final is answered under its id"
    node.shows("ZI-064", "R31", "B" if session.ended else "A")


@rule("ZI-065", roles=("router",))
def test_final_that_is_cut_short(node: NodeUnderTest) -> None:
    """Interests 0 and 5 run; a batch ends in the middle of a Final.

    It is refused: it ends neither of them, unless the session ends with it.
    """
    for number, (how, cut) in enumerate(UNFINISHED.items()):
        session = node.session()
        # 0 is what an id that is missing, or half there, may be read as; 5 is the id of the Final without its
        # extensions.
        for interest in (0, 5):
            node.interest(Mode.CURRENT_FUTURE, T, key=f"{interest}/*", id=interest, session=session).snapshot()
        session.offend(bytes.fromhex(cut))
        for interest in (0, 5) if not session.ended else ():
            node.other.declare_token(f"{interest}/{number}")
            heard = session.receives(declared(token(f"{interest}/{number}")))
            assert heard or session.ended, f"a Final {how} ended an interest"
