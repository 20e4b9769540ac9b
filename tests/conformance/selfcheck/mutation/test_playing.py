"""What the gate says of a mutant, and that the tester itself is never changed by one."""

import pytest
from msgspec.structs import replace

from conformance.selfcheck.mutation import playing
from conformance.selfcheck.mutation.listed import BadList, ListedMutant, listed_mutants
from conformance.selfcheck.mutation.loading import modules_of
from conformance.selfcheck.mutation.operators import Mutant
from conformance.selfcheck.mutation.playing import Gate, Gates, PlayedMutant
from conformance.selfcheck.mutation.report import lines_of
from conformance.selfcheck.mutation.score import all_mutants, scored
from conformance.verdicts import Outcome
from harness.protocol import load
from harness.zenoh.peers.router import Router

ROUTER = "harness.zenoh.peers.router"


@pytest.fixture(scope="module")
def gate():
    return Gate("zenoh", "router", pattern="test_final")


@pytest.fixture(scope="module")
def reached(gate):
    return gate.reached()


def changed(gate, before, after, module=ROUTER):
    """Return the mutant in which one text, which the module has once, is another."""
    source, _ = gate.sources[module]
    assert source.count(before.encode()) == 1, before
    start = source.index(before.encode())
    line = source.count(b"\n", 0, start) + 1
    return Mutant(module, "f", line, "test", start, start + len(before.encode()), before, after)


def test_the_modules_are_what_the_protocol_names_each_with_its_first_role():
    router, client = modules_of("zenoh", "router"), modules_of("zenoh", "client")
    assert ROUTER in router
    assert list(client) == ["harness.zenoh.peers.client"]
    assert {*router, *client} == set(load("zenoh").decisions)


def test_a_mutant_that_breaks_a_rule_is_killed_and_the_tester_stays_as_it_is(gate, reached):
    mutant = changed(gate, "session.interests.pop(message.id, None)", "pass")
    played = gate.play(mutant, reached)
    assert played.fate == "killed"
    assert "test_" in played.by
    assert Router.on_interest_final.__code__.co_names == ("interests", "pop", "id")
    again = gate.play(
        changed(gate, "on_interest_final(session, message)", "on_interest_final( session, message)"), reached
    )
    assert again.fate == "survived"


def test_a_line_in_no_play_is_never_played(gate, reached):
    assert gate.play(changed(gate, 'f"fragments: {error}"', '""'), reached).fate == "never played"


def test_a_mutant_that_does_not_do_what_others_rest_on_is_noticed_though_nobody_accuses_it():
    """No document obliges a client to subscribe; a run in which it does not is red all the same."""
    gate = Gate("pathfinder", "client", pattern="test_basics")
    subscribe = "self.subscribe(state, self.subscription_id(state), filter)"
    idle = changed(gate, subscribe, "pass", module="harness.pathfinder.peers.client")
    played = gate.play(idle, gate.reached())
    assert (played.fate, played.is_noticed) == ("lacks the basic", True)
    assert "test_a_client_subscribes" in played.by


def test_an_endless_mutant_is_ended_by_its_processor_time(gate, reached, monkeypatch):
    monkeypatch.setattr(playing, "PATIENCE", 0.2)
    mutant = changed(gate, "session.interests.pop(message.id, None)", "while True: pass")
    assert gate.play(mutant, reached).fate == "endless"


def test_an_error_of_the_tester_is_no_kill(gate, reached, monkeypatch):
    """It fails a run, and says nothing of the mutant: so it is counted apart, and the score is not sound."""
    mutant = changed(gate, "on_interest_final(session, message)", "on_interest_final( session, message)")
    plain = playing.play

    def stumbling(case, *arguments, **settings):
        result = plain(case, *arguments, **settings)
        return replace(result, judgements=[replace(each, outcome=Outcome.ERROR) for each in result.judgements])

    monkeypatch.setattr(playing, "play", stumbling)
    played = gate.play(mutant, reached)
    assert (played.fate, played.is_noticed) == ("error", False)
    score = scored(gate, [played], [], whole=False)
    assert (score.killed, score.counted, score.score, score.is_sound) == ((), 1, 0.0, False)
    assert "1 errors of the tester" in list(lines_of(score))[-1]


def test_what_roles_share_is_played_by_the_gates_of_all_of_them():
    """Nobody is dialled by the router: the client's gate comes by what dialling takes."""
    gates = Gates("zenoh", "router", pattern="test_finals_of_the_node")
    reached = gates.reached()
    mutant = changed(gates.first, "self.sessions[link].transport.start(now)", "raise ZeroDivisionError")
    assert gates.first.play(mutant, reached[0]).fate == "never played"
    assert gates.play(mutant, reached).fate == "killed"


def test_what_fails_before_there_is_a_peer_does_not_load(gate, reached):
    mutant = changed(gate, "LIVE = (Mode.FUTURE, Mode.CURRENT_FUTURE)", "LIVE = NOTHING")
    assert gate.play(mutant, reached).fate == "does not load"


def test_the_score_counts_what_is_not_explained(gate, reached):
    killed = gate.play(changed(gate, "session.interests.pop(message.id, None)", "pass"), reached)
    survivor = gate.play(
        changed(gate, "on_interest_final(session, message)", "on_interest_final( session, message)"), reached
    )
    bare = scored(gate, [killed, survivor], [], whole=True)
    assert (bare.counted, bare.score, bare.is_sound) == (2, 0.5, False)
    assert any(line.startswith("  +") for line in lines_of(bare))

    entry = ListedMutant(f"{ROUTER}.f", "equivalent", "a space more")
    explained = scored(gate, [killed, survivor], [entry], whole=True)
    assert (explained.counted, explained.score, explained.is_sound) == (1, 1.0, True)

    opened = scored(gate, [killed, survivor], [ListedMutant(f"{ROUTER}.f", "open", "no case yet")], whole=True)
    assert (opened.counted, opened.score, opened.is_sound) == (2, 0.5, True)


def test_an_entry_that_is_no_longer_true_is_stale(gate, reached):
    killed = gate.play(changed(gate, "session.interests.pop(message.id, None)", "pass"), reached)
    entry = ListedMutant(f"{ROUTER}.f", "equivalent", "said so", becomes="pass")
    gone = ListedMutant(f"{ROUTER}.g", "equivalent", "said so", line="x = 1")
    score = scored(gate, [killed], [entry, gone], whole=True)
    assert not score.is_sound
    assert len(score.stale) == 3  # noticed after all, and so unused; and one of no mutant at all
    # Of a sample nobody knows what the rest would have used.
    assert len(scored(gate, [killed], [gone], whole=False).stale) == 0


def test_an_entry_for_several_changes_is_as_true_as_each(gate):
    end = "session.interests.pop(message.id, None)"
    killed = PlayedMutant(changed(gate, end, "pass"), "killed", "R-1 a case (case)")
    survivor = PlayedMutant(changed(gate, end, "session.interests.clear()"), "survived")
    # What is noticed after all is excused by nothing, and so is named twice.
    for changes, stale in ((), 0), (("gone",), 1), (("pass",), 2):
        entry = ListedMutant(f"{ROUTER}.f", "legal", "", becomes=("session.interests.clear()", *changes))
        score = scored(gate, [killed, survivor], [entry], whole=True)
        assert (len(score.unexplained), len(score.stale)) == (0, stale)


def test_every_mutant_of_a_peer_is_in_a_module_of_its_own(gate):
    mutants = all_mutants(gate)
    assert len(mutants) > 500
    assert {mutant.module for mutant in mutants} == set(gate.sources)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[mutant]\n", "mutants.toml"),
        ('[[mutant]]\nfunction = "f"\nwhy = "lazy"\nreason = ""\n', "lazy"),
        ('[[mutant]]\nfunction = "f"\nwhy = "legal"\n', "reason"),
        ('[[mutant]]\nfunction = "f"\nwhy = "legal"\nreason = ""\nlines = ""\n', "lines"),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path, text, message):
    path = tmp_path / "mutants.toml"
    assert listed_mutants(path) == []
    path.write_text(text)
    with pytest.raises(BadList, match=message):
        listed_mutants(path)
