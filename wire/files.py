"""Files that are written whole, or not at all: beside their place first, and then renamed into it.

A disk that gets full in the middle, or a kill, leaves what stood there before, and nothing half written.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give the path of a draft to write, which takes the place of ``path`` when the context ends well.

    A device or a pipe is written to as it is. Raises OSError, which always names a file.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    with naming(path):
        if target.exists() and not target.is_file():
            yield target
            return
        if target.exists() and not os.access(target, os.W_OK):
            target.open("ab").close()  # renaming would get around it being read-only
        # In the same folder, as a file can only be renamed within its file system; with the same end, which some
        # writers go by.
        draft = target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")
        try:
            yield draft
            if target.exists():
                draft.chmod(target.stat().st_mode & 0o7777)
            draft.replace(target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole, or not at all; OSError names the file."""
    with written_whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def write_new_file(path: Path, content: str) -> None:
    """Write a file that is not there yet, and the folders above it; FileExistsError if it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with naming(path):
        try:
            draft.write_text(content, encoding="utf-8")
            os.link(draft, path)  # unlike a renaming, this fails when somebody else was faster
        finally:
            with suppress(OSError):
                draft.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put a file's path into errors that name none, as those of a full disk do, or a draft: the user knows the path."""
    try:
        yield
    except OSError as error:
        if isinstance(error.filename, int | None) or Path(os.fsdecode(error.filename)).parent == path.resolve().parent:
            raise named(error, path) from None
        raise


def named(error: OSError, path: Path) -> OSError:
    """Return an error like one, which says that it is about a file."""
    return OSError(error.errno, error.strerror or str(error), str(path))
