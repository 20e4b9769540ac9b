"""The frames of a flow, held until it ends: in columns, and then in the order in which they were said."""

from collections.abc import Collection, Iterator
from itertools import islice, pairwise, repeat


class HeldFrames:
    """Frames, each with the packet with which it came, its time in nanoseconds, a mark, and its bytes.

    Columns: millions of tuples would keep the garbage collector busy.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.times: list[int] = []
        self.marks: list[int] = []
        self.data: list[bytes] = []

    def add(self, mark: int, number: int, time: int, data: bytes) -> None:
        """Hold a frame."""
        self.numbers.append(number)
        self.times.append(time)
        self.marks.append(mark)
        self.data.append(data)

    def add_all(self, mark: int, number: int, time: int, data: Collection[bytes]) -> None:
        """Hold frames that came with one packet: this is called for each packet of a capture."""
        count = len(data)
        self.numbers.extend(repeat(number, count))
        self.times.extend(repeat(time, count))
        self.marks.extend(repeat(mark, count))
        self.data.extend(data)

    def first(self, count: int) -> Iterator[tuple[int, bytes]]:
        """Yield the marks and the bytes of the first frames."""
        return islice(zip(self.marks, self.data, strict=True), count)

    def latest(self, otherwise: int) -> int:
        """Return the latest time; ``otherwise`` where there are no frames."""
        return max(self.times, default=otherwise)

    def in_order(self) -> list[int]:
        """Return the places of all frames in the order in which they were said.

        Reassembly delivers each side's frames late and in runs; packet numbers bring both sides into one order.
        """
        return sorted(range(len(self.numbers)), key=self.numbers.__getitem__)

    def in_order_of_time(self) -> tuple[list[int], int]:
        """Return the same of datagrams, whose order time stamps give, and how many came in another one."""
        order = sorted(range(len(self.numbers)), key=lambda place: (self.times[place], self.numbers[place]))
        return order, sum(self.numbers[one] > self.numbers[other] for one, other in pairwise(order))
