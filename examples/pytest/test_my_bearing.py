"""Network fuzzing in your own pytest: what your node is told, and whether it bears that.

Copy it, and let ``NODE`` be yours: an address where it listens, or the path of its description (docs/iut.md).
"""

from hypothesis import settings

import goldwire

NODE = "peer:"


def test_a_message_that_was_cut_off_harms_nobody() -> None:
    with goldwire.fuzzed_node("zenoh", NODE) as node:
        session = node.session()
        session.say("3eac0222020003612f")
        session.listen()
        node.is_well()


TestWhateverHypothesisSays = goldwire.fuzz_machine("zenoh", NODE).TestCase
TestWhateverHypothesisSays.settings = settings(TestWhateverHypothesisSays.settings, max_examples=30)
