"""What a run is about: the implementation, the catalogue and the contract that the options name."""

import shlex
from datetime import date
from importlib.metadata import version
from pathlib import Path

import msgspec

from conformance.expectations import BadExpectations, Expectations, find, load
from conformance.rules import Catalogue, CatalogueError, protocols
from conformance.rules import load as load_catalogue
from harness.addresses import known_transport
from harness.errors import BadDescription
from harness.iut import Description, Embedded, Remote, resolve


class BadSettings(Exception):
    """Options that contradict each other or name what is not there (exit status 2)."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """One run's settings; ``report`` is the folder to write to, ``given`` the named expectation file."""

    iut: str
    protocol: str
    profile: str
    transport: str
    strict: bool
    description: Description
    catalogue: Catalogue
    expectations: Expectations
    accept: bool = False
    report: Path | None = None
    given: Path | None = None
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
        words = ["goldwire", "test", self.protocol, "--iut", self.iut]
        if self.profile != "document":
            words += ["--profile", self.profile]
        if self.strict:
            words += ["--strict", "should"]
        if self.transport != self.description.transports[0]:
            words += ["--link", self.transport]
        if self.given is not None:
            words += ["--expectations", str(self.given)]
        return shlex.join([*words, "-k", keyword])


def gather(
    iut: str,
    protocol: str,
    *,
    profile: str = "document",
    strict: bool = False,
    link: str | None = None,
    expectations: Path | None = None,
    accept: bool = False,
    report: Path | None = None,
) -> Settings:
    """Return the settings that the options stand for; BadSettings says which option is wrong and why."""
    known = protocols()
    if protocol not in known:
        raise BadSettings(f"unknown protocol {protocol!r}: known are {', '.join(known)}")
    try:
        description = resolve(iut, protocol)
        catalogue = load_catalogue(protocol)
    except BadDescription as error:
        raise BadSettings(f"--iut: {error}") from None
    except CatalogueError as error:
        raise BadSettings(str(error)) from None
    transport = (known_transport(link) or link) if link else description.transports[0]
    if transport not in description.transports:
        raise BadSettings(
            f"--link: {description.name} does not speak over {transport}: it knows {', '.join(description.transports)}"
        )
    return Settings(
        iut=iut,
        protocol=protocol,
        profile=profile,
        transport=transport,
        strict=strict,
        description=description,
        catalogue=catalogue,
        expectations=_contract(description, protocol, expectations, accept=accept),
        accept=accept,
        report=report,
        given=expectations,
    )


def _contract(description: Description, protocol: str, given: Path | None, *, accept: bool) -> Expectations:
    if given is not None and accept and not given.exists():
        return Expectations(given)
    path = find(description.name, protocol, description.expectations, given)
    if path is None:
        return Expectations()
    try:
        return load(path)
    except BadExpectations as error:
        raise BadSettings(str(error)) from None
