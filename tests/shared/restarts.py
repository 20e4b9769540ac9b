"""A stream of values between real processes over real brokers, any of which may be killed and started again.

The test is the source of the values, and the application that subscribes to them; both go on whatever is killed.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from harness.errors import ControlFailed
from harness.iuts.process import Process
from harness.links.listener import Listener

SCALE = 20
"""Seconds of the protocol in one of the clock: a heartbeat is due every half second, and who misses three is gone."""

SUBJECTS = tuple(f"LAB.s{number}" for number in range(4))

READY = 60.0
"""Seconds for a process to be ready: loading Python takes one, and machines are busy."""

BOUND = 20.0
"""Seconds in which all must be well again, or be known not to be: what heartbeats say takes two."""

SHARE = 0.25
"""Share of the absences that are so long that values have to be marked."""

LULL = 0.1
"""Seconds at most from a killing to the start that follows, where it is not so long that everybody takes note."""


class Node:
    """A process of our own peer, in some role, which can be killed and started again."""

    def __init__(self, role: str, *addresses: str, fault: str = "") -> None:
        self.command = [sys.executable, "-m", "goldwire", "peer", "rai", "--role", role, "--time-scale", str(SCALE)]
        if fault:
            self.command += ["--fault", fault]
        for each in addresses:
            self.command += ["--connect", each]
        self.started: list[int] = []
        self.start()

    def start(self) -> None:
        self.process = Process(self.command, os.environ, control=True)
        self.started.append(self.process.pid)
        assert self.process.wait_ready(READY), self.process.output_tail()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.stop()

    def tell(self, verb: str, *arguments: str) -> None:
        assert self.process.control is not None
        self.process.control.request(verb, *arguments, timeout=BOUND)


class Told:
    """What the application was told, and what must hold of it: see ``take``."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[str, int]] = {}
        """Status and number that each subject had last."""
        self._sound: dict[str, int] = {}
        """The last number that was told as sound, of subjects that were not marked since."""
        self._read = 0

    def begin(self) -> None:
        """Forget everything: the application is a new one."""
        self.__init__()  # type: ignore[misc]

    def take(self, events: list[str], newest: int) -> None:
        """Look at what is new: each sound value is one that the source had, and none goes back without a mark."""
        for event in events[self._read :]:
            what, subject, *rest = event.split(" ", 3)
            if what == "value" and rest[0] == "ok":
                number = json.loads(rest[1])["N"]
                assert 0 < number <= newest, f"{subject} never had {number}"
                assert number >= self._sound.get(subject, 0), f"{subject} goes back to {number}, and was not marked"
                self._sound[subject] = number
                self.last[subject] = "ok", number
            elif what in ("value", "status", "drop"):
                self._sound.pop(subject, None)
                self.last[subject] = rest[0], 0
        self._read = len(events)


class Restarts:
    """Publisher and subscriber, at one broker or at two with a router-cache between them.

    ``figures`` has, for each restart, the seconds until all was well, and for long absences those until it was known.
    ``faults`` are those that nodes have, by role; ``bound`` is how many seconds anything may take.
    """

    def __init__(
        self, brokers: list[Listener], seed: str, *, faults: Mapping[str, str] | None = None, bound: float = BOUND
    ) -> None:
        self.brokers = brokers
        self.bound = bound
        self.random = random.Random(seed)
        self.number = 0
        self.told = Told()
        self.figures: dict[str, list[float]] = {"well": [], "known": []}
        addresses = [each.address for each in brokers]
        at = {"publisher": addresses[:1], "subscriber": addresses[-1:], "router-cache": addresses}
        if len(brokers) == 1:
            del at["router-cache"]
        self.nodes = {role: Node(role, *its, fault=(faults or {}).get(role, "")) for role, its in at.items()}
        self.publisher, self.subscriber = self.nodes["publisher"], self.nodes["subscriber"]
        self.supply()
        self.subscribe()
        self.wait(self.is_well, "the first values do not come")

    # --- source and application ---------------------------------------------------------------------------

    def supply(self) -> None:
        """Have the source tell all it has."""
        self.number += 1
        with suppress(ControlFailed, OSError):  # the publisher is not there
            for subject in SUBJECTS:
                self.publisher.tell("set", subject, f'{{"N":{self.number}}}')

    def subscribe(self) -> None:
        for subject in SUBJECTS:
            self.subscriber.tell("subscribe", subject)

    def look(self) -> None:
        self.told.take(self.subscriber.process.events(), self.number)

    def is_well(self) -> bool:
        """Tell whether the application has all that is newest."""
        self.look()
        return all(self.told.last.get(subject) == ("ok", self.number) for subject in SUBJECTS)

    def is_known(self) -> bool:
        """Tell whether the application knows of no value that it can rely on it."""
        self.look()
        return all(self.told.last[subject][0] != "ok" for subject in SUBJECTS)

    def wait(self, done: Callable[[], bool], wrong: str) -> float:
        began = time.monotonic()
        pause = threading.Event()
        while not done():
            assert time.monotonic() < began + self.bound, f"{wrong}: {self.number}, and told was {self.told.last}"
            pause.wait(0.01)
        return time.monotonic() - began

    # --- what happens -------------------------------------------------------------------------------------

    def disturb(self, victim: str, *, is_long: bool | None = None) -> None:
        """Kill something at a random moment of a stream, start it again, and see that all is well in the end.

        Everybody takes note of one absence in four, or of this one, if it ``is_long``.
        """
        self._stream_until_killed(victim)
        if is_long is None:
            is_long = self.random.random() < SHARE
        if is_long and victim != "subscriber":
            self.figures["known"].append(self.wait(self.is_known, f"the {victim} is gone, and values are not marked"))
        elif victim != "subscriber":
            self.supply()
            threading.Event().wait(self.random.uniform(0, LULL))
        self._start(victim)
        self.figures["well"].append(self.wait(self.is_well, f"the newest does not come when the {victim} is back"))
        for _ in range(2):
            self.supply()
            self.wait(self.is_well, f"a subscription is lost since the {victim} was killed")

    def _stream_until_killed(self, victim: str) -> None:
        killing = threading.Timer(self.random.uniform(0, 0.1), self._kill, [victim])
        killing.start()
        while killing.is_alive():
            self.supply()
            if victim != "subscriber":
                self.look()
        killing.join()

    def _kill(self, victim: str) -> None:
        if victim in self.nodes:
            self.nodes[victim].kill()
        else:
            self._broker(victim).shut()

    def _start(self, victim: str) -> None:
        if victim not in self.nodes:
            self._broker(victim).open()
            return
        self.nodes[victim].start()
        if victim == "publisher":
            self.supply()
        elif victim == "subscriber":
            self.told.begin()
            self.subscribe()

    def _broker(self, victim: str) -> Listener:
        return self.brokers[0 if victim == "source's broker" else -1]

    def close(self) -> None:
        """Kill everything, and see that nothing is left."""
        for node in self.nodes.values():
            node.kill()
        left = [pid for node in self.nodes.values() for pid in node.started if Path(f"/proc/{pid}").exists()]
        assert not left, f"processes are left: {left}"
