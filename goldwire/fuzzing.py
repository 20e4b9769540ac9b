"""A node under fuzzing, in a regression or a state machine: what ``import goldwire`` offers of network fuzzing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from fuzz.net.fuzzed_node import FuzzedNode, described, put_on_trial, transport_of
from fuzz.net.state_machine import FuzzMachine, MachineTrial, machine
from fuzz.net.targets import load
from harness.links.transports import framing_of
from harness.protocol import load as load_protocol


def fuzzed_node(
    protocol: str,
    iut: str = "peer:",
    *,
    transport: str = "",
    role: str = "",
    profile: Literal["document", "deployed"] = "document",
    expectations: str | Path | None = None,
    about: str = "",
    options: Sequence[str] = (),
) -> FuzzedNode:
    """Start an implementation that is to bear whatever it is told: a context manager, which ends it.

    ``iut`` is what ``goldwire fuzz net --iut`` takes (docs/iut.md), ``transport`` one that it offers, its first by
    default. ``profile`` says which readings of the document it is held to, ``options`` are for the process of our own
    peer: ``("--defect", "all")``. Rules that it is known to break, by the file ``expectations`` or that of the gate,
    are passed over, but for the one that the test is ``about``.

    Raises ``BadDescription`` where there is no such implementation, or nothing to fuzz it with, ``BadExpectations``,
    and ``StartFailed`` when it does not come up, or nobody answers at its address.
    """
    description = described(protocol, iut, role)
    expect = Path(expectations) if expectations is not None else None
    over = transport_of(description, transport)
    return FuzzedNode(put_on_trial(description, over, profile, *options, expect=expect, about=about))


def fuzz_machine(
    protocol: str,
    iut: str = "peer:",
    *,
    transport: str = "",
    role: str = "",
    profile: Literal["document", "deployed"] = "document",
    expectations: str | Path | None = None,
    options: Sequence[str] = (),
    shrinking: float = 60.0,
) -> type[FuzzMachine]:
    """Return a state machine of Hypothesis that tells an implementation whatever it likes: take its ``TestCase``.

    The arguments are those of ``fuzzed_node``. All runs of the test have one instance, which is started anew after a
    failure. What fails is made small for ``shrinking`` seconds at most.

    Raises ``BadDescription``; ``StartFailed`` is raised where the test begins.
    """
    description = described(protocol, iut, role)
    over, definition = transport_of(description, transport), load_protocol(protocol)
    # At a broker nobody but the broker reads the bytes of a stream.
    is_stream = over in definition.framings and not definition.is_brokered
    more = [f"transport={over!r}", *([f"profile={profile!r}"] if profile != "document" else [])]
    more += [f"role={role!r}"] if role else []
    more += [f"expectations={str(expectations)!r}"] if expectations is not None else []
    more += [f"options={tuple(options)!r}"] if options else []
    expect = Path(expectations) if expectations is not None else None
    head = f"with goldwire.fuzzed_node({protocol!r}, {iut!r}, {', '.join(more)}) as node:"
    return machine(
        f"Fuzzed{protocol.title()}{description.role.title().replace('-', '')}",
        load(protocol)[description.role],
        framing_of(definition.framings, over) if is_stream else None,
        MachineTrial(lambda: put_on_trial(description, over, profile, *options, expect=expect), head, shrinking),
        definition.layout,
    )
