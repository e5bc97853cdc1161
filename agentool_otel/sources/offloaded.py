"""Texts that were stored apart from their span because they were too large for an attribute.

`emit.fitting` leaves the place and the sha256 on the span. A text that is gone, or has changed,
stays shortened as it is on the span, and the fidelity report notes it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import stat
from pathlib import Path
from typing import Any

from agentool_otel.ground import environment
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.semconv import agentool

__all__ = ["rehydrated"]


def rehydrated(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes with their offloaded texts in place; the same object if there are none.

    A text is looked up at the place noted on the span, then in `AGENTOOL_OFFLOAD`, where a copy may
    be. A URL is read only below the one that `AGENTOOL_OFFLOAD` names.
    """
    encoded = attributes.get(agentool.CONTENT_SHORTENED)
    if not isinstance(encoded, str):
        return attributes
    try:
        notes = loads(encoded)
    except ValueError:
        return attributes
    if not isinstance(notes, dict):
        return attributes
    texts = {
        name: text
        for name, note in notes.items()
        if isinstance(note, dict) and (text := _text(note)) is not None
    }
    if not texts:
        return attributes
    whole = {**attributes, **texts}
    missing = {name: note for name, note in notes.items() if name not in texts}
    if missing:
        whole[agentool.CONTENT_SHORTENED] = dumps(missing)
    else:
        del whole[agentool.CONTENT_SHORTENED]
    return whole


def _text(note: dict[str, Any]) -> str | None:
    place, digest, size = note.get("stored"), note.get("sha256"), note.get("bytes")
    if not (isinstance(place, str) and isinstance(digest, str) and isinstance(size, int)):
        return None
    ours = environment.value(environment.OFFLOAD).rstrip("/")
    for where in (place, f"{ours}/{Path(place).name}" if ours else ""):
        data = None
        if "://" not in where:
            data = _of_file(where, size)
        elif ours and where.startswith(f"{ours}/"):  # a span file must not make us call anywhere
            data = _of_url(where)
        if data is not None and hashlib.sha256(data).hexdigest() == digest:
            return data.decode("utf-8", "replace")
    return None


def _of_file(where: str, size: int) -> bytes | None:
    try:
        status = os.stat(where)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            return None
        return Path(where).read_bytes()
    except (OSError, ValueError):
        return None


def _of_url(where: str) -> bytes | None:
    try:
        fsspec: Any = importlib.import_module("fsspec")
        with fsspec.open(where, "rb") as source:
            data: bytes = source.read()
            return data
    except Exception:  # no fsspec, no rights, no such object: a file system raises what it likes
        return None
