"""Properties: whatever clients do, what they are answered and told is what the reference server answers and tells."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TypeVar

from hypothesis import strategies as st

from conformance.cases import judging, rule
from conformance.hypothesis_settings import searched
from conformance.pathfinder.answers import EXCUSES, granted
from conformance.pathfinder.clients import ClientGroup, Listed
from conformance.pathfinder.histories.attribution import rule_of_filter
from conformance.pathfinder.model import model
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.strategies import CLIENTS, Sample, Step, mutated, no_filters, plans, samples
from conformance.pathfinder.waiting import wait_until
from conformance.wording import worded
from harness.pathfinder.tester.driver import Driver
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.pathfinder.filters import Composite, parse, spell, walk

ViewT = TypeVar("ViewT", bound=Collection[int])


def compare(step: Step, answer: Transaction, expected: Transaction) -> None:
    """Compare two answers to one request, as far as the document says what they are."""
    # Only publish has failures that the document fixes; other verbs may fail for reasons of the server's own.
    if expected.completed or expected.accepted:
        assert granted(answer), f"{step.verb} is refused, and should not be: {worded(answer.reason)}"
    elif step.verb == "publish":
        assert answer.refused, f"publish should fail ({worded(expected.reason)}), and does not"
        assert answer.reason in (None, expected.reason, *EXCUSES), "publish fails for a reason that is not the case"


def rule_at_fault(group: ClientGroup, reference: ClientGroup, filter: str | None, otherwise: str) -> str:
    """Return the rule that a difference breaks behind a filter: that of what in it finds others when it stands alone.

    So what is known to be wrong with filters of one sort is told of these, and of nothing in which they were used.
    """
    if filter is None:
        return otherwise
    items = [part for part in walk(parse(filter, deployed=True)) if not isinstance(part, Composite)]
    alone = [spell(item, deployed=True) for item in items]
    probes = [("(nobody=has this)", otherwise), *((each, rule_of_filter(each)) for each in alone), (filter, "PF-076")]
    for text, id in probes:
        lists = [each.listed(each.node.main.services(each.node.narrow(text))) for each in (group, reference)]
        if lists[0].keys() != lists[1].keys():
            return id
    return otherwise


def compare_lists(found: Listed, expected: Listed, rule: str = "PF-149") -> None:
    """Compare two lists: which services they have, in which state, and which of them are orphans."""
    with judging(rule):
        assert found.keys() == expected.keys(), "a list has other services than it should"
    for place, (generation, record) in expected.items():
        with judging("PF-153"):
            # All but whether it is an orphan, which is another rule's and judged below.
            alike = record._replace(is_orphan=found[place][1].is_orphan)
            assert found[place] == (generation, alike), "a service is listed in another state than it was published in"
        with judging("PF-131"):
            assert found[place][1].is_orphan == record.is_orphan, "an orphan is listed as none, or the other way round"


def awaited_view(session: Driver, view: Callable[[], ViewT], expected: ViewT) -> ViewT:
    """Return what a subscriber believes that there is, once that is as expected or nothing more is to come."""
    if not session.wait_until(lambda: view() == expected, session.now() + session.timing.window):
        believed = view()
        too_many, too_few = set(believed) - set(expected), set(expected) - set(believed)
        lacking = "disappeared" if too_many else "appeared" if too_few else "modified"
        session.wait_for_notification(lambda: view() == expected, lacking)
    return view()


def compare_views(group: ClientGroup, reference: ClientGroup) -> None:
    """Compare what subscribers know, once all has been told."""
    for (session, filter, watching), (watcher, _, heard) in zip(group.watches, reference.watches, strict=True):
        if session.ended:
            continue
        # The model's side first: it is in virtual time and knows all as soon as it is asked.
        watcher.barrier()
        expected = reference.view(filter, heard)
        view = awaited_view(session, partial(group.view, filter, watching), expected)
        is_alike = view.keys() == expected.keys()
        with judging("PF-122" if is_alike else rule_at_fault(group, reference, filter, "PF-122")):
            assert view == expected, f"who watches {worded(filter)} does not know what there is"


OF_STEPS = {
    "publish": "PF-158",
    "unpublish": "PF-158",
    "services": "PF-149",
    "subscribe": "PF-122",
    "unsubscribe": "PF-122",
    "leave": "PF-131",
    "return": "PF-131",
}
"""The rule that each step is about."""


def play(step: Step, group: ClientGroup, reference: ClientGroup) -> None:
    """Do one step on both groups, and compare."""
    is_foreign = group.is_foreign(step)
    # What ends the server is told of what was asked, and of nothing that traffic comes to besides.
    with judging(OF_STEPS[step.verb]):
        answer = group.act(step)
    if answer is not None and is_foreign and answer.reason in (None, *EXCUSES) and answer.failed:
        return  # the server's choice: the model is not asked
    expected = reference.act(step)
    if answer is not None and expected is not None:
        with judging("PF-158"):
            compare(step, answer, expected)
        if step.verb == "services":
            found, there = group.listed(answer), reference.listed(expected)
            is_alike = found.keys() == there.keys()
            filter = group.filter(step)
            compare_lists(found, there, "PF-149" if is_alike else rule_at_fault(group, reference, filter, "PF-149"))
    if step.verb in ("leave", "return"):
        # A server takes its time to notice that a client is gone: compared once they agree, or do not in good time.
        there = reference.listed()
        wait_until(group.node, lambda: group.listed() == there)
        compare_lists(group.listed(), there)


# Not of PF-076, PF-212 and PF-213, which it only hands on (rule_at_fault): what ends the server is no matter of theirs.
@rule("PF-122", "PF-131", "PF-149", "PF-153", "PF-158", roles=SERVER, needs=("PF-157", "PF-120"))
@searched(shrinks=False, plan=plans, sampled=st.lists(samples, min_size=1, max_size=3))
def test_any_traffic_is_the_models(node: NodeUnderTest, plan: list[Step], sampled: list[Sample]) -> None:
    """Three clients publish, change and take back services, subscribe, list, leave and come back, in any order.

    They are answered as by the reference server, and now and then every subscriber knows what there is.
    """
    filters = [each.filter for each in sampled]
    contents = [props for each in sampled for props in each.contents] or [{}]
    with node.scene() as scene, model(node.profile).scene() as other:
        group, reference = (ClientGroup(each, CLIENTS, filters, contents) for each in (scene, other))
        for step in plan:
            play(step, group, reference)
            if step.verb == "services":
                compare_views(group, reference)
        compare_views(group, reference)


@rule("PF-076", "PF-120", "PF-122", roles=SERVER, needs=("PF-157", "PF-120"))
@searched(sampled=samples)
def test_any_filter_finds_what_the_models_does(node: NodeUnderTest, sampled: Sample) -> None:
    """Services exist that a filter matches or just does not; list and subscribe with it, beside another or alone.

    The same services are found as with the reference server, also when each has become as another one was.
    """
    # And a service without properties: what a negation matches.
    contents = [*sampled.contents, {}]
    with model(node.profile).scene() as other, node.scene() as scene:
        expected, group = (ClientGroup(each, 1, [sampled.filter], contents) for each in (other, scene))
        for each in (expected, group):
            # Alone too: what stands in a conjunction is looked up, and tested, in another way by some servers.
            filters = (each.node.narrow(sampled.filter), sampled.filter)
            each.watches = [(each.node.main, sampled.filter, each.node.main.subscribe(text)) for text in filters]
        with judging("PF-120"):
            assert all(granted(watching) for *_, watching in group.watches), (
                f"a subscription to {worded(sampled.filter)} is refused"
            )
        # Each service has its own contents first, and then those of the one before it.
        for turn in range(2):
            for each in (expected, group):
                for number in range(len(contents)):
                    step = Step("publish", 0, number, number=(number - turn) % len(contents))
                    each.sessions[0].sure(each.publish(step))
            compare_finds(group, expected, sampled.filter)


def compare_finds(group: ClientGroup, reference: ClientGroup, filter: str) -> None:
    """Compare what a filter finds: in lists, and for those who were there before the services and for those after."""
    listings = [each.node.main.services(each.node.narrow(filter)) for each in (reference, group)]
    listings += [each.node.main.services(filter) for each in (reference, group)]
    with judging("PF-076"):
        assert all(map(granted, listings)), f"{worded(filter)} is refused"
        expected, *found = (
            known_places(each.listed(listing))
            for each, listing in zip((reference, group, reference, group), listings, strict=True)
        )
        assert found == [expected] * 3, f"{worded(filter)} does not match what it should"
    asking = group.node.main
    late = asking.subscribe(group.node.narrow(filter))
    with judging("PF-120"):
        assert granted(late), f"a subscription to {worded(filter)} is refused"
        known = awaited_view(asking, lambda: known_places(group.view(filter, late)), expected)
        assert known == expected, f"{worded(filter)} lists other services"
    # A server may have room for few.
    asking.unsubscribe(late.request.fields["subscription-id"])
    with judging("PF-122"):
        for _, _, watching in group.watches:
            known = awaited_view(asking, lambda w=watching: known_places(group.view(filter, w)), expected)  # type: ignore[misc]
            assert known == expected, f"who watches {worded(filter)} does not know what there is"


def known_places(found: Mapping[int, object]) -> set[int]:
    """Return which services of a play were found: without a play's own filter others' are found too, as -1."""
    return set(found) - {-1}


@rule("PF-211", roles=SERVER, needs=("PF-157",))
@searched(text=no_filters)
def test_any_text_that_is_almost_a_filter(node: NodeUnderTest, text: str) -> None:
    """List services and subscribe with a text that is almost a filter.

    Both are refused, and others are served.
    """
    with node.scene() as scene:
        for session, verb in ((scene.main, "services"), (scene.other, "subscribe")):
            answer = session.services(text) if verb == "services" else session.subscribe(text)
            assert not answer.accepted, f"{verb} takes {worded(text)} for a filter"
            assert answer.refused, f"{verb} does not refuse {worded(text)}"
        scene.session().barrier()


@rule("PF-215", roles=SERVER)
@searched(data=mutated())
def test_any_mutated_message_is_survived(node: NodeUnderTest, data: bytes) -> None:
    """A request with bits flipped, bytes put in or taken out is sent.

    The server goes on with others; what it makes of the sender is its choice.
    """
    with node.scene() as scene:
        bystander = scene.session()
        offender = scene.session()
        offender.offend(data, seconds=node.timing.glance)
        assert bystander.is_served(), "a client is not served because of what another one has sent"
