"""The tables of a lake: their columns, their versions, and how files of other versions are read.

A table only ever grows: a new version adds columns, which are null in what was written before. A version that is
newer than ours is not read, as its rows may mean what we do not know. Since some version of a table its files have
columns in forms of their own (``reports.lake.columns``); before it, as we work with them.
"""

from collections.abc import Iterable, Mapping

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from reports.lake.columns import FileColumn, Moment, Seconds, Words

VERSION = b"goldwire.version"
"""The key under which a file's own metadata has the version of its table."""


class BadFile(Exception):
    """A file of a lake that cannot be read; the message says why, without its name."""


class LakeTable(msgspec.Struct, frozen=True):
    """A table by its ``name``: the ``version`` of its columns, and those that are folders instead (``partitions``).

    ``schema`` is that of the rows that we work with; ``in_files`` says what stands otherwise in files since ``since``.
    """

    name: str
    version: int
    schema: pa.Schema
    partitions: tuple[str, ...] = ("protocol",)
    in_files: Mapping[str, FileColumn] = {}
    since: int = 1

    @property
    def stored(self) -> pa.Schema:
        """The columns that stand in the files, with the version in the metadata."""
        return self.stored_in(self.version).with_metadata({VERSION: str(self.version).encode()})

    def stored_in(self, version: int) -> pa.Schema:
        """Return the columns that stand in the files of a version, with those that came later."""
        fields = []
        for field in self.schema:
            kept = self.kept(field.name, version)
            if field.name not in self.partitions:
                fields.append(pa.field(kept.name or field.name, kept.type_of(field.type)))
        return pa.schema(fields)

    def kept(self, column: str, version: int) -> FileColumn:
        """Return how a column of ours stands in the files of a version."""
        return self.in_files.get(column, _AS_IT_IS) if version >= self.since else _AS_IT_IS

    def to_file(self, rows: pa.Table) -> pa.Table:
        """Return rows of ours as they stand in files, without the partitions."""
        ours = [field for field in self.schema if field.name not in self.partitions]
        arrays = [self.kept(field.name, self.version).to_file(rows[field.name].cast(field.type)) for field in ours]
        return pa.Table.from_arrays(arrays, schema=self.stored)

    def fit(self, rows: pa.Table, version: int) -> pa.Table:
        """Return rows of a file (with its partitions as columns) as rows of ours; BadFile when they cannot be."""
        if version > self.version:
            raise BadFile(
                f"is of version {version} of the table {self.name}, and this goldwire knows {self.version}: "
                "it was written by a newer one"
            )
        columns = [_fitted(rows, field, self.kept(field.name, version)) for field in self.schema]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def rows(self, rows: Iterable[dict[str, object]]) -> pa.Table:
        """Return rows given as dictionaries; what they lack is null."""
        return pa.Table.from_pylist(list(rows), schema=self.schema)


_AS_IT_IS = FileColumn()


def _fitted(rows: pa.Table, field: pa.Field, kept: FileColumn) -> pa.ChunkedArray:
    name, expected = kept.name or field.name, kept.type_of(field.type)
    if name not in rows.column_names:
        return pa.chunked_array([pa.nulls(len(rows), field.type)])
    column = rows[name]
    # Files may have dictionaries where a column repeats itself; to us they are plain texts.
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type != expected:
        raise BadFile(f"has {column.type} in the column {name}, where {expected} belongs")
    return kept.from_file(column)


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


TEXT, WHOLE, REAL, BYTES, TRUTH = pa.string(), pa.int64(), pa.float64(), pa.binary(), pa.bool_()

RUNS = LakeTable(
    "runs",
    2,
    _schema(
        source=TEXT,  # the batch: run-…, capture-…, trace-…
        kind=TEXT,  # run, capture, trace
        file=TEXT,
        time=TEXT,  # ISO 8601 in UTC, of a run
        iut=TEXT,
        name=TEXT,
        version=TEXT,
        role=TEXT,
        profile=TEXT,
        transport=TEXT,
        goldwire=TEXT,
        strict=TRUTH,
        interrupted=TRUTH,  # null when the run has no end
        exit=WHOLE,
        cases=WHOLE,
        packets=WHOLE,
        sessions=WHOLE,
        frames=WHOLE,
        bytes=WHOLE,  # of the file
        protocol=TEXT,
    ),
    in_files={"time": Moment()},
    since=2,
)

SESSIONS = LakeTable(
    "sessions",
    3,
    _schema(
        source=TEXT,
        session=TEXT,
        file=TEXT,
        number=WHOLE,  # of the packet or line with which it begins
        key=TEXT,  # the two ends
        transport=TEXT,
        side=TEXT,
        entries=WHOLE,
        sound=WHOLE,  # entries before the first loss
        frames=WHOLE,
        protocol=TEXT,
        ended=WHOLE,  # since version 2, as all below: the number of the packet with which it ended; null: it had not
        began=REAL,  # seconds since 1970, of a capture
        port=WHOLE,  # of the side that is judged
        other_port=WHOLE,
        dialler=TEXT,  # since version 3, as all below: the host that dialled, of a capture
        dialler_port=WHOLE,
        listener=TEXT,
        listener_port=WHOLE,
        epoch=REAL,  # when it began in seconds since 1970, as exactly as a capture has it; in files ``began`` is not
    ),
    in_files={"began": Seconds()},
    since=3,
)

FRAMES = LakeTable(
    "frames",
    1,
    _schema(
        source=TEXT,
        session=TEXT,
        seq=WHOLE,  # place in the session, from 0
        time=REAL,  # seconds since the session began
        what=TEXT,  # opened, frame, raw, closed, note
        direction=TEXT,  # received: said by the side that is judged
        data=BYTES,
        note=TEXT,
        transport=TEXT,
        sound=TRUTH,  # whether it lies before the first loss of its session
        protocol=TEXT,
        layout=TEXT,
    ),
    ("protocol", "layout"),
)

LOSSES = LakeTable(
    "losses",
    1,
    _schema(
        source=TEXT,
        session=TEXT,  # null: of the file
        kind=TEXT,
        what=TEXT,
        count=WHOLE,
        bytes=WHOLE,
        protocol=TEXT,
    ),
)

VERDICTS = LakeTable(
    "verdicts",
    2,
    _schema(
        source=TEXT,
        kind=TEXT,  # that of the source
        origin=TEXT,  # live: said in the run; judged: said by the job over what was recorded
        session=TEXT,  # of what was judged
        case=TEXT,
        rule=TEXT,  # empty where a case came to nothing on any rule
        outcome=TEXT,
        by=TEXT,  # case, monitor
        what=TEXT,
        reading=TEXT,
        evidence=WHOLE,
        entry=WHOLE,
        trace=TEXT,
        attempts=WHOLE,
        flaky=TEXT,
        name=TEXT,
        version=TEXT,
        role=TEXT,
        profile=TEXT,
        transport=TEXT,
        protocol=TEXT,
        nth=WHOLE,  # since version 2, as below: which message of the entry, from 0
        field=TEXT,  # the one that is wrong, if one is
    ),
    in_files={"case": FileColumn("case_name"), "by": FileColumn("judged_by")},
    since=2,
)

DECODED = LakeTable(
    "decoded",
    2,
    _schema(
        session=TEXT,
        seq=WHOLE,
        refused=TEXT,  # the class of the refusal; null: accepted
        refused_at=WHOLE,
        types=TEXT,  # the names of all messages in it, each once, in the order of the alphabet
        protocol=TEXT,
        layout=TEXT,
    ),
    ("protocol", "layout"),
    in_files={"types": Words(separator=" ")},
    since=2,
)

FINDINGS = LakeTable(
    "findings",
    4,
    _schema(
        source=TEXT,
        signature=TEXT,  # what findings that are one have in common
        kind=TEXT,
        engines=TEXT,  # those that were compared, with commas
        rule=TEXT,  # that is broken, if that is what was found
        what=TEXT,  # who says what, in one line
        seed=WHOLE,
        time=TEXT,  # ISO 8601 in UTC
        input=BYTES,
        minimised=BYTES,
        goldwire=TEXT,
        protocol=TEXT,
        layout=TEXT,
        digest=TEXT,  # since version 2, as all below: of the finding itself, wherever it is taken from
        place=TEXT,  # the field, without indices
        trait=TEXT,
        apart=TEXT,  # the engines that stand alone against the rest, with commas
        refuse=TRUTH,  # whether overlong integers were refused
        python=TEXT,
        origin=TEXT,  # what searched: atheris, hypothesis, random, sweep; net: it was found over the network
        number=WHOLE,  # of the input, where inputs are numbered
        value=TEXT,  # JSON of a value that is encoded, where the input is one
        folder=TEXT,  # its name, of a finding that was kept in one
        page=TEXT,  # what a person is shown
        repeat=TEXT,  # the command that shows it again
        iut=TEXT,  # since version 4, as all below, and only of what was found over the network: as the user named it
        name=TEXT,
        version=TEXT,
        role=TEXT,
        profile=TEXT,
        transport=TEXT,
        outcome=TEXT,  # violation or deviation, where a rule is broken
        about=TEXT,  # what is said in the smallest test that does it, the last kinds, with " + "
        tests=WHOLE,  # after how many it was found
        times=WHOLE,  # how often the smallest test is played, until it shows
        moves=TEXT,  # that test, a line for each move and for what it says
        printed=TEXT,  # the last that the implementation printed
    ),
    ("protocol", "layout"),
    in_files={
        "time": Moment(),
        "engines": Words(separator=", "),
        "apart": Words(separator=", "),
        "about": Words(separator=" + "),
    },
    since=3,
)

SWEEPS = LakeTable(
    "sweeps",
    3,
    _schema(
        source=TEXT,
        engines=TEXT,  # with commas; the first is what the others are held to
        seed=WHOLE,
        first=WHOLE,  # chunk
        end=WHOLE,  # the first chunk that does not belong to it
        frames=WHOLE,
        accepted=WHOLE,
        spoiled=WHOLE,  # values of accepted frames that were spoiled and encoded
        differing=WHOLE,
        skipped=WHOLE,  # frames that a program does not implement, or was not asked
        goldwire=TEXT,
        protocol=TEXT,
        layout=TEXT,
        judged=WHOLE,  # since version 2: frames of which something was compared
    ),
    ("protocol", "layout"),
    in_files={
        "engines": Words(separator=", "),
        "first": FileColumn("first_chunk"),
        "end": FileColumn("end_chunk"),
    },
    since=3,
)

VECTORS = LakeTable(
    "vectors",
    3,
    _schema(
        source=TEXT,
        id=TEXT,
        group=TEXT,
        bytes=BYTES,
        result=TEXT,
        reason=TEXT,
        rules=TEXT,
        protocol=TEXT,
        layout=TEXT,
        comment=TEXT,  # since version 2, as all below
        flags=TEXT,  # with blanks
    ),
    ("protocol", "layout"),
    in_files={
        "group": FileColumn("vector_group"),
        "rules": Words(separator=" "),
        "flags": Words(separator=" "),
    },
    since=3,
)

TABLES = {table.name: table for table in (RUNS, SESSIONS, FRAMES, LOSSES, VERDICTS, DECODED, FINDINGS, SWEEPS, VECTORS)}
