"""pathfinder/message by the example in examples/codecs/pathfinder: a strict reader of JSON in plain Python.

``hand.py`` beside this leaves the syntax to the standard library, and does not know where a refused text goes wrong.
"""

from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from vectors.bench.throughput import Baseline

EXAMPLE = Path(__file__).parents[3] / "examples" / "codecs" / "pathfinder" / "adapter.py"

spec = spec_from_file_location("_goldwire_example_pathfinder", EXAMPLE)
assert spec is not None
assert spec.loader is not None
adapter = module_from_spec(spec)
spec.loader.exec_module(adapter)

BASELINES = {
    name: Baseline(
        "example", partial(adapter.decode, f"pathfinder/{name}"), partial(adapter.encode, f"pathfinder/{name}")
    )
    for name in ("message", "deployed-message")
}
