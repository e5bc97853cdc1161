"""Base64 as JSON documents have it: bytes of an attribute in either alphabet, and ids.

Spec: protobuf.dev/programming-guides/json, "bytes": "Either standard or URL-safe base64 encoding
with/without paddings are accepted."
"""

from __future__ import annotations

import base64

__all__ = ["decoded", "id_bytes"]


def decoded(text: str) -> bytes:
    """Decode either alphabet, padded or not.

    Raises:
        ValueError: the text is not base64.
    """
    text = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def id_bytes(text: str, size: int) -> bytes | None:
    """Return the `size` bytes of an id in base64; None if the text is not exactly their encoding.

    Any text of a suitable length can be decoded, and its last bits fall away: `step-no-001` and
    `step-no-002` have the same bytes. So the text has to be what an encoder writes for the bytes.
    """
    try:
        raw = decoded(text)
    except ValueError:
        return None
    if len(raw) != size:
        return None
    return raw if text in _spellings(raw) else None


def _spellings(raw: bytes) -> tuple[str, ...]:
    padded = (base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode())
    return (*padded, *(text.rstrip("=") for text in padded))
