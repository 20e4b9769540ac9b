"""Bytes that were spoilt on their way, for the property cases of every protocol."""

from hypothesis import strategies as st


def garbled(draw: st.DrawFn, data: bytes, wedge: bytes, most: int) -> bytes:
    """Return bytes with bits flipped, bytes put in, taken out, or repeated, or up to ``most`` wedges driven in."""
    spoilt = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(spoilt) - 1, 0)))
        match draw(st.sampled_from(["flip", "insert", "delete", "repeat", "wedge"])):
            case "flip" if spoilt:
                spoilt[place] ^= 1 << draw(st.integers(0, 7))
            case "insert":
                spoilt.insert(place, draw(st.integers(0, 255)))
            case "delete" if spoilt:
                del spoilt[place]
            case "repeat":
                spoilt += spoilt[place:]
            case _:
                spoilt[place:place] = wedge * draw(st.integers(1, most))
    return bytes(spoilt)
