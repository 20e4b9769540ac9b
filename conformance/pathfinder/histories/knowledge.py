"""Knowledge: what one subscription was told, and whether that is what became of the services."""

from collections import Counter
from collections.abc import Mapping

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.attribution import rule_of_filter, rule_of_state
from conformance.pathfinder.histories.model import DirectoryModel, ServiceState, is_recent, state_in, state_of
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.session import Selection
from harness.pathfinder.tester.driver import Driver, notification_of
from harness.pathfinder.tester.transactions import Match, Transaction, match_of

KNOWN = ("appeared", "modified", "disappeared")


class SubscriptionWatch:
    """A subscription: what it was told of each service, held against what became of it.

    ``name`` is how it is called in what is printed, ``since`` how many changes of each service came before it;
    ``is_ours`` whether it can match services of this play only.
    """

    def __init__(
        self,
        name: str,
        driver: Driver,
        transaction: Transaction,
        model: DirectoryModel,
        selection: Selection,
        since: Mapping[int, int],
        *,
        is_ours: bool,
    ) -> None:
        self.name = name
        self.driver = driver
        self.transaction = transaction
        self.model = model
        self.selection = selection
        self.is_ours = is_ours
        self.is_new = True
        """Whether it began in this step."""
        self.known: dict[int, ServiceState] = {}
        """What it was told is there, in the state that it was told last."""
        self.met: set[int] = set()
        """The services that it was told of at all."""
        self._matching: dict[int, bool] = {}
        # From the state that was there when it began: what was before that is nobody's to tell.
        self._place = {service: max(0, count - 1) for service, count in since.items()}
        self._read = 0
        self.heard: Counter[str] = Counter()

    # --- what comes ---------------------------------------------------------------------------------------

    def hear(self) -> None:
        """Take what has come since the last call; raises ``Mismatch`` for what cannot be."""
        answers = self.transaction.answers
        while self._read < len(answers):
            self._read += 1
            answer = answers[self._read - 1]
            # How a message is spelled is for monitors to judge.
            if answer.type == "notify":
                match = match_of(answer)
                if match.what in KNOWN and isinstance(match.service_id, int | float):
                    self._take(match)

    def _take(self, match: Match) -> None:
        service = match.service_id
        if service not in self.model.log:
            if self.is_ours:
                raise self._wrong("PF-011", match, "which nobody has published")
            return  # of another tester's
        is_known = service in self.known
        self.heard[match.what] += 1
        if match.what == "appeared" and is_known:
            raise self._wrong("PF-209", match, "which it was told of before, and not that it went")
        if match.what != "appeared" and not is_known:
            rule = "PF-209" if service in self.met else "PF-207"
            raise self._wrong(rule, match, "which it was not told that it had appeared")
        self.met.add(service)
        if match.what == "disappeared":
            self._ends(match)
        else:
            self._lives(match)

    def _ends(self, match: Match) -> None:
        """Take the end of a service: it was gone at some time, or did not match any more."""
        log, place = self.model.log[match.service_id], self._place.get(match.service_id, 0)
        for number in range(place, len(log)):
            now = log[number].now
            if now is None or not self.matches(now):
                self._place[match.service_id] = number
                del self.known[match.service_id]
                return
        raise self._wrong("PF-123", match, "which is there and matches")

    def _lives(self, match: Match) -> None:
        """Take the state of a service: it was in it at some time, and not before the one that was told last."""
        told, service = state_in(match.message), match.service_id
        log, place = self.model.log[service], self._place.get(service, 0)
        record = None
        for number in range(place, len(log)):
            change = log[number]
            # A state is told once for each time that it came about; one on the way may be told before it.
            if change.now is not None and state_of(change.now) == told:
                record, self._place[service] = change.now, number + 1
                break
            on_the_way = [each for each in change.between if state_of(each) == told]
            if on_the_way:
                record, self._place[service] = on_the_way[0], number
                break
        if record is None:
            raise self._untrue(match, told)
        if told.is_orphan and not is_recent(match.message["orphan-since"]):
            raise self._wrong("PF-228", match, f"an orphan since {match.message['orphan-since']!r}")
        if not self.matches(record) and match.what == "appeared":
            raise self._wrong(rule_of_filter(self.selection.filter), match, "which the filter does not match")
        self.known[service], self._matching[service] = told, self.matches(record)

    def _untrue(self, match: Match, told: ServiceState) -> Mismatch:
        """Return what is wrong with a state that the service is not in."""
        log = [each for change in self.model.log[match.service_id] for each in (*change.between, change.now) if each]
        if any(state_of(each) == told for each in log):
            return self._wrong("PF-051", match, "in a state that it was told of before, or that was over by then")
        latest = state_of(log[-1]) if log else None
        rule, what = rule_of_state(told, latest)
        return self._wrong(rule, match, what)

    def _wrong(self, rule: str, match: Match, what: str) -> Mismatch:
        return Mismatch(rule, f"{self.name} is told that {match.service_id} has {match.what}, {what}")

    # --- what must have come ------------------------------------------------------------------------------

    def matches(self, record: ServiceRecord) -> bool:
        """Tell whether the subscription is about a service in some state."""
        return self.model.matches(self.selection, record)

    def missing(self, services: Mapping[int, int]) -> Mismatch | None:
        """Return the first thing that it has yet to be told.

        ``services`` are those that have changed in this step, with how many changes there were before.
        """
        self.hear()
        for service in self.model.log if self.is_new else [each for each in self.model.log if each in services]:
            record = self.model.directory.get(service)
            expected = None if record is None or not self.matches(record) else state_of(record)
            believed = self.known.get(service) if self._matching.get(service) else None
            if expected is not None and believed is None:
                return self._untold(service, services)
            if expected is None and believed is not None:
                return self._unended(service, record)
            if expected is not None and believed is not None and expected.but_generation() != believed.but_generation():
                return self._stale(service, expected, believed)
        return None

    def _untold(self, service: int, services: Mapping[int, int]) -> Mismatch:
        if self.is_new:
            return self._silent("PF-120", service, "it is there, and matches", "appeared")
        log, count = self.model.log[service], services.get(service, 0)
        began = count == 0 or log[count - 1].now is None
        if began:
            return self._silent("PF-121", service, "it is new, and matches", "appeared")
        return self._silent("PF-207", service, "it has begun to match", "appeared")

    def _unended(self, service: int, record: ServiceRecord | None) -> Mismatch:
        if record is None:
            return self._silent("PF-123", service, "it is gone", "disappeared")
        return self._silent("PF-208", service, "it has ceased to match", "disappeared")

    def _stale(self, service: int, expected: ServiceState, believed: ServiceState) -> Mismatch:
        if expected.is_orphan != believed.is_orphan:
            what = "become an orphan" if expected.is_orphan else "ceased to be an orphan"
            return self._silent("PF-050", service, f"it has {what}", "modified")
        names = [
            name
            for name, now, before in zip(expected._fields[1:], expected[1:], believed[1:], strict=True)
            if now != before
        ]
        return self._silent("PF-122", service, f"it has changed ({', '.join(names)})", "modified")

    def _silent(self, rule: str, service: int, why: str, what: str) -> Mismatch:
        said = f"{self.name} is not told that {service} has {what}: {why}"
        return Mismatch(rule, said, thing=notification_of(what))
