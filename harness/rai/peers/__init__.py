"""The reference peers: publisher, subscriber and router-cache, as machines without sockets."""
