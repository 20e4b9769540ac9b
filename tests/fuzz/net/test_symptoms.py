"""Where an implementation has died, read from what it printed; and by what two symptoms are one."""

import pytest

from fuzz.net.moves import EndsSession, GivesCommand, Opens, Says
from fuzz.net.symptoms import GROWS, GROWS_FAST, RAW, REFUSED, Symptom, about, crash, crash_place, kinds_of
from wire.zenoh.values import Declare, DeclareEntity, DeclareFinal, EntityKind, Extension, Push, WireExpr
from wire.zenoh.values_transport import KeepAlive, write_batch, write_network

ASAN = """
=================================================================
==4711==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x55d0 bp 0x7ffc sp 0x7ffb
READ of size 1 at 0x602000000011 thread T0
    #0 0x55d0c4f4a1b2 in read_key /home/me/router/src/keys.c:117:12
    #1 0x55d0c4f4a0ff in main /home/me/router/src/main.c:20
SUMMARY: AddressSanitizer: heap-buffer-overflow /home/me/router/src/keys.c:117:12 in read_key
Shadow bytes around the buggy address:
"""
ASAN_IN_A_CALL = """
==4711==ERROR: AddressSanitizer: negative-size-param: (size=-5)
    #0 0x55d0 in __asan_memset (/home/me/router/build/router+0xb0a1) (BuildId: 0c1d)
    #1 0x55d1 in read_id /home/me/router/src/ids.c:80:5
    #2 0x55d2 in main /home/me/router/src/main.c:20
SUMMARY: AddressSanitizer: negative-size-param (/home/me/router/build/router+0xb0a1) (BuildId: 0c1d) in __asan_memset
"""
ASAN_IN_A_LIBRARY = """
==4711==ERROR: AddressSanitizer: negative-size-param: (size=-5)
    #0 0x55d0 in __asan_memset (/home/me/router/build/router+0xb0a1) (BuildId: 0c1d)
    #1 0x55d1 in read_id (/home/me/lib/x.so+0x1a)
"""
ASAN_WITHOUT_SYMBOLS = """
==4711==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000
    #0 0x55d0  (/home/me/router/build/router+0xb0a1) (BuildId: 0c1d)
    #1 0x55d1  (/home/me/router/build/router+0xc0ff) (BuildId: 0c1d)
SUMMARY: AddressSanitizer: SEGV (/home/me/router/build/router+0xb0a1) (BuildId: 0c1d)
"""
UBSAN_SUMMARY = "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior /home/me/router/src/vec.h:112:31 in "
UBSAN = "src/session.cpp:42:17: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented"
RUST = """thread 'net-0' panicked at commons/zenoh-codec/src/core/zint.rs:88:22:
index out of bounds: the len is 3 but the index is 3
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""
RUST_NO_MEMORY = "ready\nmemory allocation of 25769803776 bytes failed"
RUST_ONE_LINE = "thread 'net-0' panicked at io/src/lib.rs:12:5:\nboom"
PYTHON = """Traceback (most recent call last):
  File "/opt/node/peers/peer_server.py", line 200, in serve
    self.peer.receive(data)
  File "/opt/node/peers/router.py", line 44, in on_message
    bytes([300])
ValueError: bytes must be in range(0, 256)
the peer has died: ValueError: bytes must be in range(0, 256)"""
PYTHON_CHAINED = """Traceback (most recent call last):
  File "/opt/a.py", line 1, in first
KeyError: 1

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/b.py", line 2, in second
msgspec.ValidationError: no"""
RECURSION = """Traceback (most recent call last):
  File "/opt/server.py", line 2, in serve
  File "/opt/filter.py", line 9, in parse_not
  File "/opt/filter.py", line 5, in parse
  File "/opt/filter.py", line 9, in parse_not
  File "/opt/filter.py", line 5, in parse
  File "/opt/filter.py", line 9, in parse_not
  File "/opt/filter.py", line 5, in parse
  File "/opt/filter.py", line 1, in %s
RecursionError: maximum recursion depth exceeded"""
ASSERTION = "router: session.c:118: on_close: Assertion `session->links > 0' failed.\nAborted (core dumped)"
CPP = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check: __n"
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 17 [running]:
runtime.goPanicIndex(0x3, 0x3)
\t/usr/local/go/src/runtime/panic.go:113 +0x74
example.com/broker/server.(*client).parse(0xc000, {0xc1, 0x3, 0x3})
\t/home/me/broker/server/parser.go:412 +0x1d
"""


@pytest.mark.parametrize(
    ("output", "place", "why"),
    [
        (ASAN, "keys.c:117:12", "AddressSanitizer: heap-buffer-overflow"),
        (ASAN_IN_A_CALL, "ids.c:80:5", "AddressSanitizer: negative-size-param"),
        (ASAN_IN_A_LIBRARY, "x.so+0x1a", "AddressSanitizer: negative-size-param"),
        (ASAN_WITHOUT_SYMBOLS, "router+0xb0a1", "AddressSanitizer: SEGV"),
        (
            *(UBSAN, "session.cpp:42:17"),
            "runtime error: signed integer overflow: 2147483647 + 1 cannot be represented",
        ),
        (UBSAN_SUMMARY, "vec.h:112:31", "UndefinedBehaviorSanitizer: undefined-behavior"),
        (RECURSION % "peek", "RecursionError in parse (filter.py)", ""),
        (RECURSION % "verify", "RecursionError in parse (filter.py)", ""),
        (RUST, "zint.rs:88", "index out of bounds: the len is 3 but the index is 3"),
        (RUST_NO_MEMORY, "memory allocation", "25769803776 bytes failed"),
        (RUST_ONE_LINE, "lib.rs:12", "boom"),
        (PYTHON, "ValueError in on_message (router.py:44)", ""),
        (PYTHON_CHAINED, "msgspec.ValidationError in second (b.py:2)", ""),
        (ASSERTION, "session.c:118: on_close: Assertion `session->links > 0' failed", ""),
        (CPP, "terminate called after throwing an instance of 'std::out_of_range'", ""),
        (GO, "parser.go:412", "runtime error: index out of range [3] with length 3"),
        ("Segmentation fault", "", ""),
        ("", "", ""),
    ],
    ids=[
        *("asan", "asan-in-a-call", "asan-in-a-library", "asan-without-symbols"),
        *("ubsan", "ubsan-summary", "recursion", "recursion-elsewhere"),
        *("rust", "rust-memory", "rust-short", "python", "python-chained", "assertion", "c++", "go", "none", "silent"),
    ],
)
def test_where_it_has_died(output: str, place: str, why: str) -> None:
    found, reason = crash_place(output)
    # A program may be named before a place.
    assert place in found
    assert bool(found) is bool(place)
    assert reason == why


@pytest.mark.parametrize("output", [ASAN, UBSAN, RUST, PYTHON, ASSERTION, CPP, GO])
def test_it_says_where_whatever_else_was_printed(output: str) -> None:
    alone = crash(output)
    assert alone.says_where
    assert alone.what.startswith("")
    assert "\n" not in alone.what
    noisy = crash(f"ready tcp/127.0.0.1:7447\nevent connected\n{output}\nbye")
    assert noisy.key == alone.key


def test_a_rule_is_one_whatever_it_is_broken_with() -> None:
    """A regression: each key that a router listed in vain was a finding of its own."""
    one, two = (Symptom("rule", f"'{key}' does not match what was asked for", "ZI-012") for key in ("a/b", "c/**"))
    assert one.key == two.key
    assert one.key != Symptom("rule", one.what, "ZI-013").key


def test_of_who_says_no_place_the_log_makes_no_other_symptom() -> None:
    """A regression: of a program with a log that has times each crash was another one, and none could be made small."""
    log = "2026-11-28T10:11:12.345678Z INFO a session began\n2026-11-28T10:11:13Z INFO it ended"
    one, two = (crash(f"it ended with status -11; {each}") for each in (log, log.replace(":11:", ":12:")))
    assert one.what == "it ended with status -11"
    assert one.rough == two.rough
    assert one.output != two.output
    assert one.rough != crash(f"it ended with status -6; {log}").rough
    # A line by which the program's description tells a crash says more.
    said = [crash(f"{log}\nFATAL: slot {slot} is gone\n{log}", ("FATAL",)) for slot in (3, 4)]
    assert said[0].what == "FATAL: slot 3 is gone"
    assert said[0].rough == said[1].rough != one.rough


def test_who_dies_without_a_word_is_told_apart_by_what_was_said() -> None:
    silent = crash("")
    assert silent.what == "without a word"
    assert not silent.says_where
    one, two = (Symptom("crash", silent.what, about=(each,)) for each in ("PUSH", "REQUEST"))
    assert one.rough == two.rough
    assert one.key != two.key
    assert one.digest != two.digest


def test_numbers_and_addresses_make_no_other_symptom() -> None:
    places = ("2.5s from 127.0.0.1:7447", "3s from 10.0.0.1:1")
    one, two = (Symptom("hang", f"no answer in {each}") for each in places)
    assert one.key == two.key
    assert Symptom("service", one.what).key != one.key


def test_what_a_test_is_about_is_what_is_said_last_and_understood() -> None:
    push, final = write_network(Push(WireExpr("a"), b"x")), write_network(Declare(DeclareFinal()))
    test = (
        *(Opens("a", "peer"), Says("a", (push, b"\x00")), Says("b", (b"x",), "raw")),
        *(Says("a", (final,)), Says("a", (push,)), EndsSession("a", "drop")),
    )
    assert about(test, "zenoh/network-message", "zenoh/batch") == ("DECLARE D_FINAL", "PUSH PUT", "drop")
    assert about(test[:2], "zenoh/network-message", "zenoh/batch") == ("session as peer", "PUSH PUT")
    assert about((Says("a", (b"\x00",)),), "zenoh/network-message", "zenoh/batch") == (REFUSED,)
    assert about((Says("a", (b"x",), "raw"), GivesCommand("put")), "zenoh/network-message", "zenoh/batch") == (
        RAW,
        "command put",
    )
    assert about((Says("a", (write_batch([KeepAlive()]),), "frame"),), "zenoh/network-message", "zenoh/batch") == (
        "KEEP_ALIVE",
    )
    assert about((Opens("a"),), "zenoh/network-message", "zenoh/batch") == ()


def test_a_sanitizers_values_and_folders_make_no_other_symptom() -> None:
    one, two = (
        crash(f"{folder}/ids.c:72:9: runtime error: index {index} out of bounds for type 'uint8_t[16]'")
        for folder, index in (("/build", 128), ("/home/me", 17))
    )
    assert one.key == two.key
    for output in (ASAN, ASAN_IN_A_CALL, ASAN_IN_A_LIBRARY, ASAN_WITHOUT_SYMBOLS):
        assert crash(output).key == crash(output.replace("/home/me", "/build")).key
    assert crash(ASAN_WITHOUT_SYMBOLS).key != crash(ASAN_WITHOUT_SYMBOLS.replace("b0a1", "b0a2")).key


def test_a_function_may_die_of_several_things() -> None:
    """A regression: of two crashes in one function and of one type, the second was taken for the first."""
    assert crash(PYTHON).key != crash(PYTHON.replace("line 44", "line 48")).key
    assert crash(PYTHON).key == crash(PYTHON.replace("line 200", "line 201").replace("/opt", "/home/me")).key


def test_an_error_with_a_small_letter_is_named() -> None:
    place, _ = crash_place('Traceback:\n  File "peer/codec.py", line 3, in read\nstruct.error: too short\nerror: ended')
    assert place == "struct.error in read (codec.py:3)"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("**/a/" * 8 + "b", "repetitive DECLARE D_TOKEN"),
        ("a" * 15, "repetitive DECLARE D_TOKEN"),
        ("lab/device/7/lab/device/7", "DECLARE D_TOKEN"),
        ("a" * 7, "DECLARE D_TOKEN"),
    ],
)
def test_what_says_the_same_again_and_again_is_a_kind_of_its_own(key: str, kind: str) -> None:
    """A regression: a hang of many wildcards was taken for one of something else in the same message."""
    said = Declare(DeclareEntity(EntityKind.TOKEN, 1, WireExpr(key)), None, (Extension(3, bytes(64)),))
    assert kinds_of("zenoh/network-message", write_network(said)) == (kind,)


def test_who_grows_fast_grows() -> None:
    """A regression: what was known to grow was looked into again and again where it had taken a gigabyte at once."""
    fast, slow = Symptom("growth", GROWS_FAST), Symptom("growth", GROWS.format("memory"))
    assert fast.rough == slow.rough
    assert slow.rough == "growth||each time the test is played, it takes more memory"
    assert Symptom("growth", GROWS.format("threads")).rough != fast.rough
