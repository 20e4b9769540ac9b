"""Implementations under test: what they are called, and what is known of them (docs/iut.md).

``resolve`` turns what a user writes (``eclipse-zenoh==1.10.2:peer``, ``./mine.toml``, ``tcp/127.0.0.1:7447``,
``peer:``) into a Description; ``harness.iuts.implementation.start`` brings it to life.
"""

import math
import re
import string
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from harness.complaints import complaint
from harness.errors import BadDescription
from harness.links.addresses import Address
from harness.links.transports import TRANSPORTS, known_transport, parse_address

PEER = "peer"

_HERE = Path(__file__).parents[1]
_NAME = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:==(?P<version>[\w.+!-]+))?(?::(?P<role>[\w-]*))?")
_NAMED = "|".join(each.name for each in TRANSPORTS.values() if not each.has_ports)
_ADDRESS = re.compile(rf"(?P<address>(?:{_NAMED})/[^:]+|[a-z-]+/.*:\d+)(?::(?P<role>[A-Za-z][\w-]*))?")
_FILE = re.compile(r"(?P<file>.*\.toml)(?::(?P<role>[\w-]*))?")

Restart = Literal["on-crash", "every-case"]


class Environment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Python environment of its own: the package, its version, and the versions known to work."""

    package: str
    version: str
    known: tuple[str, ...] = ()


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to run it: command lines with placeholders, when it is ready, when to restart it."""

    command: tuple[str, ...]
    client_command: tuple[str, ...] = ()
    version_command: tuple[str, ...] = ()
    ready: Literal["handshake", "line"] = "handshake"
    start_timeout: float = 20.0
    restart: Restart = "on-crash"
    env: dict[str, str] = {}
    control: bool = False
    crash_signs: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A description's TOML file."""

    name: str
    protocol: str
    roles: tuple[str, ...]
    dials: tuple[str, ...] = ()
    transports: tuple[str, ...] = ("tcp",)
    capabilities: tuple[str, ...] = ()
    not_offered: tuple[str, ...] = ()
    time_scale: float = 1.0
    tempo: float = 1.0
    expectations: str = ""
    embedded: bool = False
    environment: Environment | None = None
    process: Program | None = None


class Embedded(msgspec.Struct, frozen=True):
    """Our own reference peer, run inside the tester."""


class Remote(msgspec.Struct, frozen=True):
    """A node that somebody else runs; it cannot be started, stopped or told anything.

    ``address`` is where it listens, or that of the broker to which it and the tester are connected.
    """

    address: Address


class Launched(msgspec.Struct, frozen=True):
    """A program that the tester runs; ``folder`` is where its description stands.

    ``is_peer``: it is ``goldwire peer``, which need not be loaded anew each time.
    """

    folder: Path
    program: Program
    environment: Environment | None = None
    is_peer: bool = False


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """An implementation in one role; ``time_scale`` above 1 stretches how long it is waited for.

    ``tempo`` is how many seconds of the protocol pass for it in one of the clock.
    ``not_offered`` is what it cannot be asked to do, in the protocol's words for that.
    """

    name: str
    protocol: str
    role: str
    roles: tuple[str, ...]
    source: Embedded | Remote | Launched
    version: str = ""
    dials: tuple[str, ...] = ()
    transports: tuple[str, ...] = ("tcp",)
    capabilities: frozenset[str] = frozenset()
    not_offered: frozenset[str] = frozenset()
    time_scale: float = 1.0
    tempo: float = 1.0
    expectations: Path | None = None

    @property
    def is_dialling(self) -> bool:
        """Whether it dials the tester in its role, instead of listening."""
        return self.role in self.dials

    @property
    def label(self) -> str:
        """What to call it in reports: ``eclipse-zenoh==1.10.2:router``."""
        version = f"=={self.version}" if self.version else ""
        return f"{self.name}{version}:{self.role}"


PLACEHOLDERS = frozenset({"python", "here", "role", "listen", "connect", "port", "tempo"})
OF_VERSIONS = frozenset({"python", "here"})
"""Those of ``version_command``, which is run before anything has an address."""


def resolve(text: str, protocol: str) -> Description:
    """Return the implementation that a user named; BadDescription says what is wrong with it.

    ``peer:[ROLE]`` the embedded reference, ``NAME[==VERSION][:ROLE]`` one that comes with goldwire,
    ``PATH.toml[:ROLE]`` a file, ``tcp/HOST:PORT[:ROLE]`` a node that runs already, or that is connected
    to the broker there. The role is the first by default.
    """
    # The file first: its path may look like a name, or begin like an address.
    if match := _FILE.fullmatch(text):
        return _described(_load(Path(match["file"]), protocol), Path(match["file"]), match["role"], "")
    if match := _ADDRESS.fullmatch(text):
        return _remote(match["address"], match["role"], protocol)
    if match := _NAME.fullmatch(text):
        path = _folder(protocol) / f"{match['name']}.toml"
        if path.exists():
            return _described(_load(path, protocol), path, match["role"], match["version"] or "")
    # What begins as an address does, or is there as a file, was meant as one.
    if known_transport(text.partition("/")[0]) is not None:
        parse_address(text)
    if text and (found := Path(text)).exists() and text not in known(protocol):
        what = "a folder" if found.is_dir() else "a file"
        wants = "a description is a file that ends in .toml; goldwire init writes one"
        raise BadDescription(f"{text} is {what}, and {wants}")
    raise BadDescription(
        f"unknown implementation {text!r} of {protocol}: known are {', '.join(known(protocol))};"
        " a path to a TOML file (goldwire init writes one) or an address such as tcp/127.0.0.1:7447 will do as well"
    )


def known(protocol: str) -> list[str]:
    """Return the names of the implementations that come with goldwire."""
    return sorted(path.stem for path in _folder(protocol).glob("*.toml"))


def is_described(protocol: str) -> bool:
    """Tell whether there are descriptions of implementations of a protocol."""
    return (_HERE / protocol / "iuts").is_dir()


def _folder(protocol: str) -> Path:
    folder = _HERE / protocol / "iuts"
    if not is_described(protocol):
        protocols = sorted(path.parent.name for path in _HERE.glob("*/iuts"))
        raise BadDescription(f"unknown protocol {protocol!r}: known are {', '.join(protocols)}")
    return folder


def _remote(address: str, role: str | None, protocol: str) -> Description:
    target = parse_address(address)
    peer = _load(_folder(protocol) / f"{PEER}.toml", protocol)
    if target.transport not in peer.transports:
        these = _these(peer.transports)
        raise BadDescription(f"{address}: {protocol} does not travel over {target.transport}: {these}")
    # Whatever has an address listens, so it cannot be in a role that dials; unless the address is that of a broker.
    dials = peer.dials if TRANSPORTS[target.transport].is_broker else ()
    return Description(
        name=address,
        protocol=protocol,
        role=_role(role, tuple(role for role in peer.roles if role not in peer.dials or role in dials), address),
        roles=peer.roles,
        source=Remote(target),
        dials=dials,
        transports=(target.transport,),
    )


def _described(file: _File, path: Path, role: str | None, version: str) -> Description:
    environment = file.environment
    if version:
        if environment is None:
            raise BadDescription(f"{file.name} has no versions to choose from: {path} has no [environment]")
        environment = msgspec.structs.replace(environment, version=version)
    return Description(
        name=file.name,
        protocol=file.protocol,
        role=_role(role, file.roles, file.name),
        roles=file.roles,
        source=Launched(path.parent.absolute(), file.process, environment) if file.process else Embedded(),
        version=environment.version if environment else "",
        dials=file.dials,
        transports=file.transports,
        capabilities=frozenset(file.capabilities),
        not_offered=frozenset(file.not_offered),
        time_scale=file.time_scale,
        tempo=file.tempo,
        expectations=path.parent.absolute() / file.expectations if file.expectations else None,
    )


def _role(role: str | None, roles: tuple[str, ...], name: str) -> str:
    if role and role not in roles:
        raise BadDescription(f"{name} has no role {role!r}: its roles are {', '.join(roles)}")
    return role or roles[0]


def _load(path: Path, protocol: str) -> _File:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadDescription(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadDescription(f"{path}: not UTF-8; save it as UTF-8") from error
    return _parsed(text, path, protocol)


def check_text(text: str, path: Path, protocol: str) -> None:
    """Raise BadDescription where a description that is to stand at a path would not be one."""
    _parsed(text, path, protocol)


def _parsed(text: str, path: Path, protocol: str) -> _File:
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except tomllib.TOMLDecodeError as error:
        raise BadDescription(f"{path}: not TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise BadDescription(f"{path}: {complaint(error, _File)}") from error
    for wrong in _complaints(file, protocol):
        raise BadDescription(f"{path}: {wrong}")
    return file


def _complaints(file: _File, protocol: str) -> list[str]:
    wrong = []
    # Reports and users call it NAME==VERSION:ROLE, which must be read again.
    if not _NAME.fullmatch(file.name):
        wrong.append(f"name: {file.name!r} is not made of letters, digits, '.', '_' and '-'")
    if file.protocol != protocol:
        wrong.append(f"protocol: this is an implementation of {file.protocol!r}, not of {protocol!r}")
    if not file.roles:
        wrong.append("roles: name at least one")
    if extra := set(file.dials) - set(file.roles):
        wrong.append(f"dials: {', '.join(sorted(extra))}: not among the roles {', '.join(file.roles)}")
    if not file.transports:
        wrong.append(f"transports: name at least one of {', '.join(TRANSPORTS)}")
    if unknown := [each for each in file.transports if each not in TRANSPORTS]:
        wrong.append(f"transports: {', '.join(unknown)}: known are {', '.join(TRANSPORTS)}")
    # There our own peer would be played, and the program never.
    if file.process is not None and "memory" in file.transports:
        wrong.append("transports: memory: only our own peer is run inside the tester; name what the program speaks")
    # No case is about a role that nobody has heard of, so nothing would be played.
    if strange := [role for role in file.roles if role not in (roles := roles_of(protocol))]:
        wrong.append(f"roles: {', '.join(strange)}: {_these(roles)}")
    if file.time_scale <= 0:
        wrong.append(f"time_scale: {file.time_scale:g} is not positive")
    if not (file.tempo > 0 and math.isfinite(file.tempo)):
        wrong.append(f"tempo: {file.tempo:g} is no pace: 1 is that of the clock, more is faster")
    if file.embedded == (file.process is not None):
        wrong.append("process: a [process] table says how to run it (only our own peer has embedded = true)")
    if file.process is not None:
        if file.environment is not None and file.process.version_command:
            wrong.append("process.version_command: [environment] says which version it is; leave out one of them")
        wrong += _program_complaints(file.process)
    return wrong


def roles_of(protocol: str) -> list[str]:
    """Return the roles that any implementation which comes with goldwire has."""
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(_folder(protocol).glob("*.toml"))]
    return list(dict.fromkeys(role for file in files for role in file["roles"]))


def _these(names: Iterable[str]) -> str:
    return f"there are {', '.join(names)}"


def _program_complaints(program: Program) -> list[str]:
    wrong = []
    if not program.command:
        wrong.append("process.command: is empty")
    if program.start_timeout <= 0:
        wrong.append(f"process.start_timeout: {program.start_timeout:g} s is not positive")
    commands = {"command": program.command, "client_command": program.client_command}
    env = {f"env.{name}": (value,) for name, value in program.env.items()}
    for key, texts in (commands | env | {"version_command": program.version_command}).items():
        known_here = OF_VERSIONS if key == "version_command" else PLACEHOLDERS
        for text in texts:
            if unknown := _placeholders(text) - known_here:
                names = ", ".join(sorted(known_here))
                wrong.append(
                    f"process.{key}: unknown placeholder in {text!r}: {', '.join(sorted(unknown))};"
                    f" known are {names}; a brace of its own is written twice"
                )
    return wrong


def _placeholders(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError as error:
        # Not a format at all: said where an unknown placeholder would be.
        return {str(error)}
