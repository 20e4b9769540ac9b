"""A server that can be made to take filters for something else than they are."""

from msgspec.structs import replace

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, RequestRefused
from harness.pathfinder.peers.matching_index import ANYTHING
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection
from wire.pathfinder.filters import And, Composite, Filter, FilterError, Item, Not, operands, parse, walk
from wire.pathfinder.matching import Predicate, Props, compiled
from wire.pathfinder.values import Message


class Evaluating(Server):
    """Evaluates filters part by part, so that each part may be taken for something else than it is."""

    def test(self, item: Item, props: Props) -> bool:
        """Tell whether an item matches."""
        return compiled(item)(props)

    def combine(self, part: Composite, below: list[bool], props: Props) -> bool:
        """Tell whether a composite filter matches, given whether those below it do."""
        if isinstance(part, Not):
            return not below[0]
        return all(below) if isinstance(part, And) else any(below)

    def predicate(self, tree: Filter) -> Predicate:
        """Return the predicate of a filter."""
        # Operands before what they are operands of.
        parts = list(walk(tree))[::-1]

        def matches(props: Props) -> bool:
            done: list[bool] = []
            for part in parts:
                if isinstance(part, Composite):
                    below = [done.pop() for _ in operands(part)]
                    done.append(self.combine(part, below, props))
                else:
                    done.append(self.test(part, props))
            return done.pop()

        return matches

    def selection(self, request: Message) -> Selection:
        selection = super().selection(request)
        if selection.filter is None:
            return selection
        # All services are looked at: the index knows nothing of what the parts are taken for.
        return replace(selection, predicate=self.predicate(self.parse(selection.filter)), anchors=(ANYTHING,))


class LiteralFilters(Evaluating):
    """Takes the grammar by its letter, in every profile."""

    def parse(self, text: str) -> Filter:
        try:
            return parse(text)
        except FilterError as error:
            raise RequestRefused(INVALID_FILTER_SYNTAX) from error


class Choosy(Server):
    """Refuses some filters that it should take."""

    def is_refused(self, part: Composite | Item) -> bool:
        """Tell whether a filter is refused for one of its parts."""
        return False

    def parse(self, text: str) -> Filter:
        tree = super().parse(text)
        if any(map(self.is_refused, walk(tree))):
            raise RequestRefused(INVALID_FILTER_SYNTAX)
        return tree
