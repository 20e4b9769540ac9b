"""What goldwire's own nodes read texts with: values that keep order and digits, and no list of parts."""

from vectors.bench.throughput import Baseline
from wire.rai.relaxed import canonical, parse

BASELINES = {
    "text": Baseline("relaxed (values)", parse, canonical, read=lambda decode, frames: [*map(decode, frames)] and None)
}
