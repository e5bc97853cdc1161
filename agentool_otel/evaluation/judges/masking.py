"""Mask credentials in the values of a trace before a judge is shown them."""

from __future__ import annotations

from typing import Any

from agentool_otel.content.masking.credentials import mask_any, mask_value
from agentool_otel.ground import json_codec

__all__ = ["mask_credentials"]


def mask_credentials(value: Any) -> Any:
    """Return a JSON value without credentials. The value itself stays as it is.

    Raises:
        TypeError: if the value is no JSON.
        ValueError: if it is nested more deeply than the interpreter's stack allows.
    """
    if isinstance(value, str):
        return mask_any(value)
    if not isinstance(value, (dict, list)):
        return value
    clean, changed = mask_value(json_codec.loads(json_codec.dumps(value)))
    return clean if changed else value
