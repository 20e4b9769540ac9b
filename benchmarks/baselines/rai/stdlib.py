"""JSON of the standard library, unchecked: any text for any message, and what it lets pass, passes."""

import json

from vectors.bench.throughput import Baseline

MESSAGES = ("hello", "auth", "sub-start", "subs", "reply", "publish", "dict")

READ = json.JSONDecoder().decode
WRITE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

BASELINES = {
    name: Baseline("json (unchecked)", lambda data: READ(data.decode()), lambda value: WRITE(value).encode())
    for name in MESSAGES
}
