"""JSON of msgspec, unchecked: what reading costs before anything is known to be a message."""

import msgspec

from vectors.bench.throughput import Baseline

MESSAGES = ("hello", "auth", "sub-start", "subs", "reply", "publish", "dict")

BASELINES = {
    name: Baseline("msgspec (unchecked)", msgspec.json.Decoder().decode, msgspec.json.Encoder().encode)
    for name in MESSAGES
}
