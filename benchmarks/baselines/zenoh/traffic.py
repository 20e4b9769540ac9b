"""Frames as they are seen in the field: declarations with keys of some length, few of them with extensions."""

from random import Random
from typing import Any

from wire.engines import engine

KINDS = (("D_SUBSCRIBER", 2, "subs_id"), ("D_TOKEN", 6, "token_id"), ("D_QUERYABLE", 4, "qbls_id"))
WORDS = ("demo", "example", "robot", "arm", "camera", "left", "state", "cmd", "**", "*", "lidar", "7", "pose")
LEAST, MOST = 10, 20
"""Characters of a suffix."""


def declarations(seed: int, count: int) -> list[bytes]:
    """Return DECLAREs: half with interest_id, one in ten with an extension, four in five with a suffix."""
    rng = Random(seed)
    return [engine("reference").encode("zenoh/network-message", declaration(rng)) for _ in range(count)]


def declaration(rng: Random) -> dict[str, Any]:
    """Return one DECLARE."""
    name, number, key = rng.choice(KINDS)
    answers, suffixed, extended = rng.random() < 0.5, rng.random() < 0.8, rng.random() < 0.1
    return {
        "type": "DECLARE",
        "header": {"Z": int(extended), "I": int(answers)},
        "interest_id": rng.getrandbits(rng.choice((6, 13, 20))) if answers else None,
        "extensions": [quality(rng)] if extended else None,
        "declaration": {
            "type": name,
            "header": {"M": rng.getrandbits(1), "N": int(suffixed), "id": number},
            key: rng.getrandbits(rng.choice((6, 13, 20, 32))),
            "key_scope": rng.getrandbits(rng.choice((1, 6, 13))),
            "key_suffix": suffix(rng) if suffixed else None,
            "extensions": None,
        },
    }


def quality(rng: Random) -> dict[str, Any]:
    """Return the extension QoS."""
    return {"header": {"encoding": 1, "id": 1}, "value": rng.getrandbits(8)}


def suffix(rng: Random) -> str:
    """Return words with slashes."""
    text = ""
    while len(text) < LEAST:
        text += "/" + rng.choice(WORDS)
    return text[:MOST]


CORPORA = {"network-message": {"declare": declarations}}
