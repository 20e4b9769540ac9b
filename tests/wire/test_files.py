"""Files that are written whole, or not at all."""

import os
from pathlib import Path

import pytest

from wire.files import write_file, write_new_file, written_whole


def test_a_file_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_file(path, "one")
    path.chmod(0o640)
    write_file(path, b"two")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", 0o640)
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("before", [None, "before"])
def test_what_fails_in_the_middle_leaves_what_was_there(before: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    if before is not None:
        path.write_text(before)

    def fail_in_the_middle() -> None:
        with written_whole(path) as draft:
            draft.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device") as failed:
        fail_in_the_middle()
    assert failed.value.filename == str(path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError, match="No space left on device") as failed:
        write_file(Path("/dev/full"), "text")
    assert failed.value.filename == "/dev/full"


def test_a_folder_that_is_not_there_is_named_by_the_file_that_the_user_knows(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as failed:
        write_file(tmp_path / "nowhere" / "a.txt", "text")
    assert failed.value.filename == str(tmp_path / "nowhere" / "a.txt")


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("one")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_file(tmp_path / "link.txt", "two")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "two"


def test_a_new_file_is_never_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.txt"
    write_new_file(path, "one")
    with pytest.raises(FileExistsError) as failed:
        write_new_file(path, "two")
    assert failed.value.filename == str(path)
    assert [(each.name, each.read_text()) for each in path.parent.iterdir()] == [("a.txt", "one")]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_what_is_read_only_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_file(path, "two")
    assert path.read_text() == "one"
