"""What the real tshark shows of frames, through a dissector that goldwire wrote."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, NoReturn
from xml.etree import ElementTree

import pytest

from harness.captures.segmentation import datagram, packed_end
from harness.captures.writer import PcapngWriter

TSHARK = shutil.which("tshark")
HEADERS = 28
"""Bytes of IPv4 and UDP before a frame."""

LARGEST = 0xFFFF - HEADERS
"""Bytes of the largest frame that a datagram holds."""

NO_FIELDS = ("refused", "overlong", "reserved", "framing.length")
"""What is not of the layout: expert infos, and what stands before a frame."""

UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class ShownField(NamedTuple):
    """A field that Wireshark shows: its filter, where it stands in the frame, and its value as text."""

    name: str
    start: int
    size: int
    text: str


class ShownFrame(NamedTuple):
    """What Wireshark shows of a frame: the fields, and the reason and the offset of a refusal, if it is refused.

    ``branches`` have other fields below them and no value; ``remarks`` are the texts of expert infos.
    """

    fields: list[ShownField]
    branches: list[ShownField]
    refusal: tuple[str, int] | None
    is_malformed: bool
    remarks: list[str]


def need_tshark() -> None:
    """Skip a test where there is no tshark; fail where there has to be one."""
    if TSHARK is None:
        missing("tshark")


def missing(program: str) -> NoReturn:
    """Skip a test whose program is not installed; fail where it has to be, as in CI."""
    if os.environ.get("GOLDWIRE_TSHARK") == "required":
        pytest.fail(f"{program} is not installed, and GOLDWIRE_TSHARK says that it has to be")
    pytest.skip(f"{program} is not installed: apt-get install tshark lua5.2 lua5.4")


def run(*arguments: str) -> str:
    """Run tshark without anybody's preferences; fail on whatever it or Lua complains about."""
    with TemporaryDirectory() as home:
        ran = subprocess.run(
            [str(TSHARK), *arguments],
            capture_output=True,
            timeout=120,
            check=False,
            env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "LC_ALL": "C.UTF-8"},
        )
    complaints = [line for line in ran.stderr.decode().splitlines() if line and not line.startswith("Running as user")]
    assert (ran.returncode, complaints) == (0, [])
    return ran.stdout.decode(errors="surrogateescape")


def packets(capture: Path, script: Path, protos: Iterable[str], *options: str) -> list[ElementTree.Element]:
    """Return what is shown below some protocols, packet by packet, as PDML."""
    text = run("-r", str(capture), "-X", f"lua_script:{script}", *options, "-T", "pdml", "-J", " ".join(protos))
    # tshark writes control characters as they are, which XML does not allow.
    return list(ElementTree.fromstring(UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", text)).iter("packet"))


def shown(dissector: str, frames: Sequence[tuple[str, bytes]], into: Path) -> list[ShownFrame]:
    """Return what one run of tshark shows of frames: each has a layout's name, and is a datagram's payload."""
    script, capture = into / "dissector.lua", into / "frames.pcapng"
    script.write_text(dissector)
    ports = {layout: 40001 + index for index, layout in enumerate(dict.fromkeys(layout for layout, _ in frames))}
    with PcapngWriter(capture) as writer:
        for time, (layout, data) in enumerate(frames):
            ends = packed_end("127.0.0.1", 1), packed_end("127.0.0.1", ports[layout])
            writer.write(datagram(*ends, data), time)
    protos = {layout: f"goldwire_{layout.replace('/', '_').replace('-', '_')}" for layout in ports}
    options = [f"-dudp.port=={port},{protos[layout]}" for layout, port in ports.items()]
    found = packets(capture, script, protos.values(), *options)
    roots = [root for packet in found for root in packet.iter("proto") if root.get("name") in protos.values()]
    assert len(roots) == len(frames)
    return [frame(root, HEADERS) for root in roots]


def frame(root: ElementTree.Element, before: int) -> ShownFrame:
    """Return what is shown below a protocol, whose frame begins ``before`` bytes into the data."""
    protocol = str(root.get("name")).split("_")[1]
    fields: list[ShownField] = []
    branches: list[ShownField] = []
    remarks: list[str] = []
    refusals: list[tuple[str, int]] = []
    for each in root.iter("field"):
        name, start = str(each.get("name")), int(str(each.get("pos"))) - before
        if name == f"{protocol}.reason":
            refusals.append((str(each.get("show")), start))
        elif name == "_ws.expert.message":
            remarks.append(str(each.get("show")))
        elif name.startswith(f"{protocol}.") and name.removeprefix(f"{protocol}.") not in NO_FIELDS:
            shown = ShownField(name, start, int(str(each.get("size"))), str(each.get("show")))
            # What has no value has an empty one; empty bytes and texts have none.
            (branches if each.get("value") == each.get("show") == "" else fields).append(shown)
    malformed = any(each.get("name") == "_ws.malformed" for each in root.iter("proto"))
    return ShownFrame(fields, branches, refusals[0] if refusals else None, malformed, remarks)
