"""How a campaign searches.

::

    atheris     Atheris drives the instrumented Python engine against the native one, or in JSON against the reference
                (fuzz.target, a process of its own); what it keeps, because it reached something new, is compared with
                the reference as well (fuzz.atheris_search)
    hypothesis  rounds of Hypothesis, in a process of its own; all engines
    random      frames from the layout's sampler and mutator, in processes (vectors.checks.sweep); all engines
"""

from collections.abc import Callable
from contextlib import closing

from fuzz import atheris_search
from fuzz.atheris_process import require_atheris
from fuzz.campaign import Campaign, CampaignReport, OnProgress, RunningCampaign
from fuzz.comparison_process import ComparisonRequest
from fuzz.hypothesis_rounds import rounds
from vectors.checks import check
from vectors.checks.sweep import Sweep

REFERENCE_SHARE = 0.1
"""Of random frames, how many the reference engine sees if two others are compared: it is slower than both by far, and
the share keeps it from deciding how many frames there are."""


def run(campaign: Campaign, on_progress: OnProgress | None = None) -> CampaignReport:
    """Run a campaign and return what came of it, also when it is interrupted (``KeyboardInterrupt``).

    ``on_progress`` is called with how far it is. Raises ``AtherisMissing`` if Atheris is wanted and not there,
    ``AtherisFailed`` if it does not run, and ``UnknownLayout``.
    """
    if campaign.engine == "atheris":
        require_atheris()
    running = RunningCampaign(campaign, on_progress)
    try:
        SEARCHES[campaign.engine](running)
    except KeyboardInterrupt:
        running.report.interrupted = True
    finally:
        running.comparisons.end()
    running.report.differing = max(running.report.differing, running.check.report.differing)
    running.report.seconds = running.elapsed
    return running.report


def search_random(running: RunningCampaign) -> None:
    """Compare frames of the layout's sampler and mutator."""
    campaign = running.campaign
    if campaign.seconds is None:
        return
    share = REFERENCE_SHARE if len(running.engines) > 2 else 1.0
    sweep = Sweep(campaign.layout, check.stream, campaign.seed, None, running.deadline, share, campaign.most)

    def swept(inputs: int, total: int | None, found: int) -> None:
        # After every chunk, so that whoever is killed has lost nothing.
        running.write()
        running.progress(inputs)

    try:
        running.check.sweep(sweep, campaign.jobs, swept)
    finally:
        count_checked(running)


def search_hypothesis(running: RunningCampaign) -> None:
    """Compare what Hypothesis makes of the layout, round after round, each with a seed of its own."""
    campaign, limits = running.campaign, running.campaign.limits
    if campaign.seconds is None:
        return
    # Closed also when it is left early: that ends the process.
    with closing(rounds(campaign.layout, campaign.seed, running.deadline, limits.seconds, limits.megabytes)) as all_:
        try:
            for each in all_:
                if each.lost:
                    running.process_lost(each.lost, each.data, "hypothesis", each.number)
                for found in each.found:
                    # Compared once more, to make it small in a process that may be lost.
                    running.compare(ComparisonRequest("hypothesis", found.number, found=found))
                running.check.report.examples += each.examples
                running.check.report.differing += each.differing
                running.progress(running.check.report.examples)
                if running.report.full:
                    return
        finally:
            count_checked(running)


def count_checked(running: RunningCampaign) -> None:
    """Take over what the check has counted."""
    report = running.check.report
    running.report.inputs = report.examples + report.frames
    running.report.accepted = report.accepted
    running.report.searched = running.elapsed


SEARCHES: dict[str, Callable[[RunningCampaign], None]] = {
    "atheris": atheris_search.search,
    "hypothesis": search_hypothesis,
    "random": search_random,
}
"""What ``--engine`` chooses; the first is the default."""
