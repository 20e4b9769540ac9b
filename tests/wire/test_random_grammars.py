"""Random grammars in all engines and in columns, against the reference engine."""

import random
from pathlib import Path
from typing import Any

import pytest
from made import assert_equal_columns, make, outcome
from random_grammars import grammars

from wire import columnar, reference
from wire.errors import Reason
from wire.layout import lay_out
from wire.primitives import Grammar

FRAMES = 300


def frames(grammar: Grammar, rng: random.Random) -> list[bytes]:
    """Frames that are led towards valid ones: cut where something is over, longer where something is missing."""
    made: list[bytes] = []
    good = [b""]
    while len(made) < FRAMES:
        data = bytearray(rng.choice(good)) if rng.random() < 0.6 else bytearray()
        if not data or rng.random() < 0.5:
            data += bytes(rng.choice((0, 1, 2, 3, 0x80, 0xFF, rng.randrange(256))) for _ in range(rng.randrange(30)))
        else:
            data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 3, 0x80, rng.randrange(256)))
        led = bytes(data)
        for _ in range(12):
            found = outcome(reference.decode, grammar, led)
            if not isinstance(found, tuple):
                good.append(led)
                break
            reason, at = found
            if reason is Reason.TRAILING:
                led = led[:at]
            elif reason is Reason.TRUNCATED:
                led += bytes(rng.choice((0, 0, 1, 2, 3, rng.randrange(256))) for _ in range(rng.choice((1, 2, 4, 8))))
            elif reason in (Reason.BAD_VALUE, Reason.UNKNOWN_ID):
                led = led[:at] + bytes((rng.choice((0, 0, 1, 2, 3)),)) + led[at + 1 :]
            else:
                break
        made.append(led)
    return made


def compare(name: str, grammar: Grammar, made: dict[str, Any], frame: bytes) -> bool:
    """Hold the engines against the reference for one frame; tell whether it is accepted."""
    expected = outcome(reference.decode, grammar, frame)
    accepted = not isinstance(expected, tuple)
    canonical = reference.encode(grammar, expected) if accepted else b""
    for engine in ("python", "native"):
        if engine in made:
            codec = made[engine][name]
            got = outcome(codec.decode, frame, False)
            assert got == expected, (engine, frame.hex())
            if accepted:
                assert codec.encode(got) == codec.encode(expected) == canonical, (engine, frame.hex())
    if accepted:
        assert reference.decode(grammar, canonical) == expected, frame.hex()
    return accepted


@pytest.mark.slow  # two extensions of many grammars are compiled, for every seed
@pytest.mark.parametrize("seed", range(3))
def test_random_grammars(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = grammars(seed, 15)
    monkeypatch.setattr(reference, "find", lambda name: drawn[name.partition("/")[2]])
    protocol = f"random-{seed}"  # as in tests/vectors/checks/test_alphabet_check.py, which needs the same C
    layouts = {name: lay_out(grammar, f"{protocol}/{name}") for name, grammar in drawn.items()}
    made = make(protocol, list(layouts.values()), tmp_path)
    pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that reads columns")
    accepted = 0
    for name, grammar in drawn.items():
        data = frames(grammar, random.Random(name))
        accepted += sum(compare(name, grammar, made, frame) for frame in data)
        if "columns" in made:
            got = pa.record_batch(made["columns"].decode(f"{protocol}/{name}", data, False))

            def decode(frame: bytes, grammar: Grammar = grammar) -> Any:
                return reference.decode(grammar, frame)

            assert_equal_columns(pa, got, columnar.gather(layouts[name], decode, data), data)
    assert accepted > 1000
