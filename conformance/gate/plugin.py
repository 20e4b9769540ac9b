"""The pytest plugin: plays cases against an implementation; without ``--goldwire-iut`` it does nothing.

``pytest_goldwire`` is its entry: it adds the options and loads this, where goldwire's packages are found.

The process that plays (each worker of pytest-xdist, or the only one) has a ``PlayerPlugin``, the process that collects
the results a ``CollectorPlugin``. This is loaded in every pytest run where goldwire is installed, so it stays light:
what it needs besides is imported in the functions, once there is an ``--iut`` or a case.
"""

import fnmatch
import re
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.gate.items import CaseItem
    from conformance.run.settings import RunSettings

CASES = re.compile(r"conformance[./](\w+)[./]cases")
"""The protocol in a path of cases, or in their dotted name as ``--pyargs`` takes it."""

SEED = re.compile(r"\[(\d+)\]")
"""The seed of a history in a ``-k`` expression."""

PER_SECOND = 2
"""Histories of each kind that are made ready for each second of ``--for``: more than are played in it."""

GLOB = re.compile(r"[\w:+.\\/*?-]*[*?][\w:+.\\/*?-]*")
"""A word of a ``-k`` expression that has a wildcard in it; the characters are those that pytest takes in a name."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks that announce a run."""
    from conformance.gate import hooks

    pluginmanager.add_hookspecs(hooks)


# Last: by then xdist has said whether it distributes, and every conftest file has had its say about the options.
@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins that play and collect, if there is an implementation to play against."""
    if not config.option.goldwire_iut:
        return
    _check_keyword(config.option.keyword)
    settings = _settings(config)
    is_worker = hasattr(config, "workerinput")
    # Under xdist the controller plays nothing, and a worker collects nothing.
    distributes = not is_worker and getattr(config.option, "dist", "no") != "no"
    if distributes and settings.is_shared:
        raise pytest.UsageError(
            f"--iut {settings.iut} is one instance, which several workers cannot share: leave out -n"
        )
    if not is_worker:
        from conformance.gate.collector_plugin import CollectorPlugin

        config.pluginmanager.register(CollectorPlugin(settings, config))
    if not distributes:
        from conformance.gate.player_plugin import PlayerPlugin

        config.pluginmanager.register(PlayerPlugin(settings, config), "goldwire-playing")


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> "list[CaseItem] | None":
    """Make an item of a case, or one of each seed of a history."""
    if not isinstance(obj, FunctionType) or "__goldwire__" not in vars(obj):
        return None
    from conformance.cases import seeded
    from conformance.gate.items import CaseItem

    seeds = _seeds(collector.config.option)
    return [
        CaseItem.from_parent(collector, name=each, function=function) for each, function in seeded(name, obj, seeds)
    ]


def _seeds(option: Any) -> list[int]:
    """Return the seeds to play: the first few, more of them where there is time, and those that ``-k`` names."""
    from conformance.cases import SEEDS

    count = SEEDS if option.goldwire_histories is None else option.goldwire_histories
    if option.goldwire_for is not None:
        count = max(count, round(option.goldwire_for * PER_SECOND))
    named = {int(number) for number in SEED.findall(option.keyword or "")}
    return [*range(1, count + 1), *sorted(number for number in named if number > count)]


# First, as pytest itself reads the expression in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let ``-k`` take globs: each stands for the rule ids and case names that it matches."""
    keyword = config.option.keyword
    if config.option.goldwire_iut and keyword:
        names = {name for item in items for name in item.extra_keyword_matches}
        config.option.keyword = GLOB.sub(lambda match: _spelt_out(match[0], names), keyword)


def _check_keyword(keyword: str) -> None:
    """Refuse an expression early: a worker that finds out later takes the session with it."""
    from _pytest.mark.expression import Expression

    try:
        Expression.compile(GLOB.sub("glob", keyword) or "all")
    except Exception as error:  # SyntaxError, or a ParseError of pytest's own before version 9
        raise pytest.UsageError(f"-k {keyword!r}: {error}") from None


def _spelt_out(glob: str, names: set[str]) -> str:
    # Anywhere in a name and in any case, as pytest treats the words of an expression.
    pattern = re.compile(fnmatch.translate(f"*{glob}*"), re.IGNORECASE)
    found = sorted(name for name in names if pattern.fullmatch(name))
    # A name that nothing has, where nothing matches: an empty expression would select everything.
    return _any_of(found) if found else re.sub(r"[*?]+", "::", glob)


def _any_of(names: list[str]) -> str:
    # By halves: pytest nests what stands in a row, and of a thousand histories that is deeper than Python goes.
    if len(names) == 1:
        return names[0]
    half = len(names) // 2
    return f"({_any_of(names[:half])} or {_any_of(names[half:])})"


def _settings(config: pytest.Config) -> "RunSettings":
    from conformance.run.settings import BadSettings, gather
    from conformance.verdicts import Strictness

    option = config.option
    protocol = option.goldwire_protocol or _protocol(config.args)
    try:
        return gather(
            option.goldwire_iut,
            protocol,
            profile=option.goldwire_profile,
            strictness=Strictness(option.goldwire_strictness),
            link=option.goldwire_link,
            path=option.goldwire_path,
            expectations=Path(option.goldwire_expectations) if option.goldwire_expectations else None,
            accept=option.goldwire_accept,
            # Absolute now: a test of the user's may change the folder before the report is written.
            report=Path(option.goldwire_report).absolute() if option.goldwire_report else None,
        )
    except BadSettings as error:
        raise pytest.UsageError(str(error)) from None


def _protocol(arguments: list[str]) -> str:
    found = {match[1] for argument in arguments for match in CASES.finditer(str(argument))}
    if len(found) != 1:
        raise pytest.UsageError(
            "--goldwire-iut: which protocol? Give --goldwire-protocol NAME, or the path of its cases"
        )
    return found.pop()
