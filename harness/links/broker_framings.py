"""The framings of recordings of what is said with brokers; live, a client of the broker cuts its frames itself."""

from harness.links.framing import Framings
from harness.links.nats_stream import NatsStream
from harness.links.resp_stream import RespStream
from harness.links.websocket_stream import WebSocketStream

# Redis first: the first stands for what goes over a bus in memory, and this one carries subjects of any letters.
BROKER_FRAMINGS: Framings = {"redis": RespStream(), "nats": NatsStream(), "websocket": WebSocketStream()}
"""By transport; a protocol whose nodes meet at brokers has these among its framings."""
