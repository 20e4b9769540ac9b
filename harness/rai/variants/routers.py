"""Router-caches of which one half is another: how their variants are made."""

from harness.rai.peers.router_cache import RouterCache
from harness.rai.peers.router_halves import Back, Front


def router_cache(half: type[Front] | type[Back]) -> type[RouterCache]:
    """Return the router-cache that has such a half; it is called as the half is, behind ``Router``.

    Publishers and subscribers have variants of the same names.
    """
    place = "front_half" if issubclass(half, Front) else "back_half"
    name = f"Router{half.__name__}"
    return type(name, (RouterCache,), {place: half, "__module__": half.__module__, "__doc__": half.__doc__})
