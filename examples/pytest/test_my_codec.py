"""The golden vectors in your own pytest: put your codec in the place of ``decode``."""

from typing import Any

import pytest

import goldwire

LAYOUT = "pathfinder/filter"


class Refused(Exception):
    """A frame that the codec does not take."""


def decode(data: bytes) -> Any:
    """Decode a frame, or raise ``Refused`` for one that is none."""
    try:
        return goldwire.decode(LAYOUT, data)
    except goldwire.DecodeError as error:
        raise Refused(str(error)) from error


@pytest.mark.parametrize("vector", goldwire.vectors(LAYOUT), ids=lambda vector: vector.id)
def test_a_vector_is_decoded_or_refused(vector: goldwire.Vector) -> None:
    match vector.result:
        case "valid":
            assert decode(vector.data) == vector.value
        case "invalid":
            with pytest.raises(Refused):
                decode(vector.data)
        case _:
            pass  # both are accepted: its flags say what becomes of it
