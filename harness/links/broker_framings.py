"""The framings of recordings of what is said with brokers; live, a client of the broker cuts its frames itself."""

from harness.links.framing import Framings
from harness.links.nats_stream import NatsStream
from harness.links.resp_stream import RespStream

BROKER_FRAMINGS: Framings = {"nats": NatsStream(), "redis": RespStream(), "websocket": RespStream()}
"""By transport; a protocol whose nodes meet at brokers has these among its framings."""
