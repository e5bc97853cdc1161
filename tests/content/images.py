"""Media of no particular content, for tests."""

from __future__ import annotations

import base64
import random

__all__ = ["PNG", "b64", "data_url", "image", "noise"]

PNG = b"\x89PNG\r\n\x1a\n"


def noise(size: int, seed: int = 0) -> bytes:
    """Return random bytes, the same in every run."""
    return random.Random(seed).randbytes(size)


def image(size: int = 30_000, seed: int = 0) -> bytes:
    """Return bytes that begin as a PNG does."""
    return PNG + noise(size - len(PNG), seed)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def data_url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{b64(data)}"
