"""Rai: cache-backed publish and subscribe over brokers, in messages of relaxed JSON."""

from wire.envelope import envelope

LAYOUTS = {"envelope": envelope}
