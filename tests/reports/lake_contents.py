"""What tests of the lake and its jobs are filled with: recordings of plays, runs, campaigns that find planted lies."""

import itertools

import msgspec
from recorded_plays import FAULTS, JUDGED

from conformance.cases import cases
from conformance.engine.play import play
from conformance.run.journal import Journal
from conformance.run.records import CasePlayed, RunEnded, RunStarted
from conformance.suite import Suite
from fuzz import findings
from fuzz.findings import FindingOrigin
from fuzz.limits import InputLimits
from harness.captures.traces import write_pcapng
from harness.protocol import load as load_protocol
from harness.trace import write_ndjson
from reports.jobs import runner as jobs
from reports.jobs.ingest import IngestOptions
from reports.lake.lake import Lake
from vectors.checks.check import check_only
from wire.engines import engine
from wire.errors import DecodeError, Reason
from wire.runtime import Codec

LAYOUT = "zenoh/network-message"
SAID = {
    "zenoh": {"INIT", "OPEN", "CLOSE", "FRAME INTEREST", "DECLARE D_FINAL FRAME", "DECLARE D_SUBSCRIBER FRAME"},
    "pathfinder": {"hello-request", "hello-complete", "publish-request", "clients-accept"},
    "urbit": {"scry_fore", "scry_back", "beat_fore", "beat_back", "bond_back"},
}
"""Some of what is said in any recording, by the names of its messages, where frames have names."""

PROTOCOLS = list(JUDGED)


def quiet(done, total):
    """Tell nobody."""


def recordings(folder, protocol, most=6):
    """Write captures, and one trace, of plays against a good peer and a faulty one."""
    suite, role = Suite(protocol), JUDGED[protocol]
    fault = load_protocol(protocol).faults.all[FAULTS[protocol]]
    chosen = [case for case in suite.cases if case.fits(role, suite.harness.usual_transport)]
    broken = [case for case in chosen if set(case.marks.rules) & set(fault.rules)]
    for name, make, played in (("good", suite.harness.roles[role], chosen[:most]), ("bad", fault.peer, broken[:2])):
        world = suite.harness.world(make.of, role)
        for number, case in enumerate(played, 1):
            result = play(case, world, suite, profile="document", number=number)
            write_pcapng(result.trace, folder / f"{protocol}-{name}-{number}.pcapng", suite.harness.framings)
            if number == 1:
                write_ndjson(result.trace, folder / f"{protocol}-{name}.ndjson")
    return sorted(folder.glob(f"{protocol}-*"))


def taken(lake, paths, protocol="zenoh", **more):
    """Take paths into a lake in this process; return what became of each."""
    return list(jobs.ingest(lake, paths, IngestOptions(protocol=protocol, **more), None, quiet))


def started(run, protocol="zenoh", **more):
    about = {"name": "peer", "version": "1", "role": "router", "profile": "document", "transport": "tcp"} | more
    return RunStarted(run=run, time="2026-01-01T00:00:00", protocol=protocol, iut="peer:", goldwire="0.1.0", **about)


def run_folder(folder, records, traces=()):
    (folder / "traces").mkdir(parents=True)
    with Journal(folder / "run.ndjson") as journal:
        for record in records:
            journal.write(record)
    for path in traces:
        (folder / "traces" / path.name).write_bytes(path.read_bytes())
    return folder


ENDED = RunEnded(time="2026-01-01T00:01:00", interrupted=False, counts={}, exit=1)


class Lying:
    """The Python engine with a lie about what it decodes."""

    name = "python"

    def __init__(self, lie):
        self.lie = lie

    def codec(self, layout):
        real = engine(self.name).codec(layout)
        return Codec(lambda data, refuse=False: self.lie(real.decode, data, refuse), real.encode)


def records(value):
    """Give all records in a value."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from records(part)


def low(decode, data, refuse):
    """Read large numbers in extensions one too low."""
    value = decode(data, refuse)
    for each in itertools.chain.from_iterable(part.get("extensions") or () for part in records(value)):
        if type(each["value"]) is int and each["value"] > 70000:
            each["value"] -= 1
    return value


def short(decode, data, refuse):
    """Lose the end of longer suffixes."""
    value = decode(data, refuse)
    for part in records(value):
        if len(part.get("key_suffix") or "") > 3:
            part["key_suffix"] = part["key_suffix"][:-1]
    return value


def strict(decode, data, refuse):
    """Refuse what the reference accepts."""
    value = decode(data, refuse)
    if value["type"] == "INTEREST_FINAL":
        raise DecodeError(Reason.TRUNCATED, len(data), "(frame)", "nothing follows")
    return value


def breaking(decode, data, refuse):
    """Break on a large interest id."""
    value = decode(data, refuse)
    if (value.get("interest_id") or 0) > 1000:
        raise KeyError("interest_id")
    return value


def lenient(decode, data, refuse):
    """Accept what comes behind a message."""
    try:
        return decode(data, refuse)
    except DecodeError as error:
        if error.reason is not Reason.TRAILING:
            raise
        return decode(data[: error.offset], refuse)


SHOW = {
    low: ["990020808005", "1e80000020808005", "1d00812080800800", "1b000004812080800800"],
    short: ["390030000400000000", "1e2000000400000000"],
    strict: ["1900"],
    lenient: ["190000"],
    breaking: ["3eec071a"],
}
"""Frames that show each lie; those of one lie differ in the message and the field."""


def campaign(out, lie, seed, goldwire, frames=None):
    """Write what comparing engines finds of a lie into a folder of findings, as a campaign of some version does."""
    engines = [engine("reference"), Lying(lie), engine("native")]
    report = check_only(LAYOUT, engines, frames=[bytes.fromhex(each) for each in frames or SHOW[lie]], seed=seed)
    assert len(report.findings) == len(frames or SHOW[lie])
    for number, found in enumerate(report.findings, 1):
        origin = FindingOrigin("random", seed, f"2026-0{seed}-01T00:00:00+00:00", 1.0, number, found.found.origin)
        kept = findings.make(found, report, origin, InputLimits(), number)
        findings.write(
            out, msgspec.structs.replace(kept, finding=msgspec.structs.replace(kept.finding, goldwire=goldwire))
        )
    return out


def played_run(folder, number, make, version, chosen, suite):
    """Play cases and write the folder of a run."""
    world = suite.harness.world(make.of, "router")
    played, traces = [], folder.with_name(f"{folder.name}-traces")
    traces.mkdir()
    for case in chosen:
        result = play(case, world, suite, profile="document", number=number)
        write_ndjson(result.trace, traces / f"{case.name}.ndjson")
        write_pcapng(result.trace, traces / f"{case.name}.pcapng", suite.harness.framings)
        played.append(
            CasePlayed(
                case=case.name,
                sentence=case.sentence,
                file="f.py",
                line=1,
                rules=case.marks.rules,
                outcome=result.outcome,
                judgements=result.judgements,
                trace=case.name,
            )
        )
    time = f"2026-01-0{number}T00:00:00"
    begun = msgspec.structs.replace(started(f"cc0{number}", name="node", version=version), time=time)
    return run_folder(folder, [begun, *played, ENDED], sorted(traces.iterdir()))


def fault(name):
    return load_protocol("zenoh").faults.all[name]


def filled_with(captured, folder):
    """Return a lake with recordings by protocol, decoded and judged."""
    lake = Lake(folder, create=True)
    for protocol, paths in captured.items():
        assert not [each.trouble for each in taken(lake, paths, protocol) if each.trouble]
        jobs.decode(lake, protocol, None, quiet)
        jobs.judge(lake, protocol, "document", None, quiet)
    return lake


def runs_of_three_versions(folder):
    """Write the folders of runs: the first version keeps to the document, the others have a fault."""
    suite, guilty = Suite("zenoh"), fault("two-finals")
    names = ("gets_one_final", "nothing_follows_final", "snapshot_of_many_ends", "interest_with_node_id", "alias_zero")
    chosen = [case for case in cases("zenoh") if case.name.endswith(names)]
    makes = {"1.9.0": suite.harness.roles["router"], "1.10.0": guilty.peer, "1.11.0": guilty.peer}
    return [
        played_run(folder / f"out{number}", number, make, version, chosen, suite)
        for number, (version, make) in enumerate(makes.items(), 1)
    ]


def to_triage(found, runs, folder):
    """Return a lake with findings, runs, and captures of the last run under another name."""
    lake = Lake(folder, create=True)
    captures = sorted((runs[2] / "traces").glob("*.pcapng"))
    done = taken(lake, [*found, *runs]) + taken(lake, captures, name="recorded", version="7", role="router")
    assert not [each.trouble for each in done if each.trouble]
    jobs.decode(lake, "zenoh", None, quiet)
    jobs.judge(lake, "zenoh", "document", None, quiet)
    return lake
