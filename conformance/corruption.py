"""Corrupted bytes: valid messages with a few mistakes in them, for the property cases of every protocol."""

from hypothesis import strategies as st


def corrupted(draw: st.DrawFn, data: bytes, wedge: bytes, most: int) -> bytes:
    """Return bytes with a few mistakes: bits flipped, bytes put in, taken out or repeated, or ``wedge`` put in.

    ``wedge`` comes up to ``most`` times in a row; it is what a reader of this encoding nests
    or counts by, such as an opening bracket.
    """
    result = bytearray(data)
    # Few mistakes: a message with many is refused at the first, and the code behind that is never reached.
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(result) - 1, 0)))
        match draw(st.sampled_from(["flip", "insert", "delete", "repeat", "wedge"])):
            case "flip" if result:
                result[place] ^= 1 << draw(st.integers(0, 7))
            case "insert":
                result.insert(place, draw(st.integers(0, 255)))
            case "delete" if result:
                del result[place]
            case "repeat":
                result += result[place:]
            case _:
                result[place:place] = wedge * draw(st.integers(1, most))
    return bytes(result)
