"""Zenoh: interests and declarations, and the transport that carries them."""

from wire.zenoh.annotations import annotate
from wire.zenoh.grammar_network import network_message
from wire.zenoh.grammar_transport import batch, transport_message

LAYOUTS = {
    "network-message": network_message,
    "transport-message": transport_message,
    "batch": batch,
}

ANNOTATE = annotate
"""What a dump says about the fields of these layouts: remarks by the index of the span."""
