"""Abstract structs: a value of a class that lacks a method which its base asks for cannot be made."""

from abc import ABCMeta

from msgspec import StructMeta


class AbstractStructMeta(StructMeta, ABCMeta):
    """The metaclass of structs with abstract methods; by itself msgspec takes no notice of these."""
