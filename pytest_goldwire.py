"""The entry of the pytest plugin: it adds the options, and lets ``conformance.gate.plugin`` play, if it can be found.

It stands outside the package ``goldwire``, whose import fails where another package hides one of goldwire's rooms:
pytest loads this in every run of everybody who has goldwire installed, and most of these runs are about something else.
"""

import pytest

try:
    from goldwire import rooms
except ImportError as error:
    HIDDEN = str(error)
else:
    HIDDEN = ""
    pytest_plugins = ["conformance.gate.plugin"]  # pytest loads the plugins that a plugin names so


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
    group.addoption(
        "--goldwire-strictness",
        choices=("lenient", "as-expected", "strict"),
        default="as-expected",
        help="warnings never fail, where the expectations lack them, or always",
    )
    group.addoption("--link", dest="goldwire_link", metavar="TRANSPORT", help="default: what it speaks first")
    group.addoption("--expectations", dest="goldwire_expectations", metavar="FILE", help="what is known to be wrong")
    group.addoption("--accept", dest="goldwire_accept", action="store_true", help="rewrite the expectations as it is")
    group.addoption("--goldwire-histories", type=int, metavar="N", help="histories to play of each kind")
    group.addoption("--goldwire-for", type=float, metavar="SECONDS", help="how long to play histories")
    group.addoption("--goldwire-max-time", type=float, metavar="SECONDS", help="end the run after so long")
    group.addoption("--goldwire-report", metavar="DIR", help="where run.ndjson, summary.json and traces go")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Say which room is hidden, and by what, to those who want to play cases, and end with status 2.

    Everybody else hears nothing, neither an error nor a warning (which ``-W error`` makes one): a folder of their own
    that is called ``reports`` or ``wire`` is no fault of theirs.
    """
    if not config.option.iut:
        return
    # Once more, since conftest files have put folders on sys.path since this was imported.
    hidden = HIDDEN or str(rooms.shadow() or "")
    if hidden:
        pytest.exit(hidden, 2)  # not pytest's own 4 for wrong usage: 2 as from every entry of goldwire
