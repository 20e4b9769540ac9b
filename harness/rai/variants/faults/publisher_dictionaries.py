"""Faults of a publisher: dictionaries, and what it says of them."""

from typing import Any

from msgspec.structs import replace

from harness.rai.peers.cache import CachedValue, Dictionary
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import NOTHING, Dict, DictRequest, Reply, Return, object_of, user_of


class Naming(Publisher):
    """What names a dictionary otherwise is made of this."""

    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        """Return the members of an image or a snapshot."""
        return members

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        return members if self.dictionary is None else self.naming(members, self.dictionary)


def _without(members: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


@fault("RAI-149", does="names no dictionary")
class NamesNoDictionary(Naming):
    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        return _without(members, "dictionary", "dict_csum")


@fault("RAI-149", does="names dictionaries in images alone")
class NamesDictionariesInImages(Naming):
    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        return _without(members, "dictionary") if members["type"] == "snap" else members


@fault("RAI-149", does="names a dictionary by the format")
class NamesTheFormat(Naming):
    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        return members | {"dictionary": "json"}


@fault("RAI-149", does="names the dictionary that was there when the subject was")
class NamesOldDictionaries(Naming):
    before: tuple[CachedValue, ...] = ()

    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        is_new = self.dictionary is not None and record not in self.before
        return _without(members, "dictionary") if is_new else members

    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        self.before = tuple(self.records.values())
        super().do_dictionary(now, name, *text)


@fault("RAI-150", does="names no checksum")
class NamesNoChecksum(Naming):
    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        return _without(members, "dict_csum")


@fault("RAI-150", does="names the length of a dictionary's name as its checksum")
class ChecksumOfTheName(Naming):
    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        return members | {"dict_csum": len(known.name)}


@fault("RAI-150", does="has the number of fields as checksum")
class ChecksumIsACount(Naming):
    def naming(self, members: dict[str, Any], known: Dictionary) -> dict[str, Any]:
        return members | {"dict_csum": bytes(known.data).count(b"id")}


@fault("RAI-150", does="draws another checksum for each session")
class ChecksumForEach(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if isinstance(body, Reply) and isinstance(body.dict_csum, int):
            body = replace(body, dict_csum=body.dict_csum + len(user_of(other.session)) + (other.session[1] == "o"))
        super().reply(other, returned, body)


@fault("RAI-150", does="keeps the checksum of its first dictionary")
class KeepsTheFirstChecksum(Publisher):
    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        before = self.dictionary
        super().do_dictionary(now, name, *text)
        if before is not None and self.dictionary is not None:
            self.dictionary.checksum = before.checksum


@fault("RAI-151", does="shows nobody an image when a dictionary has changed")
class ChangesSilently(Publisher):
    is_quiet = False

    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        refresh, self.is_quiet = self.is_quiet, True
        super().do_dictionary(now, name, *text)
        self.is_quiet = refresh

    def refresh(self, subject: str) -> None:
        if not self.is_quiet:
            super().refresh(subject)


@fault("RAI-151", does="shows images with the checksum before, when a dictionary has changed")
class ChangesWithTheOldChecksum(Publisher):
    old: Dictionary | None = None

    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        old, self.old = self.old, self.dictionary
        super().do_dictionary(now, name, *text)
        self.old = old

    def refresh(self, subject: str) -> None:
        known = self.dictionary
        self.dictionary = self.old or known
        super().refresh(subject)
        self.dictionary = known


@fault("RAI-151", does="shows one image when a dictionary has changed")
class ChangesOneImage(ChangesSilently):
    def refresh(self, subject: str) -> None:
        if not self.is_quiet or subject == next(iter(self.records)):
            Publisher.refresh(self, subject)


@fault("RAI-151", does="shows images when a dictionary changes for the first time alone")
class ChangesOnce(ChangesSilently):
    changes = 0

    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        if self.changes > 1:
            super().do_dictionary(now, name, *text)
        else:
            Publisher.do_dictionary(self, now, name, *text)
        self.changes += 1


@fault("RAI-151", does="shows empty images when a dictionary has changed")
class ChangesToNothing(Publisher):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        members = super().whole(kind, record)
        is_new = kind == "initial" and self.dictionary is not None
        return members | {"data": object_of({})} if is_new else members


class Sending(Publisher):
    """What sends dictionaries otherwise is made of this."""

    request: DictRequest | None = None

    def sending(self, body: Dict, request: DictRequest) -> Dict:
        """Return what is sent in place of a dictionary."""
        return body

    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        before, self.request = self.request, body
        super().send_dictionary(body, other)
        self.request = before

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if isinstance(body, Dict) and self.request is not None:
            body = self.sending(body, self.request)
        super().reply(other, returned, body)


@fault("RAI-152", does="sends no dictionary")
class SendsNoDictionary(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        """Send nothing."""


@fault("RAI-152", does="sends a dictionary to the first who asks alone")
class SendsADictionaryOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.asked: str | None = None

    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        self.asked = self.asked or other.session
        if self.asked == other.session:
            super().send_dictionary(body, other)


@fault("RAI-152", does="sends no dictionary that is called json")
class SendsNoJson(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if body.dictionary != "json":
            super().send_dictionary(body, other)


@fault("RAI-152", does="sends no dictionary to who has the newest checksum")
class SendsNothingNew(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if self.dictionary is None or body.dict_csum != self.dictionary.checksum:
            super().send_dictionary(body, other)


@fault("RAI-152", does="sends a dictionary without data to who has the newest checksum")
class SendsNoData(Sending):
    def sending(self, body: Dict, request: DictRequest) -> Dict:
        return body if request.dict_csum is None else replace(body, data=NOTHING)


@fault("RAI-153", does="sends no name of a dictionary's own")
class SendsTheFormat(Sending):
    def sending(self, body: Dict, request: DictRequest) -> Dict:
        return replace(body, dictionary="json")


@fault("RAI-153", does="sends a dictionary without its checksum")
class SendsDictionariesWithoutChecksum(Sending):
    def sending(self, body: Dict, request: DictRequest) -> Dict:
        return replace(body, dict_csum=None)


@fault("RAI-153", does="sends the checksum that was asked for")
class SendsTheWantedChecksum(Sending):
    def sending(self, body: Dict, request: DictRequest) -> Dict:
        return replace(body, dict_csum=request.dict_csum or 0)


@fault("RAI-153", does="sends the names of a dictionary's fields alone")
class SendsNames(Sending):
    def sending(self, body: Dict, request: DictRequest) -> Dict:
        return body if request.dict_csum is None else replace(body, data=object_of({"BID": {}, "ASK": {}}))


@fault("RAI-154", does="sends a dictionary to who knows its checksum alone")
class SendsToWhoKnows(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if body.dict_csum is not None:
            super().send_dictionary(body, other)


@fault("RAI-154", does="sends its first dictionary to who names no checksum")
class SendsTheFirst(Sending):
    first: Dictionary | None = None

    def do_dictionary(self, now: float, name: str, *text: str) -> None:
        """Have a dictionary, or another one."""
        super().do_dictionary(now, name, *text)
        self.first = self.first or self.dictionary

    def sending(self, body: Dict, request: DictRequest) -> Dict:
        if request.dict_csum is not None or self.first is None:
            return body
        return replace(body, data=self.first.data)


@fault("RAI-221", does="dies of a request for a dictionary before it has one")
class DiesWithoutDictionary(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if self.dictionary is None:
            raise KeyError(body.dictionary)
        super().send_dictionary(body, other)


@fault("RAI-221", does="has no dictionary any more when another was asked for")
class LosesItsDictionary(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if self.dictionary is not None and body.dictionary != self.dictionary.name:
            self.dictionary = None
        super().send_dictionary(body, other)


@fault("RAI-221", does="trusts a session no more that asks for a dictionary that there is not")
class DistrustsWhoAsks(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if self.dictionary is None or body.dictionary != self.dictionary.name:
            other.is_trusted = False
        super().send_dictionary(body, other)
