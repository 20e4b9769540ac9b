"""What a project needs for its implementation to be tested: a description, its expectations, a file for its CI."""

import re
import shlex
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import tomlkit

from conformance.contract.expectations import local_path
from harness.errors import BadDescription
from harness.iuts.description import check_text
from harness.links.transports import parse_address
from harness.protocol import WireProtocol

CI_FILES = {"github": Path(".github/workflows/goldwire.yml"), "gitlab": Path(".gitlab-ci.yml")}
"""Where a project's file for its continuous integration stands, by the service."""

_COMMAND, _KEY = "goldwire test zenoh --iut ./mine.toml", re.compile(r"mine\.toml")
"""What the files that come with goldwire say, in place of a project's own."""

EXPECTATIONS = """\
# What is known to be wrong with {name}, and accepted: as long as this file stands here, whatever is not in it is red.
# goldwire test … --accept writes the entries; the reasons are yours:
#
# [[expect]]
# rule = "…"
# outcome = "violation"
# reason = "why, in a sentence"
"""


def is_address(command: str) -> bool:
    """Tell whether what was given as a command is the address of a node that runs already."""
    try:
        parse_address(command)
    except BadDescription:
        return False
    return True


def first_files(
    protocol: WireProtocol, role: str, command: str, name: str, ci: str | None, *, control: bool = False
) -> dict[Path, str]:
    """Return the files by their paths in the project: the description of an implementation comes first.

    ``command`` is how it is started, or its address, which needs no description. ``ci`` is a service of ``CI_FILES``.
    BadDescription says what is wrong with the answers.
    """
    found: dict[Path, str] = {}
    iut = f"{command}:{role}"
    if not is_address(command):
        path = Path(f"{name}.toml")
        found[path] = _description(protocol, role, command, name, control)
        check_text(found[path], path, protocol.name)
        iut = f"./{path}"
    found[local_path(command if is_address(command) else name)] = EXPECTATIONS.format(name=name)
    if ci is not None:
        found[CI_FILES[ci]] = _ci_file(ci, f"goldwire test {protocol.name} --iut {iut}", next(iter(found)))
    return found


def _description(protocol: WireProtocol, role: str, command: str, name: str, control: bool) -> str:
    document = tomlkit.document()
    document.update({"name": name, "protocol": protocol.name, "roles": [role]})
    if role in protocol.dials:
        document["dials"] = [role]
    document["transports"] = [protocol.usual_link]
    if control:
        document["capabilities"] = ["control"]
    process = tomlkit.table()
    process.add(tomlkit.comment("{listen} is where to listen, {port} its port, {connect} where to dial"))
    # What stands in the project is found wherever the command is played.
    process["command"] = [re.sub(r"^\./", "{here}/", word) for word in _words(command)]
    if control:
        process["control"] = True
    document["process"] = process
    return tomlkit.dumps(document)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadDescription(f"the command {command!r} cannot be read: {error}") from None
    if not words:
        raise BadDescription("the command is empty: say how the implementation is started")
    return words


def _ci_file(ci: str, command: str, key: Path) -> str:
    text = files("conformance").joinpath("init", "ci", f"{ci}.yml").read_text(encoding="utf-8")
    return _KEY.sub(str(key), text.replace(_COMMAND, command))


def notes(protocol: WireProtocol, role: str, command: str) -> Iterator[str]:
    """Yield what else is to be known of the answers."""
    if is_address(command):
        yield f"a node that runs already needs no description; it has to run at {command} when it is tested"
        return
    wanted = ("{connect}",) if role in protocol.dials else ("{listen}", "{port}")
    if not any(each in command for each in wanted):
        variable = wanted[0][1:-1]
        yield (
            f"the command has no {' or '.join(wanted)}: so the program has to read from its environment where to"
            f" {'dial' if role in protocol.dials else 'listen'} (GOLDWIRE_{variable.upper()})"
        )
