"""Numbers of variable length, as protobuf writes them: seven bits a byte, the lowest first.

Spec: protobuf.dev/programming-guides/encoding, "Base 128 Varints".
"""

from __future__ import annotations

from typing import BinaryIO

__all__ = ["LONGEST", "from_bytes", "from_stream", "to_bytes"]

LONGEST = 10
"""Bytes that a number of 64 bits takes at most."""


def to_bytes(number: int) -> bytes:
    """Return a number, which must not be negative, as a varint."""
    if number >> 56 and not number >> 63:  # nine bytes, as times have
        return bytes(
            (
                number & 0x7F | 0x80,
                number >> 7 & 0x7F | 0x80,
                number >> 14 & 0x7F | 0x80,
                number >> 21 & 0x7F | 0x80,
                number >> 28 & 0x7F | 0x80,
                number >> 35 & 0x7F | 0x80,
                number >> 42 & 0x7F | 0x80,
                number >> 49 & 0x7F | 0x80,
                number >> 56,
            )
        )
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def from_bytes(data: bytes, at: int = 0) -> tuple[int, int]:
    """Return the number that begins at a position, and where it ends.

    Raises:
        ValueError: no number ends within the next ten bytes, or within the data.
    """
    try:
        byte = data[at]
        at += 1
        if byte < 0x80:  # as most lengths and tags
            return byte, at
        value, shift = byte & 0x7F, 7
        while shift < 7 * LONGEST:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7
    except IndexError:
        pass
    raise ValueError(f"no number ends at byte {at}")


def from_stream(stream: BinaryIO, longest: int = LONGEST) -> int | None:
    """Return the next number of a stream; None if none ends within `longest` bytes."""
    value = 0
    for shift in range(0, 7 * longest, 7):
        byte = stream.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    return None
