"""``goldwire pipeline sql``: questions to a lake, in SQL."""

import csv
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from harness.command import WrongUsage
from harness.errors import NotInstalled
from reports.commands import options
from wire.escaping import escaped

FORMATS = ("table", "csv")


@click.command()
@click.argument("question", metavar="SQL")
@options.lake
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def sql(question: str, folder: Path | str, form: str) -> int:
    """Ask a lake a question in SQL (DuckDB's): its tables have the rows that are committed, and no others.

    goldwire pipeline sql "SELECT rule, count(*) FROM verdicts WHERE outcome = 'violation' GROUP BY rule" --lake lake

    \b
    Examples:
      goldwire pipeline sql 'SELECT rule, count(*) FROM verdicts GROUP BY rule' --lake lake
    """
    with options.requiring_arrow():
        from reports.lake.analysis import connected
        from reports.lake.lake import NoLake
    lake = options.open_lake(folder)
    try:
        with connected(lake) as connection:
            from duckdb import Error

            try:
                result = connection.execute(question)
                # A text without any question in it: nothing to be wrong, and nothing to answer.
                if result is None:
                    raise WrongUsage("SQL: there is no question in it")
                names = [column[0] for column in result.description or ()]
                rows = result.fetchall()
            except Error as error:
                raise WrongUsage(f"SQL: {error}") from None
    except NoLake as error:
        raise WrongUsage(str(error)) from None
    except ImportError as error:
        if error.name != "duckdb":
            raise
        raise NotInstalled("questions in SQL need the package duckdb: pip install 'goldwire[sql]'") from None
    _print(names, rows, form)
    return int(options.print_damage(lake))


def _print(names: list[str], rows: list[tuple[Any, ...]], form: str) -> None:
    if form == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(names)
        writer.writerows([[_told(value) for value in row] for row in rows])
        return
    table = Table(*names)
    for row in rows:
        table.add_row(*map(_told, row))
    Console(markup=False, highlight=False).print(table)


def _told(value: Any) -> str:
    match value:
        case None:
            return ""
        case bytes():
            return value.hex()
        case list():
            return ", ".join(map(_told, value))
        case _:
            return escaped(str(value))
