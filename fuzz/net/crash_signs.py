"""Signs of a crash in what a program prints: those that its description names, and the reports of sanitizers."""

import msgspec

from harness.iuts.description import Description, Launched

REPORTS = ("ERROR: AddressSanitizer", "WARNING: MemorySanitizer", "WARNING: ThreadSanitizer", ": runtime error: ")
"""What sanitizers begin their reports with: where they are told so, the process goes on."""


def with_reports(description: Description) -> Description:
    """Return a description of an implementation that crashes, for who fuzzes it, when a sanitizer reports something."""
    source = description.source
    if not isinstance(source, Launched):
        return description
    program = msgspec.structs.replace(source.program, crash_signs=(*source.program.crash_signs, *REPORTS))
    return msgspec.structs.replace(description, source=msgspec.structs.replace(source, program=program))


def signs_of(description: Description) -> tuple[str, ...]:
    """Return the texts by which a line of a program's output tells of a crash."""
    return description.source.program.crash_signs if isinstance(description.source, Launched) else ()
