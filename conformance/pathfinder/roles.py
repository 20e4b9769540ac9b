"""Which implementations a case is for: the marks that nearly every case has."""

SERVER = ("server",)
CLIENT = ("client",)

EVERY_LINK = ("tcp", "tcp-stream", "tls", "ux")
"""For cases whose rules might be kept over one link and not over another, as what is below a message differs. The
others are played over TCP alone: their time is better spent on another stimulus."""
