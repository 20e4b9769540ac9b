"""What the real tshark shows of frames, through a dissector that goldwire wrote."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
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

NO_FIELDS = ("refused", "overlong", "reserved", "damaged", "framing.length")
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

    ``branches`` have other fields below them and no value; ``gathered`` are the fields of what several frames hold
    together; ``remarks`` are the texts of expert infos.
    """

    fields: list[ShownField]
    branches: list[ShownField]
    gathered: list[ShownField]
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


def run(*arguments: str) -> Iterator[str]:
    """Give the lines that tshark says, without anybody's preferences; fail on whatever it or Lua complains about."""
    with (
        TemporaryDirectory() as home,
        TemporaryFile("w+", encoding="utf-8", errors="surrogateescape", newline="\n") as said,
    ):
        ran = subprocess.run(
            [str(TSHARK), *arguments],
            stdout=said,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
            env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "LC_ALL": "C.UTF-8"},
        )
        complaints = [line for line in ran.stderr.decode().splitlines() if not line.startswith("Running as user")]
        assert (ran.returncode, complaints) == (0, [])
        said.seek(0)
        yield from said


def packets(capture: Path, script: Path, protos: Iterable[str], *options: str) -> Iterator[ElementTree.Element]:
    """Give what is shown below some protocols, as PDML: packet by packet, as all of them take a lot of memory."""
    parser = ElementTree.XMLPullParser()
    shown = "-T", "pdml", "-J", " ".join(protos)
    for line in run("-r", str(capture), "-X", f"lua_script:{script}", *options, *shown):
        # tshark writes control characters as they are, which XML does not allow.
        parser.feed(UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", line))
        for _, element in parser.read_events():
            if element.tag == "packet":
                yield element
                element.clear()


def shown(dissector: str, frames: Sequence[tuple[str, bytes]], into: Path) -> list[ShownFrame]:
    """Return what one run of tshark shows of frames: each has a layout's name, and is a datagram's payload."""
    return list(each_shown(dissector, frames, into))


def each_shown(dissector: str, frames: Sequence[tuple[str, bytes]], into: Path) -> Iterator[ShownFrame]:
    """Give the same frame by frame, as all of thousands take a lot of memory; fail unless there are as many."""
    script, capture = into / "dissector.lua", into / "frames.pcapng"
    script.write_text(dissector)
    ports = {layout: 40001 + index for index, layout in enumerate(dict.fromkeys(layout for layout, _ in frames))}
    with PcapngWriter(capture) as writer:
        for time, (layout, data) in enumerate(frames):
            ends = packed_end("127.0.0.1", 1), packed_end("127.0.0.1", ports[layout])
            writer.write(datagram(*ends, data), time)
    protos = {layout: f"goldwire_{layout.replace('/', '_').replace('-', '_')}" for layout in ports}
    options = [f"-dudp.port=={port},{protos[layout]}" for layout, port in ports.items()]
    count = 0
    for packet in packets(capture, script, protos.values(), *options):
        for root in packet.iter("proto"):
            if root.get("name") in protos.values():
                count += 1
                yield frame(root, HEADERS)
    assert count == len(frames)


def frame(root: ElementTree.Element, before: int) -> ShownFrame:
    """Return what is shown below a protocol, whose frame begins ``before`` bytes into the data."""
    protocol = str(root.get("name")).split("_")[1]
    shown = ShownFrame([], [], [], None, any(each.get("name") == "_ws.malformed" for each in root.iter("proto")), [])
    for each in root:
        shown = with_field(shown, each, protocol, before)
    return shown


def with_field(shown: ShownFrame, field: ElementTree.Element, protocol: str, before: int) -> ShownFrame:
    """Return a frame with a field more, and with what is below that."""
    name, start = str(field.get("name")), int(str(field.get("pos"))) - before
    value = ShownField(name, start, int(str(field.get("size"))), str(field.get("show")))
    if name == f"{protocol}.reason":
        shown = shown._replace(refusal=(value.text, start))
    elif name == "_ws.expert.message":
        shown.remarks.append(value.text)
    elif "put together" in str(field.get("showname")):  # other bytes than those of the frame
        gathered = [ShownField(str(each.get("name")), 0, 0, str(each.get("show"))) for each in field.iter("field")]
        return shown._replace(gathered=gathered)
    elif name.startswith(f"{protocol}.") and name.removeprefix(f"{protocol}.") not in NO_FIELDS:
        # What has no value has an empty one; empty bytes and texts have none.
        (shown.branches if field.get("value") == field.get("show") == "" else shown.fields).append(value)
    for each in field:
        shown = with_field(shown, each, protocol, before)
    return shown
