"""JSON as a wire format: the strict reading of RFC 8259, and the constructs that declare messages in it."""
