"""The entry of the pytest plugin: it adds the options, and lets ``conformance.gate.plugin`` play where they are used.

It stands outside the package ``goldwire``, whose import fails where another package hides one of goldwire's rooms:
pytest loads this in every run of everybody who has goldwire installed, and most of these runs are about something else.
Nothing of these is touched, and no option is called like one of another plugin.
"""

import re
from argparse import Namespace

import pytest

PLUGIN = "conformance.gate.plugin"
CASES = re.compile(r"conformance[./]\w+[./]cases")
"""What names cases of goldwire's own: who plays them without an implementation is told what is missing."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of them inert without ``--goldwire-iut``."""
    group = parser.getgroup("goldwire", "conformance to a wire protocol")
    group.addoption("--goldwire-iut", metavar="TEXT", help="the implementation to play cases against, such as peer:")
    group.addoption("--goldwire-protocol", metavar="NAME", help="default: as the path of the cases says")
    group.addoption(
        "--goldwire-profile",
        choices=("document", "deployed"),
        default="document",
        help="the document to the letter, or what the field has settled on",
    )
    group.addoption(
        "--goldwire-strictness",
        choices=("lenient", "as-expected", "strict"),
        default="as-expected",
        help="warnings never fail, where the expectations lack them, or always",
    )
    group.addoption("--goldwire-link", metavar="TRANSPORT", help="default: what it speaks first")
    group.addoption("--goldwire-path", metavar="PATH", help="what befalls datagrams: loss=0.1,doubling=0.05")
    group.addoption("--goldwire-expectations", metavar="FILE", help="what is known to be wrong")
    group.addoption("--goldwire-accept", action="store_true", help="rewrite the expectations as it is")
    group.addoption("--goldwire-histories", type=int, metavar="N", help="histories to play of each kind")
    group.addoption("--goldwire-for", type=float, metavar="SECONDS", help="how long to play histories")
    group.addoption("--goldwire-max-time", type=float, metavar="SECONDS", help="end the run after so long")
    group.addoption("--goldwire-report", metavar="DIR", help="where run.ndjson, summary.json and traces go")


# As early as that, so that what is loaded hears of the configuration when all others have had their say.
@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Load what plays, if somebody wants to play."""
    _join(early_config, early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Say which room is hidden, and by what, to those who want to play cases, and end with status 2.

    Everybody else hears nothing, neither an error nor a warning (which ``-W error`` makes one): a folder of their own
    that is called ``reports`` or ``wire`` is no fault of theirs.
    """
    # Once more, since conftest files have put folders on sys.path; and workers load their plugins after those.
    if config.option.goldwire_iut and (hidden := _hidden()):
        pytest.exit(hidden, 2)  # not pytest's own 4 for wrong usage: 2 as from every entry of goldwire
    _join(config, config.option)


def _join(config: pytest.Config, option: Namespace) -> None:
    names_cases = any(CASES.search(str(each)) for each in option.file_or_dir or ())
    if (option.goldwire_iut or names_cases) and not config.pluginmanager.has_plugin(PLUGIN) and not _hidden():
        config.pluginmanager.import_plugin(PLUGIN)


def _hidden() -> str:
    """Return what hides one of goldwire's rooms; empty if nothing does."""
    try:
        from goldwire import rooms
    except ImportError as error:
        return str(error)
    return str(rooms.shadow() or "")
