"""Lines that are no documents by themselves, such as those of a pretty-printed one."""

from __future__ import annotations

__all__ = ["LineBlock", "line_numbers"]


class LineBlock(list[bytes]):
    """Lines that together may be a document."""

    __slots__ = ("at", "tried")

    def __init__(self) -> None:
        self.at = 0
        """Offset of the first line in the file, in bytes."""
        self.tried = 0
        """Bytes of the lines that have been tried as a document."""

    def take(self) -> bytes:
        """Return the text of the lines, and drop it."""
        text = b"".join(self)
        self.clear()
        self.tried = 0
        return text

    def where(self, last: int) -> str:
        """Return the numbers of the lines, by that of the last one."""
        return line_numbers(last - len(self) + 1, last)


def line_numbers(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
