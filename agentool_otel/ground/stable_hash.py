"""Hashes that are equal in every process, unlike `hash`."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

__all__ = ["stable_hash"]

_encode = msgspec.msgpack.Encoder().encode


def stable_hash(*parts: object) -> int:
    """Return a hash of JSON values: a signed integer of 64 bits."""
    try:
        data = _encode(parts)
    except (TypeError, ValueError, OverflowError):  # lone surrogates, 65-bit integers
        data = repr(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
