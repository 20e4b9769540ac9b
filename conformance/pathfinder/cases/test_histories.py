"""Histories: what the sentences of the document do together, over several clients or servers and many transactions.

Each is drawn from a seed (``conformance/pathfinder/histories/``) and judged after every move: that of a server by the
reference server's knowledge of what is published and who watches what, that of a client by what its servers have told
it. ``-k 'test_owners[17]'`` plays the history of another seed.
"""

from conformance.cases import history
from conformance.histories.history import play_abilities, play_history
from conformance.pathfinder.histories.client import CLIENT_HISTORIES
from conformance.pathfinder.histories.server import SERVER_HISTORIES
from conformance.pathfinder.roles import CLIENT, SERVER
from harness.pathfinder.tester.node_under_test import NodeUnderTest


@history("PF-157", "PF-121", roles=SERVER, seeded=False)
def test_abilities(node: NodeUnderTest) -> frozenset[str]:
    """The whole document: what a server does at all, thing by thing; what it does not do is not told again."""
    return play_abilities(node, SERVER_HISTORIES)


@history("PF-158", roles=SERVER)
def test_services(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Publish Command" to "Services Command": services come, change, go and are listed, under ids that come again."""
    return play_history(node, SERVER_HISTORIES, "services", seed)


@history("PF-121", roles=SERVER)
def test_subscriptions(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Subscribe Command": several subscriptions overlap, end, and are asked for again."""
    return play_history(node, SERVER_HISTORIES, "subscriptions", seed)


@history("PF-076", roles=SERVER)
def test_filters(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Filter Representation": services begin and cease to match filters of all sorts."""
    return play_history(node, SERVER_HISTORIES, "filters", seed)


@history("PF-023", roles=SERVER)
def test_owners(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Owner": several clients own the same services, lose them to each other, and leave."""
    return play_history(node, SERVER_HISTORIES, "owners", seed)


@history("PF-049", roles=SERVER)
def test_lifetime(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Service Lifetime": clients leave and come back, and their services with short and long TTLs do so, or not."""
    return play_history(node, SERVER_HISTORIES, "lifetime", seed)


@history("PF-087", roles=SERVER)
def test_transactions(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Transactions": many at once, from several clients, under identifiers that come again."""
    return play_history(node, SERVER_HISTORIES, "transactions", seed)


@history("PF-092", roles=SERVER)
def test_repetitions(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """The whole document: the same few services, subscriptions and transaction identifiers come, go and come again."""
    return play_history(node, SERVER_HISTORIES, "repetitions", seed)


@history("PF-215", roles=SERVER)
def test_unspecified(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """The whole document: guests send what it forbids or leaves open; nobody else is harmed."""
    return play_history(node, SERVER_HISTORIES, "unspecified", seed)


@history("PF-042", "PF-046", roles=CLIENT, seeded=False)
def test_client_abilities(node: NodeUnderTest) -> frozenset[str]:
    """The whole document: what a client does at all, thing by thing; what it does not do is not told again."""
    return play_abilities(node, CLIENT_HISTORIES)


@history("PF-044", roles=CLIENT)
def test_domains(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Multiple Server Domains": a client hears of the same services from servers that disagree, vanish and return."""
    return play_history(node, CLIENT_HISTORIES, "domains", seed)


@history("PF-046", roles=CLIENT)
def test_answers(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Transactions" to "Unpublish Command": servers answer late and in any order, or vanish before that."""
    return play_history(node, CLIENT_HISTORIES, "answers", seed)


@history("PF-223", roles=CLIENT)
def test_refusals(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """ "Common Reason Codes" and "Hello Fail Reason Codes": servers refuse what is asked, with and without a reason."""
    return play_history(node, CLIENT_HISTORIES, "refusals", seed)


@history("PF-221", roles=CLIENT)
def test_offences(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """The whole document: a server says what none may say; what others say counts as before."""
    return play_history(node, CLIENT_HISTORIES, "offences", seed)
