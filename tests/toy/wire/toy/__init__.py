"""Toy: a store of small values under names."""

from wire.toy.grammar import message

# What a layout is called is the protocol's name and one of these: toy/message. The command line, vectors and reports
# know it by that.
LAYOUTS = {"message": message}
