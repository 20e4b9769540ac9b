"""Findings of network campaigns on Spark: the same faults as without it."""

import pytest

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")
pytest.importorskip("pyspark", reason="the pipeline on Spark needs goldwire[spark]")

from lake_contents import taken
from test_network_faults import ALL, BREAKS, folder_of, network_finding, verdicts
from test_runner_on_spark import session  # noqa: F401

from reports.jobs import deduplication as dedupe
from reports.jobs.triage import triage
from reports.lake.lake import Lake

pytestmark = pytest.mark.spark


def test_faults_are_the_same(session, found, tmp_path):  # noqa: F811
    lake = Lake(tmp_path / "lake", create=True)
    nights = {str(seed): [network_finding(each, f"1.{seed}", seed) for each in ALL] for seed in (1, 2)}
    outs = [folder_of(tmp_path / name, *findings) for name, findings in nights.items()]
    # The first one again, by itself.
    taken(lake, [*outs, next(outs[0].glob("zenoh-*")), *found])
    verdicts(lake, BREAKS.what)
    there = dedupe.network_findings(lake, session)
    assert there == dedupe.network_findings(lake, None)
    assert len(there) == 2 * len(ALL)
    assert triage(lake, session) == triage(lake, None)
