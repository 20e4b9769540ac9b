"""A folder of findings is about one role of one implementation, and refuses all others before anything is written."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fuzz.net.campaign import merged
from fuzz.net.campaign_subject import FILE, CampaignSubject, OtherCampaign, begin_folder, subject_of
from fuzz.net.fuzzed_node import in_role
from fuzz.net.net_command import merge, net
from harness.errors import StartFailed

ROUTER = CampaignSubject("zenoh", "router", "eclipse-zenoh")


def test_who_goes_on_finds_what_it_is_about(tmp_path: Path) -> None:
    assert subject_of(tmp_path) is None
    for _ in range(2):
        begin_folder(tmp_path / "new", ROUTER)
        assert subject_of(tmp_path / "new") == ROUTER


@pytest.mark.parametrize(
    "other",
    [
        CampaignSubject("pathfinder", "router", "eclipse-zenoh"),
        CampaignSubject("zenoh", "client", "eclipse-zenoh"),
        CampaignSubject("zenoh", "router", "peer"),
    ],
)
def test_another_one_is_refused(other: CampaignSubject, tmp_path: Path) -> None:
    """A regression: what one implementation died of was known of the next, and its tests were played to it."""
    begin_folder(tmp_path, ROUTER)
    with pytest.raises(OtherCampaign, match=f"about zenoh router eclipse-zenoh, and not about {other}: name another"):
        begin_folder(tmp_path, other)
    assert subject_of(tmp_path) == ROUTER


def test_an_address_says_nothing_of_who_is_there(tmp_path: Path) -> None:
    begin_folder(tmp_path, CampaignSubject("zenoh", "router"))
    begin_folder(tmp_path, ROUTER)
    assert subject_of(tmp_path) == ROUTER
    begin_folder(tmp_path, CampaignSubject("zenoh", "router"))
    assert subject_of(tmp_path) == ROUTER


def test_who_cannot_be_started_leaves_the_folder_to_others(tmp_path: Path) -> None:
    nowhere = fuzz("net", "zenoh", "--iut", "tcp/127.0.0.1:1", "--for", "1s", "--out", str(tmp_path / "out"))
    assert isinstance(nowhere.exception, StartFailed), nowhere.output
    assert subject_of(tmp_path / "out") is None
    assert begin_folder(tmp_path / "out", CampaignSubject("urbit", "publisher", "peer"))
    assert not begin_folder(tmp_path / "out", CampaignSubject("urbit", "publisher", "peer"))


def test_folders_about_different_ones_are_not_put_together(tmp_path: Path) -> None:
    begin_folder(tmp_path / "one", ROUTER)
    begin_folder(tmp_path / "two", CampaignSubject("urbit", "publisher", "peer"))
    (tmp_path / "three").mkdir()
    with pytest.raises(OtherCampaign, match="urbit publisher"):
        merged([tmp_path / "one", tmp_path / "three", tmp_path / "two"], tmp_path / "both")
    assert not (tmp_path / "both").exists()
    merged([tmp_path / "three", tmp_path / "one"], tmp_path / "both")
    assert subject_of(tmp_path / "both") == ROUTER
    begin_folder(tmp_path / "address", CampaignSubject("zenoh", "router"))
    begin_folder(tmp_path / "other", CampaignSubject("zenoh", "router", "zenoh-pico"))
    with pytest.raises(OtherCampaign, match="one is of a campaign about zenoh router eclipse-zenoh, and not about"):
        merged([tmp_path / each for each in ("address", "one", "other")], tmp_path / "all")
    merged([tmp_path / "address", tmp_path / "one"], tmp_path / "all")
    assert subject_of(tmp_path / "all") == ROUTER, "an address says less"
    done = fuzz("merge", str(tmp_path / "two"), "--out", str(tmp_path / "both"))
    assert (done.exit_code, "name another --out" in done.stderr) == (2, True)


def fuzz(command: str, *words: str) -> Result:
    return CliRunner().invoke({"net": net, "merge": merge}[command], words)


@pytest.mark.parametrize(
    ("iut", "role", "named"),
    [
        ("peer:", "client", "peer:client"),
        ("peer:router", "client", "peer:client"),
        ("peer:client", "client", "peer:client"),
        ("peer:client", "", "peer:client"),
        ("eclipse-zenoh==1.10.2:peer", "router", "eclipse-zenoh==1.10.2:router"),
    ],
)
def test_a_role_goes_for_that_in_the_name(iut: str, role: str, named: str) -> None:
    """A regression: workers were told of NAME:ROLE:ROLE, and died."""
    assert in_role("zenoh", iut, role) == named


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--iut", "peer:client"), "is of a campaign about zenoh router peer, and not about zenoh client peer"),
        (("--link", "nats"), "peer:router does not speak over nats"),
        (("--no-feedback", "--seed-trace", FILE), "--seed-trace is of no use with --no-feedback"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_started(
    options: tuple[str, ...], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begin_folder(tmp_path, CampaignSubject("zenoh", "router", "peer"))
    done = fuzz("net", "zenoh", "--out", str(tmp_path), *options)
    assert done.exit_code == 2, done.output
    assert complaint in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
