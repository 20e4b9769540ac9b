"""The pytest plugin: plays cases against an implementation; without ``--iut`` it does nothing.

The process that plays (each worker of pytest-xdist, or the only one) owns a Player; the process that collects
the results owns a Run. Results travel as JSON on the reports. Loaded in every pytest run, so it stays light.
"""

import fnmatch
import re
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.playing import CaseItem

CASES = re.compile(r"conformance[./](\w+)[./]cases")
GLOB = re.compile(r"[\w:+.\\/*?-]*[*?][\w:+.\\/*?-]*")
LINKS = ("tcp", "udp", "tcp-stream", "ux", "tls", "tcp-framed")  # those of harness.addresses, which is not loaded here
MESSAGE = "goldwire_message"  # the attribute of a report that carries what the player said


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of them inert without ``--iut``."""
    group = parser.getgroup("goldwire", "conformance to a wire protocol")
    group.addoption("--iut", metavar="TEXT", help="the implementation to play cases against, such as peer:")
    group.addoption("--goldwire-protocol", metavar="NAME", help="default: as the path of the cases says")
    group.addoption(
        "--profile",
        dest="goldwire_profile",
        choices=("document", "deployed"),
        default="document",
        help="the document to the letter, or what the field has settled on",
    )
    group.addoption("--goldwire-strict", choices=("should",), help="a SHOULD that is not kept fails")
    group.addoption("--link", dest="goldwire_link", choices=LINKS, help="default: what it speaks first")
    group.addoption("--expectations", dest="goldwire_expectations", metavar="FILE", help="what is known to be wrong")
    group.addoption("--accept", dest="goldwire_accept", action="store_true", help="rewrite the expectations as it is")
    group.addoption("--goldwire-report", metavar="DIR", help="where run.ndjson, summary.json and traces go")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks that announce a run."""
    from conformance import hooks

    pluginmanager.add_hookspecs(hooks)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins that play and collect, if there is an implementation to play against."""
    if not config.option.iut:
        return
    _check_keyword(config.option.keyword)
    settings = _settings(config)
    is_worker = hasattr(config, "workerinput")
    distributes = not is_worker and getattr(config.option, "dist", "no") != "no"
    if distributes and settings.is_shared:
        raise pytest.UsageError(
            f"--iut {settings.iut} is one instance, which several workers cannot share: leave out -n"
        )
    if not is_worker:
        config.pluginmanager.register(import_module("conformance.collecting").Collecting(settings, config))
    if not distributes:
        config.pluginmanager.register(Playing(settings, config), "goldwire-playing")


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> "CaseItem | None":
    """Make an item of a case."""
    if not isinstance(obj, FunctionType) or "__goldwire__" not in vars(obj):
        return None
    from conformance.playing import CaseItem

    item: CaseItem = CaseItem.from_parent(collector, name=name, function=obj)
    return item


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let ``-k`` take globs: each stands for the rule ids and case names that it matches."""
    keyword = config.option.keyword
    if config.option.iut and keyword:
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
    pattern = re.compile(fnmatch.translate(f"*{glob}*"), re.IGNORECASE)
    found = sorted(name for name in names if pattern.fullmatch(name))
    return f"({' or '.join(found)})" if found else re.sub(r"[*?]+", "::", glob)


def _settings(config: pytest.Config) -> Any:
    settings = import_module("conformance.settings")
    option = config.option
    protocol = option.goldwire_protocol or _protocol(config.args)
    try:
        return settings.gather(
            option.iut,
            protocol,
            profile=option.goldwire_profile,
            strict=option.goldwire_strict == "should",
            link=option.goldwire_link,
            expectations=Path(option.goldwire_expectations) if option.goldwire_expectations else None,
            accept=option.goldwire_accept,
            report=Path(option.goldwire_report).absolute() if option.goldwire_report else None,
        )
    except settings.BadSettings as error:
        raise pytest.UsageError(str(error)) from None


def _protocol(arguments: list[str]) -> str:
    found = {match[1] for argument in arguments for match in CASES.finditer(str(argument))}
    if len(found) != 1:
        raise pytest.UsageError("--iut: which protocol? Give --goldwire-protocol NAME, or the path of its cases")
    return found.pop()


class Playing:
    """Plays the cases of this process."""

    def __init__(self, settings: Any, config: pytest.Config) -> None:
        self.settings = settings
        self.player = import_module("conformance.playing").Player(
            settings, lambda line: config.hook.pytest_goldwire_progress(line=line)
        )

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Hand the player to the cases, and leave out those that do not fit role or transport."""
        from conformance.playing import CaseItem

        role, transport = self.settings.description.role, self.settings.transport
        unfit = [item for item in items if isinstance(item, CaseItem) and not item.case.fits(role, transport)]
        for item in items:
            if isinstance(item, CaseItem):
                item.player = self.player
        if unfit:
            config.hook.pytest_deselected(items=unfit)
            items[:] = [item for item in items if item not in unfit]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Put what the player said on the report."""
        outcome = yield
        message = getattr(item, "message", None)
        if call.when == "call" and message is not None:
            import msgspec

            setattr(outcome.get_result(), MESSAGE, msgspec.json.encode(message).decode())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Leave no process behind."""
        self.player.close()

    def pytest_unconfigure(self) -> None:
        """Leave no process behind when the session never got to its end."""
        self.player.close()
