"""The pytest plugin: inert by itself; with an implementation, each outcome is told and written down."""

import json
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from _pytest.mark.expression import Expression

from conformance.cases import Case, Marks
from conformance.engine import tester
from conformance.gate import plugin
from conformance.gate.collector_plugin import CollectorPlugin
from conformance.gate.messages import ImplementationNotStarted, Played
from conformance.gate.player import Player
from conformance.run import recorder
from conformance.run.journal import read
from conformance.run.recorder import RunRecorder, Unwritable, prepare_folder
from conformance.run.records import CasePlayed, RunEnded, RunStarted
from conformance.run.settings import BadSettings, gather
from conformance.verdicts import Outcome, Strictness
from harness.errors import StartFailed

pytest_plugins = ["pytester"]

# A tester that hands the case the means to say how it ends.
CONFTEST = """
    import os
    import conformance.engine.tester, conformance.run.recorder
    from conformance.cases import cases_in
    from conformance.engine.confirmation import ConfirmedPlay
    from conformance.engine.play import PlayResult
    from conformance.verdicts import Judgement, Outcome
    from harness.errors import StartFailed
    from harness.timing import Timing
    from harness.trace import Direction, Entry, EntryKind, Trace

    class Tester:
        def __init__(self, iut, protocol, *, profile, transport, progress, known, path):
            progress("starting")
            with open("started", "a") as file:
                file.write("1")

        def measured(self):
            return Timing(round_trip=1.0 if os.path.exists("far") else 0.0)

        def play(self, case):
            trace = Trace("zenoh")
            trace.add(Entry(0.1, "a", EntryKind.FRAME, Direction.SENT, b"\\x01\\x02"))
            said = case.function(node=None) or (Outcome.PASS, "")
            rules = case.marks.rules
            judgements = tuple(Judgement(rule, said[0], case.name, "case", said[1], "", 1) for rule in rules)
            return ConfirmedPlay(PlayResult(case.name, judgements, trace, 0.5), 1)

        def close(self):
            with open("closed", "a") as file:
                file.write("1")

    conformance.engine.tester.Tester = Tester

    def all_cases(protocol):
        import test_fake
        return cases_in(test_fake)

    conformance.run.recorder.cases = all_cases
"""
CASES = """
    from conformance.cases import rule
    from conformance.verdicts import Outcome

    @rule("ZI-011")
    def test_keeps(node):
        \"\"\"Ask for all.\"\"\"

    @rule("ZI-070")
    def test_breaks(node):
        \"\"\"Ask for nothing.\"\"\"
        return Outcome.VIOLATION, "no D_FINAL for 17"

    @rule("ZI-013")
    def test_deviates(node):
        \"\"\"Ask late.\"\"\"
        return Outcome.DEVIATION, "later than it should"

    @rule("ZI-014")
    def test_is_vague(node):
        \"\"\"Ask in vain.\"\"\"
        return Outcome.INCONCLUSIVE, "no control lines"

    @rule("ZI-020", roles=("client",))
    def test_needs_a_client(node):
        \"\"\"Ask a client.\"\"\"

    @rule("ZI-021", transports=("udp",))
    def test_needs_udp(node):
        \"\"\"Ask over UDP.\"\"\"
"""
KNOWN = """
    [[expect]]
    rule = "ZI-070"
    outcome = "violation"
    signature = "no D_FINAL for 3"
    reason = "known since 1.0"
"""
MILD = """
    [[expect]]
    rule = "ZI-013"
    outcome = "deviation"
    reason = "it is slow"

    [[expect]]
    rule = "ZI-014"
    outcome = "inconclusive"
    reason = "it takes no control lines"
"""


class LoadedModules:
    """Keeps what inner sessions have loaded: pytester forgets all modules that were not there before.

    Those of the product have to stay. Caches of others hold on to them, and whoever imported them anew would have every
    class twice: in the tests that come behind these, faults were looked for in one registry and stood in another.
    """

    def __init__(self, made: Path) -> None:
        self._made = made
        self._found: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        """Take down what is there as a session ends."""
        self._found |= sys.modules

    def put_back(self) -> None:
        """Put back what pytester has taken away, but for what the tests themselves have made."""
        for name, module in self._found.items():
            if not Path(getattr(module, "__file__", None) or "").is_relative_to(self._made):
                sys.modules.setdefault(name, module)


@pytest.fixture
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModules]:
    kept = LoadedModules(tmp_path_factory.getbasetemp())
    yield kept
    kept.put_back()


@pytest.fixture
def cases(loaded: LoadedModules, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # The conftest puts others in their places: here too, where the plays are in this process.
    monkeypatch.setattr(tester, "Tester", tester.Tester)
    monkeypatch.setattr(recorder, "cases", recorder.cases)
    # Whichever way an inner session is begun in this process, it has this plugin.
    run = pytester.runpytest_inprocess
    monkeypatch.setattr(pytester, "runpytest_inprocess", partial(run, plugins=[loaded]))
    pytester.makeconftest(textwrap.dedent(CONFTEST))
    pytester.makepyfile(test_fake=textwrap.dedent(CASES))
    return pytester


def play(pytester: pytest.Pytester, *more: str) -> pytest.RunResult:
    """Run pytest in this process: half a second less than in one of its own, for most of the tests here."""
    return pytester.runpytest_inprocess("--goldwire-iut", "peer:", "--goldwire-protocol", "zenoh", *more)


def summary_of(pytester: pytest.Pytester) -> dict[str, object]:
    found: dict[str, object] = json.loads((pytester.path / "rep" / "summary.json").read_text())
    return found


def test_it_is_silent_and_light_by_itself(pytester: pytest.Pytester) -> None:
    """A regression: ``--profile`` of ours ended every run of pytest where pytest-profiling is installed as well."""
    pytester.makepyfile(
        theirs="""
        def pytest_addoption(parser):
            for name in ("--profile", "--iut", "--link", "--accept", "--expectations"):
                parser.addoption(name, action="store_true")
        """,
        test_alone="""
        import sys

        def test_nothing_is_loaded(request):
            rooms = ("conformance", "goldwire", "harness", "reports", "vectors", "wire")
            assert not [name for name in sys.modules if name.partition(".")[0] in rooms]
            assert not {"msgspec", "scapy", "rich", "allure"} & set(sys.modules)
            assert not hasattr(request.config.hook, "pytest_goldwire_played")
        """,
    )
    result = pytester.runpytest_subprocess("-p", "no:allure_pytest", "-p", "theirs", "--profile")
    result.assert_outcomes(passed=1)
    assert "= goldwire =" not in result.stdout.str()
    assert result.stderr.str() == ""


def test_a_case_needs_an_implementation(pytester: pytest.Pytester) -> None:
    # In a process of its own: the cases' files are called like tests of ours.
    result = pytester.runpytest_subprocess("-rs", "--pyargs", "conformance.zenoh.cases", "-k", "test_snapshot_ends")
    result.assert_outcomes(skipped=1, deselected=result.parseoutcomes()["deselected"])
    result.stdout.fnmatch_lines("*a case needs an implementation*--goldwire-iut peer:*")


def test_each_outcome_is_told(cases: pytest.Pytester) -> None:
    result = play(cases, "--goldwire-report", "rep")
    result.assert_outcomes(passed=2, failed=1, skipped=1, deselected=2)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "ZI-070  must  *",
            '*document  zenoh-interests, "Relationship to DECLARE/D_FINAL", lines 238',
            "*came      violation: no D_FINAL for 17",
            "*case      test_fake.test_breaks: Ask for nothing.",
            "*trace     */rep/traces/test_fake.test_breaks.pcapng, .ndjson",
            "*repeat    goldwire test zenoh --iut peer: -k test_fake.test_breaks",
            "*WARN  ZI-013  *",
            "*ZI-014  no control lines",
            "NOT AS EXPECTED: ZI-070 not kept; 1 rule kept",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "playing.py" not in result.stdout.str()
    assert (cases.path / "started").read_text() == (cases.path / "closed").read_text() == "1"


def test_the_report_is_complete(cases: pytest.Pytester) -> None:
    play(cases, "--goldwire-report", "rep", "-p", "no:terminal")
    records, torn = read(cases.path / "rep" / "run.ndjson")
    assert torn == ""
    assert [type(record) for record in records] == [RunStarted, *[CasePlayed] * 4, RunEnded]
    traces = sorted(path.name for path in (cases.path / "rep" / "traces").iterdir())
    assert traces == [
        f"test_fake.{name}.{kind}"
        for name in ("test_breaks", "test_deviates", "test_is_vague")
        for kind in ("ndjson", "pcapng")
    ]
    summary = summary_of(cases)
    assert (summary["exit"], summary["protocol"], summary["iut"], summary["profile"]) == (
        1,
        "zenoh",
        "peer:",
        "document",
    )
    rules = summary["rules"]
    assert isinstance(rules, dict)
    assert rules["ZI-070"]["verdict"] == "FAIL"
    assert rules["ZI-020"]["reason"].startswith("its cases need the role client")
    assert rules["ZI-021"]["reason"].startswith("its cases need udp")


@pytest.mark.slow(seconds=3)  # two runs, one of them with workers
def test_workers_send_the_same(cases: pytest.Pytester) -> None:
    play(cases, "--goldwire-report", "rep", "-p", "no:randomly")
    alone = summary_of(cases)
    result = play(cases, "--goldwire-report", "rep", "-n", "2")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    assert result.ret == 1
    assert summary_of(cases) == alone
    assert len((cases.path / "started").read_text()) == len((cases.path / "closed").read_text()) <= 3


@pytest.mark.parametrize(("workers", "starts"), [((), 5), (("-n", "0"), 1)])
def test_a_node_that_is_far_away_is_played_side_by_side_unless_workers_are_given(
    cases: pytest.Pytester, workers: tuple[str, ...], starts: int
) -> None:
    play(cases, "--goldwire-report", "rep")
    alone, started, closed = summary_of(cases), cases.path / "started", cases.path / "closed"
    started.unlink()
    closed.unlink()
    (cases.path / "far").touch()
    result = play(cases, "--goldwire-report", "rep", *workers)
    result.assert_outcomes(passed=2, failed=1, skipped=1, deselected=2)
    assert summary_of(cases) == alone
    # Once to measure, and then in a lane for each of the four cases.
    assert (len(started.read_text()), len(closed.read_text())) == (starts, starts)


def test_what_is_expected_is_an_xfail(cases: pytest.Pytester) -> None:
    cases.path.joinpath("known.toml").write_text(textwrap.dedent(KNOWN + MILD))
    result = play(cases, "--goldwire-expectations", "known.toml", "-rx")
    result.assert_outcomes(passed=1, xfailed=2, skipped=1, deselected=2)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["AS EXPECTED: 1 rule kept, 1 known failure, *", "*no D_FINAL for 17 (known: known since 1.0)"]
    )


def test_what_a_contract_lacks_fails_unless_lenient(cases: pytest.Pytester) -> None:
    cases.path.joinpath("known.toml").write_text(textwrap.dedent(KNOWN))
    result = play(cases, "--goldwire-expectations", "known.toml")
    result.assert_outcomes(passed=1, failed=1, xfailed=1, skipped=1, deselected=2)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT AS EXPECTED: ZI-013 deviated from, *; ZI-014 not judged, *"])
    result = play(cases, "--goldwire-expectations", "known.toml", "--goldwire-strictness", "lenient")
    result.assert_outcomes(passed=2, xfailed=1, skipped=1, deselected=2)
    assert result.ret == 0


def test_strict_makes_a_deviation_fail(cases: pytest.Pytester) -> None:
    result = play(cases, "--goldwire-strictness", "strict", "-k", "ZI-013 or ZI-011")
    result.assert_outcomes(passed=1, failed=1, deselected=4)
    assert result.ret == 1


@pytest.mark.parametrize(
    ("keyword", "selected"),
    [
        ("ZI-011", 1),
        ("ZI-01* or breaks", 4),
        ("*keeps", 1),
        ("ZI-01? and not vague", 2),
        ("test_fake.test_d*", 1),
    ],
)
def test_a_keyword_is_a_rule_or_a_name_or_a_glob(cases: pytest.Pytester, keyword: str, selected: int) -> None:
    result = play(cases, "-k", keyword, "--collect-only", "-q")
    assert sum(line.startswith("test_fake.py::") for line in result.outlines) == selected


def test_a_glob_may_stand_for_thousands() -> None:
    """Of histories there are as many as one has time for."""
    names = {f"test_histories.test_modes[{number}]" for number in range(3000)}
    spelt_out = plugin._spelt_out("test_hist*", names)
    matches = Expression.compile(spelt_out).evaluate
    assert all(matches(lambda word, name=name: word == name) for name in list(names)[:20])
    assert not matches(lambda word: word == "test_histories.test_modes[3000]")


def test_a_keyword_that_selects_nothing_fails(cases: pytest.Pytester) -> None:
    result = play(cases, "-k", "ZI-99*")
    assert result.ret == 1
    result.stdout.fnmatch_lines("NOT AS EXPECTED: no case was played*")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_keyword_that_is_none_is_refused(cases: pytest.Pytester, workers: tuple[str, ...]) -> None:
    result = play(cases, "-k", "(", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "-k '('" in result.stderr.str()


def test_a_defect_of_the_tester_is_an_error(cases: pytest.Pytester) -> None:
    cases.makepyfile(
        test_fake="""
        from conformance.cases import rule

        @rule("ZI-011")
        def test_is_wrong(node):
            raise KeyError("mine")
        """
    )
    result = play(cases)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*KeyError: 'mine'", "*1 error of the tester*"])


def test_cases_that_cannot_be_loaded_are_an_error(cases: pytest.Pytester) -> None:
    cases.makepyfile(test_fake="import nowhere_to_be_found")
    result = play(cases, "-n", "1")
    assert result.ret == 1
    result.stdout.fnmatch_lines("*nowhere_to_be_found*")


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_an_implementation_that_does_not_start(cases: pytest.Pytester, workers: tuple[str, ...]) -> None:
    conftest = cases.path / "conftest.py"
    text = conftest.read_text().replace('progress("starting")', 'raise StartFailed("no such program: x")')
    conftest.write_text(text)
    result = play(cases, "--goldwire-report", "rep", *workers)
    assert result.ret == 3
    result.stdout.fnmatch_lines("NOT STARTED: no such program: x")
    assert summary_of(cases)["exit"] == 3


def test_several_workers_cannot_share_one_instance(cases: pytest.Pytester) -> None:
    result = cases.runpytest_inprocess(
        "--goldwire-iut", "tcp/127.0.0.1:7447", "--goldwire-protocol", "zenoh", "-n", "2"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "leave out -n" in result.stderr.str()


def test_the_protocol_must_be_known(cases: pytest.Pytester) -> None:
    result = cases.runpytest_inprocess("--goldwire-iut", "peer:")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "which protocol?" in result.stderr.str()


def test_the_first_failure_of_pytest_itself_is_kept() -> None:
    """What fails later follows from it: when a worker is lost, xdist fails over that it is not there."""
    collector = CollectorPlugin(gather("peer:", "zenoh"), None)  # type: ignore[arg-type]
    collector.pytest_internalerror("KeyError: 'mine'")
    collector.pytest_internalerror("KeyError: <WorkerController gw0>")
    assert collector.run.errors == {"pytest": "KeyError: 'mine'"}


def test_a_full_disk_fails_but_keeps_the_verdicts(cases: pytest.Pytester) -> None:
    (cases.path / "rep").mkdir()
    (cases.path / "rep" / "run.ndjson").symlink_to("/dev/full")
    result = play(cases, "--goldwire-report", "rep", "-k", "ZI-011")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*run.ndjson is incomplete: No space left on device", "*1 rule kept"])
    assert summary_of(cases)["exit"] == 1


def test_a_folder_that_cannot_be_written_is_refused_first(cases: pytest.Pytester) -> None:
    (cases.path / "file").touch()
    result = play(cases, "--goldwire-report", "file/rep")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--report: cannot write to" in result.stderr.str()
    assert not (cases.path / "started").exists()
    with pytest.raises(Unwritable):
        prepare_folder(Path("/proc/nowhere"))


def test_allure_gets_labels_and_traces(cases: pytest.Pytester) -> None:
    play(cases, "--goldwire-report", "rep", "--alluredir", "allure", "-k", "ZI-070")
    (path,) = cases.path.glob("allure/*-result.json")
    result = json.loads(path.read_text())
    labels = {(label["name"], label["value"]) for label in result["labels"]}
    assert {("tag", "ZI-070"), ("story", "ZI-070"), ("epic", "Interests"), ("severity", "critical")} <= labels
    assert ("feature", "Relationship to DECLARE/D_FINAL") in labels
    assert result["status"] == "failed"
    assert result["description"].startswith("Ask for nothing.")
    names = {attachment["name"] for attachment in result["attachments"]}
    assert names == {"what came", "test_fake.test_breaks.ndjson", "test_fake.test_breaks.pcapng"}


def test_a_trace_that_cannot_be_written_is_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = gather("peer:", "zenoh", report=tmp_path / "rep")
    player = Player(settings, lambda line: None)

    class Tester:
        def play(self, case: Case) -> object:
            from conformance.engine.confirmation import ConfirmedPlay
            from conformance.engine.play import PlayResult
            from conformance.verdicts import Judgement
            from harness.trace import Trace

            judgement = Judgement("ZI-011", Outcome.VIOLATION, case.name, what="bad")
            return ConfirmedPlay(PlayResult(case.name, (judgement,), Trace("zenoh"), 0.0))

    monkeypatch.setattr(player, "_tester", Tester())
    message = player.play(Case("test_a.test_b", test_the_protocol_must_be_known, Marks(("ZI-011",))))
    assert isinstance(message, Played)
    assert message.record.outcome is Outcome.VIOLATION
    assert "the trace of test_a.test_b could not be written" in message.trouble
    run = RunRecorder(settings)
    run.start()
    run.add(message.record, message.trouble)
    assert run.finish().exit == 1
    assert run.finish().trouble == (message.trouble,)


def test_a_player_does_not_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(gather("peer:", "zenoh"), lambda line: None)
    tries: list[int] = []

    def start() -> object:
        tries.append(1)
        raise StartFailed("gone")

    monkeypatch.setattr(player, "_start", start)
    case = Case("test_a.test_b", test_the_protocol_must_be_known, Marks(("ZI-011",)))
    assert player.play(case) == player.play(case) == ImplementationNotStarted("gone")
    assert tries == [1]


@pytest.mark.parametrize(
    ("iut", "protocol", "more", "complaint"),
    [
        ("peer:", "nope", {}, "unknown protocol 'nope': known are"),
        ("nobody", "zenoh", {}, "--iut: unknown implementation 'nobody'"),
        ("udp/127.0.0.1:7447", "zenoh", {"link": "tcp"}, "--link: .* does not speak over tcp"),
        ("peer:", "zenoh", {"expectations": Path("/nowhere.toml")}, "/nowhere.toml: cannot be read"),
    ],
)
def test_wrong_settings_are_named(iut: str, protocol: str, more: dict[str, str], complaint: str) -> None:
    with pytest.raises(BadSettings, match=complaint):
        gather(iut, protocol, **more)  # type: ignore[arg-type]


def test_the_command_repeats_the_settings() -> None:
    settings = gather("peer:", "zenoh", profile="deployed", strictness=Strictness.STRICT, link="udp")
    settings = msgspec.structs.replace(settings, given=Path("my file.toml"))
    assert settings.command("ZI-011") == (
        "goldwire test zenoh --iut peer: --profile deployed --strict --link udp --expectations 'my file.toml' -k ZI-011"
    )
