"""What a publisher with some hundred subjects says: updates of two to eight fields, one in twelve something else."""

import json
from random import Random
from typing import Any

Fields = dict[str, Any]

SESSION = "paul.AAECAwQFBgcICQoLDA0ODw"
NUMBERS = ("BID", "ASK", "TRDPRC_1", "NETCHNG_1", "HIGH_1", "LOW_1", "OPEN_PRC")
COUNTS = ("BIDSIZE", "ASKSIZE", "TRDVOL_1", "ACVOL_1")


def fields(rng: Random) -> Fields:
    """Return some fields of a market: prices, sizes, now and then a text."""
    found: Fields = {}
    for name in rng.sample(NUMBERS, rng.randrange(1, 5)):
        found[name] = round(rng.uniform(1, 400), 2) + 0.001
    for name in rng.sample(COUNTS, rng.randrange(1, 4)):
        found[name] = rng.randrange(1, 100_000)
    return found | ({"TRADE_TIME": "12:34:56"} if rng.randrange(4) == 0 else {})


def message(rng: Random, seqno: int) -> Fields:
    """Return one message that is published under a subject."""
    head: Fields = {"session": SESSION, "seqno": seqno, "digest": "3EWD9P2JaHkWzQbHrHt2Bw"}
    match rng.randrange(24):
        case 0:
            return head | {"type": "drop", "status": "nosubscribers"}
        case 1:
            return head | {"status": "conflated", "data": fields(rng)}
    return head | {"data": fields(rng)}


def spelled(fields: Any) -> str:
    """Spell a message as people do who read relaxed JSON: words without quotes."""
    if isinstance(fields, dict):
        members = (f"{name} : {spelled(value)}" for name, value in fields.items())
        return f"{{ {', '.join(members)} }}"
    if isinstance(fields, str) and fields.replace(".", "").isalnum() and not fields[0].isdigit():
        return fields
    return json.dumps(fields)


def updates(seed: int, count: int) -> list[bytes]:
    """Return messages as a publisher says them, the same for the same seed."""
    rng = Random(seed)
    dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return [dump(message(rng, number)).encode() for number in range(count)]


def relaxed(seed: int, count: int) -> list[bytes]:
    """Return the same messages as relaxed JSON."""
    rng = Random(seed)
    return [spelled(message(rng, number)).encode() for number in range(count)]


CORPORA = {"publish": {"updates": updates}, "text": {"updates": updates, "relaxed": relaxed}}
