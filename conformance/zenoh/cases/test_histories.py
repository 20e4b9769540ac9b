"""Histories: what the sentences of both documents do together, over several sessions and many messages.

Each is generated from a seed (``conformance/zenoh/histories/``) and judged after every move by the reference router's
knowledge of who declared what and who asks for what. ``-k 'test_modes[17]'`` plays the history of another seed.
"""

from conformance.cases import history
from conformance.histories.history import play_abilities, play_history
from conformance.zenoh.histories.client import CLIENT
from conformance.zenoh.histories.router import ROUTER
from harness.zenoh.tester.node_under_test import NodeUnderTest

ROLES = ("router",)


@history("ZI-070", roles=("client",), seeded=False)
def test_client_abilities(node: NodeUnderTest) -> frozenset[str]:
    """Both documents: what a client declares when it is told to, and which interests it answers."""
    return play_abilities(node, CLIENT)


@history("ZI-072", roles=("client",))
def test_client(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-interests: a client is asked in all modes, with all options, while it declares and undeclares."""
    return play_history(node, CLIENT, "client", seed)


@history("ZI-047", roles=("client",))
def test_client_aliases(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Both documents: a client and its router give numbers to keys, use them, take them back and give them anew."""
    return play_history(node, CLIENT, "client_aliases", seed)


@history("ZI-048", roles=("client",))
def test_client_numbers(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Both documents: a client and its router use the same numbers, again, and such as may be taken for each other."""
    return play_history(node, CLIENT, "client_numbers", seed)


@history("ZI-061", roles=("client",))
def test_client_requests(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Both documents: a client asks, ends and names things, is told what its router has, and is asked meanwhile."""
    return play_history(node, CLIENT, "client_requests", seed)


@history("ZI-070", "ZD-091", roles=ROLES, seeded=False)
def test_abilities(node: NodeUnderTest) -> frozenset[str]:
    """Both documents: what a node does at all, thing by thing; what it does not do, the histories leave out."""
    return play_abilities(node, ROUTER)


@history("ZI-001", roles=ROLES)
def test_modes(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-interests, "Interest Modes": interests of all modes overlap, end, and are asked again under any id."""
    return play_history(node, ROUTER, "modes", seed)


@history("ZI-051", roles=ROLES)
def test_options(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-interests, "Options Byte": interests with all options, restricted by keys in all spellings."""
    return play_history(node, ROUTER, "options", seed)


@history("ZD-027", roles=ROLES)
def test_aliases(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-declarations, "D_KEYEXPR" and "U_KEYEXPR": numbers are given, used, released and given again."""
    return play_history(node, ROUTER, "aliases", seed)


@history("ZD-053", roles=ROLES)
def test_entities(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-declarations, "D_SUBSCRIBER" to "U_TOKEN": entities come and go, under ids that are used again."""
    return play_history(node, ROUTER, "entities", seed)


@history("ZD-049", roles=ROLES)
def test_numbers(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Both documents: numbers are used again for something else, and such as a node may take for each other."""
    return play_history(node, ROUTER, "numbers", seed)


@history("ZD-043", roles=ROLES)
def test_data(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-declarations, "D_SUBSCRIBER" and "D_QUERYABLE": data and queries go where they should, and nowhere else."""
    return play_history(node, ROUTER, "data", seed)


@history("ZD-091", roles=ROLES)
def test_propagation(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """zenoh-declarations, "Declaration Propagation": several sessions have the same keys and leave in any order."""
    return play_history(node, ROUTER, "propagation", seed)


@history("ZD-092", roles=ROLES)
def test_unspecified(node: NodeUnderTest, seed: int) -> frozenset[str]:
    """Both documents: guests send what a node may understand in several ways, or refuse; nobody else is harmed."""
    return play_history(node, ROUTER, "unspecified", seed)
