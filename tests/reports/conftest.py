"""Lakes that several tests read. They are made once in a process, and nobody changes what they hold.

What needs Arrow is imported where it is used: without it these tests are skipped, each with its reason.
"""

import pytest
from recorded_plays import plays

__all__ = ["captured", "filled", "found", "plays", "runs", "triaged"]


@pytest.fixture(scope="session")
def captured(tmp_path_factory):
    """Recordings by protocol."""
    from lake_contents import PROTOCOLS, recordings

    folder = tmp_path_factory.mktemp("captures")
    return {protocol: recordings(folder, protocol) for protocol in PROTOCOLS}


@pytest.fixture(scope="session")
def filled(captured, tmp_path_factory):
    """A lake with all recordings of both protocols, decoded and judged."""
    from lake_contents import filled_with

    return filled_with(captured, tmp_path_factory.mktemp("lakes") / "filled")


@pytest.fixture(scope="session")
def found(tmp_path_factory):
    """Folders of findings: three campaigns of two versions, one of which found some of it again."""
    from lake_contents import SHOW, campaign, low, short

    folder = tmp_path_factory.mktemp("campaigns")
    for lie in SHOW:
        campaign(folder / "first", lie, 1, "0.1.0")
    campaign(folder / "second", low, 2, "0.2.0", SHOW[low][:2])
    campaign(folder / "third", short, 3, "0.10.0")
    return [folder / name for name in ("first", "second", "third")]


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Runs of three versions of a node: the first keeps to the document, the others have a fault."""
    from lake_contents import runs_of_three_versions

    return runs_of_three_versions(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def triaged(found, runs, tmp_path_factory):
    """A lake with all of it: findings, runs, and captures of the last run under another name."""
    from lake_contents import to_triage

    return to_triage(found, runs, tmp_path_factory.mktemp("lakes") / "triaged")
