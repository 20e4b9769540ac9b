"""The roles, as cases name them."""

PUBLISHER = ("publisher",)
SUBSCRIBER = ("subscriber",)
ROUTER_CACHE = ("router-cache",)
"""Which implementations a case is for: the marks that nearly every case has."""

NODE = (*PUBLISHER, *SUBSCRIBER, *ROUTER_CACHE)
"""For cases about what every node does."""

BROKERS = ("memory", "nats", "redis", "websocket")
"""For cases whose rules might be kept over one broker and not over another. The others are played over one alone: their
time is better spent on another stimulus."""
