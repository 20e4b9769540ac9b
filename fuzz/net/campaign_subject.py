"""What a folder of findings is about: one role of one implementation of a protocol, whatever its version.

Its tests, its suspects and what is known in it are of use to nobody else: another protocol's tests would be played, and
what another implementation dies of would be taken for known.
"""

from pathlib import Path

import msgspec

from wire.files import write_file

FILE = "campaign.json"
"""In a folder of findings."""


class OtherCampaign(Exception):
    """A folder belongs to another campaign; the message names it, both, and what to do."""


class CampaignSubject(msgspec.Struct, frozen=True):
    """What is fuzzed. ``implementation`` is nothing where only an address is known, which says nothing of it."""

    protocol: str
    role: str
    implementation: str = ""

    def check(self, other: "CampaignSubject", folder: Path) -> None:
        """Raise ``OtherCampaign`` unless both may be about the same; ``folder`` is that of this one."""
        is_same = (self.protocol, self.role) == (other.protocol, other.role)
        names = {self.implementation, other.implementation} - {""}
        if not is_same or len(names) > 1:
            raise OtherCampaign(
                f"{folder} is of a campaign about {self}, and not about {other}: name another --out, or remove it"
            )

    def __str__(self) -> str:
        return " ".join(filter(None, (self.protocol, self.role, self.implementation)))


def begin_folder(folder: Path, subject: CampaignSubject) -> bool:
    """Make a folder of findings one about a subject; tell whether it was about none. ``OtherCampaign`` of another's."""
    folder.mkdir(parents=True, exist_ok=True)
    if (known := subject_of(folder)) is not None:
        known.check(subject, folder)
    # Who has begun it at an address may know more by now.
    if known is None or not known.implementation:
        write_file(folder / FILE, msgspec.json.encode(subject) + b"\n")
    return known is None


def subject_of(folder: Path) -> CampaignSubject | None:
    """Return what a folder of findings is about; ``None`` where nothing says so."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=CampaignSubject)
    except (OSError, msgspec.DecodeError):
        return None
