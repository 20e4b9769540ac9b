"""What a directory with some traffic sends and gets: mostly notifications of services, and what clients ask."""

import json
from random import Random
from typing import Any

Fields = dict[str, Any]


def service(rng: Random) -> Fields:
    """Return what describes a service."""
    name = rng.choice(("web", "metrics", "printer", "camera", "goldwire"))
    props = {
        "name": [name],
        "address": [f"http://10.0.{rng.randrange(256)}.{rng.randrange(256)}:{rng.randrange(1024, 65536)}"],
        "rack": [rng.randrange(40)],
        "tags": rng.sample(["blue", "green", "test", "eu", "\u00fcber"], rng.randrange(3)),
    }
    described = {"service-id": rng.getrandbits(63), "generation": rng.randrange(9), "service-props": props, "ttl": 60}
    return described | {"client-id": rng.getrandbits(63)}


def message(rng: Random) -> Fields:
    """Return one message; of ten about six tell of a service."""
    die, ta_id = rng.randrange(10), rng.randrange(1 << 20)
    if die < 4:
        match = rng.choice(("appeared", "modified"))
        return {"ta-cmd": "subscribe", "ta-id": ta_id, "msg-type": "notify", "match-type": match, **service(rng)}
    if die < 6:
        found: Fields = {"ta-cmd": "services", "ta-id": ta_id, "msg-type": "notify", **service(rng)}
        return found if rng.randrange(4) else found | {"orphan-since": 1700000000 + rng.randrange(10**6) / 4}
    if die < 7:
        published = {name: value for name, value in service(rng).items() if name != "client-id"}
        return {"ta-cmd": "publish", "ta-id": ta_id, "msg-type": "request", **published}
    if die < 8:
        fields = {"subscription-id": rng.getrandbits(24), "filter": "(&(name=goldwire)(rack>7))"}
        return {"ta-cmd": "subscribe", "ta-id": ta_id, "msg-type": "request", **fields}
    command, kind = rng.choice(
        (("ping", "request"), ("ping", "complete"), ("publish", "complete"), ("services", "accept"))
    )
    return {"ta-cmd": command, "ta-id": ta_id, "msg-type": kind}


def directory(seed: int, count: int) -> list[bytes]:
    """Return messages as a server of a directory sends and gets them, the same for the same seed."""
    rng = Random(seed)
    dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return [dump(message(rng)).encode() for _ in range(count)]


CORPORA = {"message": {"directory": directory}, "deployed-message": {"directory": directory}}
