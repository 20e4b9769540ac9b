"""The user's own folders that goldwire keeps something in, and what is said when nothing can be written there."""

import os
from pathlib import Path
from tempfile import TemporaryFile

from harness.errors import Unkept


def cache() -> Path:
    """Return the folder for what can be rebuilt: the user's cache directory, or ``$GOLDWIRE_CACHE``."""
    chosen = os.environ.get("GOLDWIRE_CACHE")
    if chosen:
        return Path(chosen)
    # Only here: most who start goldwire keep nothing, and wait for whatever it imports.
    from platformdirs import user_cache_path

    return user_cache_path("goldwire")


def made_folder(folder: Path, setting: str = "GOLDWIRE_CACHE") -> Path:
    """Return a folder that can be written to, made if need be; Unkept names the setting that says where else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"\n")  # an empty file has room on a full disk
    except OSError as error:
        raise Unkept(f"cannot write to {folder}: {error.strerror or error}; {setting} names another folder") from None
    return folder
