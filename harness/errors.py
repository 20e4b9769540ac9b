"""What can go wrong between the tester and an implementation, as types.

::

    HarnessError
    ├── LinkError                a link could not do what was asked
    │   ├── Deadline             nothing arrived in time
    │   ├── LinkClosed           the link has ended (how: "fin", "reset", "oversized" or "closed")
    │   ├── Oversized            a frame is longer than its framing allows
    │   └── Unreachable          no link could be made at all
    ├── StartFailed              an implementation did not start (exit status 3)
    │   ├── Unkept               nothing can be written where what is rebuilt seldom is kept
    │   └── NeverDialled         one that dials never came
    ├── NotAnswered              an implementation did not do what every play rests on
    ├── NotOffered               its description says that an implementation does not do such a thing
    ├── NotInstalled             what is asked for needs a package that is not there
    ├── ControlFailed            an implementation did not do what a control line asked
    │   ├── Unsupported          because it cannot do such a thing at all
    │   ├── ControlUnanswered    because it does not answer control lines any more
    │   └── NotYet               because it cannot do it before something has come that is under way
    └── BadDescription           an implementation's description is wrong (exit status 2)
"""


class HarnessError(Exception):
    """Base of everything that the harness raises."""


class LinkError(HarnessError):
    """A link could not do what was asked."""


class Deadline(LinkError):
    """Nothing arrived before the deadline."""


class LinkClosed(LinkError):
    """The link has ended.

    ``how`` is ``fin`` or ``reset`` (by the other side), ``oversized`` (it sent a frame that is too long) or
    ``closed`` (by ourselves).
    """

    def __init__(self, how: str, message: str = "") -> None:
        super().__init__(message or f"the link was closed ({how})")
        self.how = how


class Oversized(LinkError):
    """A frame is longer than its framing allows; ``frames`` are those that came whole before it."""

    def __init__(self, message: str, frames: list[bytes]) -> None:
        super().__init__(message)
        self.frames = frames


class Unreachable(LinkError):
    """No link could be made: nobody listens, or nobody dialled in time."""


class StartFailed(HarnessError):
    """An implementation under test did not start; the message holds the last lines it printed."""


class Unkept(StartFailed):
    """Nothing can be written to a folder of the user's; the message names the setting that says where else."""


class NeverDialled(StartFailed):
    """A role that dials has not done so once since it was first started: what it is asked cannot be judged."""


class NotAnswered(HarnessError):
    """An implementation did not do what a play rests on: a handshake, or the answer to a barrier or a verb."""


class NotOffered(HarnessError):
    """What a play rests on is nothing that an implementation offers; so says its description, and nobody asks it."""


class NotInstalled(HarnessError):
    """What is asked for needs a package that is not installed; the message says which, and how to get it."""


class ControlFailed(HarnessError):
    """An implementation refused a control line, or did not answer it in time."""


class Unsupported(ControlFailed):
    """An implementation does not know the verb of a control line, or the kind of thing it names."""


class ControlUnanswered(ControlFailed):
    """An implementation did not answer a control line in time."""


class NotYet(ControlFailed):
    """A control line has to wait: what it needs is under way, such as the end of a handshake. To be tried again."""


class BadDescription(HarnessError):
    """An implementation's name, address or TOML file is wrong; the message names what and where."""
