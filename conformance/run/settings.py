"""What a run is about: the implementation, the catalogue and the contract that the options name."""

import shlex
from datetime import date
from importlib.metadata import version
from pathlib import Path

import msgspec

from conformance.catalogue.loading import CatalogueError, protocols
from conformance.catalogue.rules import Catalogue, Profile
from conformance.contract.expectations import BadExpectations, Expectations, find_expectations, load_expectations
from conformance.suite import Suite
from conformance.verdicts import Strictness
from harness.errors import BadDescription
from harness.iuts.description import Description, Embedded, Remote, resolve, roles_of
from harness.iuts.versions import with_version
from harness.links.network_path import NetworkPath, read_path
from harness.links.transports import known_transport
from harness.protocol import IncompleteProtocol


class BadSettings(Exception):
    """Options that contradict each other or name what is not there (exit status 2)."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One run's settings.

    ``report`` is the folder to write to, ``given`` the expectation file that the user named, ``today`` the day on which
    expectations expire or not (that of the end of the run by default), ``path`` what befalls datagrams on their way.
    """

    iut: str
    protocol: str
    profile: Profile
    transport: str
    strictness: Strictness
    description: Description
    catalogue: Catalogue
    expectations: Expectations
    accept: bool = False
    report: Path | None = None
    given: Path | None = None
    path: NetworkPath | None = None
    today: date | None = None

    @property
    def version(self) -> str:
        """The implementation's version as far as it is known; our own for the embedded reference."""
        if isinstance(self.description.source, Embedded):
            return self.description.version or version("goldwire")
        return self.description.version

    @property
    def is_shared(self) -> bool:
        """Whether all who play would share one instance, since nobody here can start another."""
        return isinstance(self.description.source, Remote)

    def command(self, keyword: str) -> str:
        """Return the command line that plays the cases of a keyword again."""
        # Only what differs from the defaults: the line is to be read, copied and changed by a person.
        words = ["goldwire", "test", self.protocol, "--iut", self.iut]
        if self.profile != "document":
            words += ["--profile", self.profile]
        if self.strictness is not Strictness.AS_EXPECTED:
            words += [f"--{self.strictness.value}"]
        if self.transport != self.description.transports[0]:
            words += ["--link", self.transport]
        if self.path is not None:
            words += ["--path", str(self.path)]
        if self.given is not None:
            words += ["--expectations", str(self.given)]
        return shlex.join([*words, "-k", keyword])


def gather(
    iut: str,
    protocol: str,
    *,
    profile: Profile = "document",
    strictness: Strictness = Strictness.AS_EXPECTED,
    link: str | None = None,
    path: str | None = None,
    expectations: Path | None = None,
    accept: bool = False,
    report: Path | None = None,
) -> RunSettings:
    """Return the settings that the options stand for; BadSettings says which option is wrong and why."""
    # The protocol first: without it every other complaint would be about the wrong thing.
    known = protocols()
    if protocol not in known:
        raise BadSettings(f"unknown protocol {protocol!r}: known are {', '.join(known)}")
    try:
        suite = Suite(protocol)
        catalogue = suite.catalogue
        description = resolve(iut, protocol)
        suite.harness.check(description)
        description = with_version(description)
    except (CatalogueError, IncompleteProtocol) as error:
        raise BadSettings(str(error)) from None
    except BadDescription as error:
        raise BadSettings(f"--iut: {error}") from None
    transport = (known_transport(link) or link) if link else description.transports[0]
    if transport not in description.transports:
        raise BadSettings(
            f"--link: {description.name} does not speak over {transport}: it knows {', '.join(description.transports)}"
        )
    try:
        way = None if path is None else read_path(path)
    except BadDescription as error:
        raise BadSettings(f"--path: {error}") from None
    if way is not None and transport != "udp":
        raise BadSettings(f"--path: what goes over {transport} is neither lost nor doubled; only datagrams are")
    return RunSettings(
        iut=iut,
        protocol=protocol,
        profile=profile,
        transport=transport,
        strictness=strictness,
        description=description,
        catalogue=catalogue,
        expectations=_contract(description, protocol, expectations, accept=accept),
        accept=accept,
        report=report,
        given=expectations,
        path=way,
    )


def _contract(description: Description, protocol: str, given: Path | None, *, accept: bool) -> Expectations:
    # --accept writes the file that the user names, so it need not be there yet; without it, a wrong name must not pass.
    if given is not None and accept and not given.exists():
        return Expectations(given)
    path = find_expectations(description.name, protocol, description.expectations, given)
    if path is None:
        return Expectations()
    try:
        return load_expectations(path, roles_of(protocol))
    except BadExpectations as error:
        raise BadSettings(str(error)) from None
