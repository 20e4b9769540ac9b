"""Filters for cases: texts that are filters, texts that are none, and services to try them on."""

from collections.abc import Iterable, Mapping, Sequence

from conformance.pathfinder.stimuli import granted
from harness.pathfinder.driver import NotAnswered, Service, Session
from harness.pathfinder.transactions import Transaction
from harness.pathfinder.under_test import NodeUnderTest

VALID = (
    "(name=service-a)",
    "(&(name=service-a)(version>11))",
    "(game= a space adventure )",
    "(a=b)",
    "(a=5)",
    "(a=-5)",
    "(a=1.5)",
    "(a=ä)",
    "(ä=日本)",
    "(😀=x)",
    "(a=\t\n)",
    "(a b=c d)",
    "(a-b_c.d/e=x:y,z;@#$%^~`'\"?[]{)",
    "(a>5)",
    "(a<5)",
    "(a>-5)",
    "(a<0)",
    "(a=*)",
    "(a=x*)",
    "(a=*x)",
    "(a=*x*)",
    "(a=x*y)",
    "(a=x*y*z)",
    "(a=*x*y*)",
    "(a=\\*)",
    "(a=\\**)",
    "(a\\=b=c)",
    "(a=\\(x\\))",
    "(a=\\\\)",
    "(!(a=b))",
    "(!(a=*))",
    "(!(!(a=b)))",
    "(&(a=b)(c=d))",
    "(|(a=b)(c=d))",
    "(&(a=b)(c=d)(e>5)(f=x*))",
    "(|(a=b)(a=b))",
    "(!(&(a=b)(c=d)))",
    "(&(!(a=b))(!(c=d)))",
    "(|(!(a=b))(&(c=d)(e=f)))",
    "(&(|(a=b)(!(c=d)))(|(e=*)(!(|(f=x*)(g>5)))))",
    "(!(!(!(!(!(!(!(!(a=b)))))))))",
)
"""Filters in whatever reading."""

NO_FILTERS = (
    "",
    "a=b",
    "(a=b",
    "a=b)",
    "(a=b))",
    "()",
    "(&)",
    "(|)",
    "(!)",
    "(!(a=b)(c=d))",
    "(!a=b)",
    "(&(a=b)c=d)",
    "(&(a=b) (c=d))",
    "(a)",
    "((a=b))",
    "(a=b)(c=d)",
    "(a=x(y)",
    "(a=x)y)",
    "(a=x!y)",
    "(a=x&y)",
    "(a=x|y)",
    "(a=x=y)",
    "(a=x<y)",
    "(a=\\n)",
    "(a=\\)",
    "(a=b\\)",
    "(a=b)\\",
    " (a=b)",
    "(a=b) ",
    "(a=b)\n",
    "(a~b)",
    "(a>=5)",
    "(a<=5)",
    "(a*=b)",
    "(a>5*)",
    "(&(a=b)(c))",
    "(|(a=b)(!))",
)
"""Texts that are filters in no reading."""

MEANINGS = (
    ("(a=x)", "x xy"),
    ("(a=y)", "y xy"),
    ("(a=z)", ""),
    ("(a=*)", "x y xy number"),
    ("(b=*)", "x b"),
    ("(!(a=x))", "y number b none"),
    ("(!(a=*))", "b none"),
    ("(!(!(a=x)))", "x xy"),
    ("(&(a=x)(a=y))", "xy"),
    ("(&(a=x)(b=1))", "x"),
    ("(&(a=x)(!(b=1)))", "xy"),
    ("(|(a=x)(a=y))", "x y xy"),
    ("(|(a=x)(b=*))", "x xy b"),
    ("(|(a=z)(c=*))", ""),
    ("(!(|(a=*)(b=*)))", "none"),
    ("(!(&(a=x)(b=1)))", "y xy number b none"),
    ("(|(&(a=x)(b=1))(&(a=y)(!(a=x))))", "x y"),
    ("(&(|(a=x)(a=y))(|(b=1)(!(b=*))))", "x y xy"),
    ("(name=x)", ""),
    ("(a=a)", ""),
)
"""Filters, and which services of ``MEANT`` they match."""

MEANT: Mapping[str, Mapping[str, Sequence[str | int]]] = {
    "x": {"a": ["x"], "b": ["1"]},
    "y": {"a": ["y"]},
    "xy": {"a": ["x", "y"]},
    "number": {"a": [7]},
    "b": {"b": ["2"]},
    "none": {},
}


def asking(node: NodeUnderTest) -> Session:
    """Return the main connection, or a fresh one once that was ended."""
    return node.session() if node.main.ended else node.main


class Shelf:
    """Services under names that a play has for them, to see which of them a filter matches."""

    def __init__(self, node: NodeUnderTest, properties: Mapping[str, Mapping[str, Sequence[str | int]]]) -> None:
        self.node = node
        self.names: dict[int, str] = {}
        for name, props in properties.items():
            service = node.service()
            self._publish(service.but(props={**service.props, **props}))
            self.names[service.id] = name

    def _publish(self, service: Service) -> None:
        if not granted(self.node.other.publish(service)):
            raise NotAnswered(f"services are not taken, such as {service.props}")

    def ask(self, filter: str) -> Transaction:
        """List what a filter matches."""
        return asking(self.node).services(self.node.narrow(filter))

    def found(self, filter: str) -> set[str]:
        """Return what a filter matches; it is one that must be accepted."""
        listing = self.ask(filter)
        assert granted(listing), f"{filter} is refused"
        return self.named(listing)

    def found_if_taken(self, filter: str) -> set[str] | None:
        """Return what a filter matches; ``None`` when it is refused, as it may be."""
        listing = self.ask(filter)
        assert listing.completed or listing.refused, f"{filter} is neither taken nor refused"
        return self.named(listing) if granted(listing) else None

    def named(self, listing: Transaction) -> set[str]:
        """Return the names of the services in a listing."""
        ids = [fields.get("service-id") for fields in listing.notifications]
        return {self.names[each] for each in ids if each in self.names}

    def check(self, expected: Iterable[tuple[str, str]]) -> None:
        """Compare what filters match with what they should: names with spaces between."""
        for filter, names in expected:
            assert self.found(filter) == set(names.split()), f"{filter} does not match what it says"
