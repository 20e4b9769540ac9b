"""The roles, as cases name them."""

PUBLISHER = ("publisher",)
SUBSCRIBER = ("subscriber",)
ROUTER_CACHE = ("router-cache",)
"""Which implementations a case is for: the marks that nearly every case has."""

NODE = (*PUBLISHER, *SUBSCRIBER)
"""For cases about what every node does, which need not act for them. A router-cache is none of these alone: it does the
same on two brokers, and has cases of its own."""

BROKERS = ("memory", "nats", "redis", "websocket")
"""For cases whose rules might be kept over one broker and not over another. The others are played over one alone: their
time is better spent on another stimulus."""
