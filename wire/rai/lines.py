"""What is said at a broker in one line: the operation, the subject and the text that is published."""

from wire import envelope
from wire.envelope import CANCEL, DATA, LISTEN
from wire.errors import DecodeError
from wire.escaping import escaped

NAMES = {DATA: "publish", LISTEN: "listen", CANCEL: "cancel"}

LONGEST = 600
"""Characters of a payload that are shown: a message of the document has fewer."""


def line(frame: bytes) -> tuple[str, str] | None:
    """Return what kind of message a frame is, and the frame in a line; ``None`` where it is no envelope."""
    try:
        said = envelope.read(frame)
    except DecodeError:
        return None
    name = NAMES[said.operation]
    if said.operation != DATA:
        return name, f"{name} {escaped(said.subject)}"
    shown = said.payload[: 4 * LONGEST].decode(errors="backslashreplace")
    text = escaped(shown[:LONGEST]) + ("…" if len(shown) > LONGEST else "")
    return kind_of(said.subject), f"{escaped(said.subject)} {text or '(empty)'}"


def kind_of(subject: str) -> str:
    """Return the part of a subject that says what is published there: ``_SUB.START``, ``_INBOX auth``, ``publish``."""
    parts = subject.split(".")
    if parts[0] == "_INBOX":
        return " ".join((parts[0], *(part for part in parts[3:4] if part.isidentifier())))
    if parts[0] in ("_SESSION", "_SUB", "_PSUB"):
        return ".".join(parts[:2])
    return parts[0] if parts[0] == "_SNAP" else NAMES[DATA]
