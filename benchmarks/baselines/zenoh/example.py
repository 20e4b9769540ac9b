"""zenoh/network-message by the example in examples/codecs/python: what somebody writes who wants it plain, not fast.

Its values are those of the pipe, in which bytes are ``{"hex": …}``. ``hand.py`` beside this is the other end: whoever
writes that one gives up the reasons and offsets of refusals for speed.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from vectors.bench.throughput import Baseline

EXAMPLE = Path(__file__).parents[3] / "examples" / "codecs" / "python" / "adapter.py"

spec = spec_from_file_location("_goldwire_example_zenoh", EXAMPLE)
assert spec is not None
assert spec.loader is not None
adapter = module_from_spec(spec)
spec.loader.exec_module(adapter)

BASELINES = {"network-message": Baseline("example", adapter.decode, adapter.encode)}
