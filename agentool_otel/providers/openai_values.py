"""What chat completions and responses have in common: media, usage.

Values come from users (dicts or the library's objects, of any quality) and from servers that only
resemble OpenAI's: a value of an unexpected type counts as absent.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.policy import jsonable
from agentool_otel.model.messages import Part, text
from agentool_otel.model.operations import Usage
from agentool_otel.providers.fields import get, integer, record, string

__all__ = ["media", "usage_of"]


def usage_of(
    usage: Any, input_name: str, output_name: str, input_details: str, output_details: str
) -> Usage | None:
    """Return token counts as the server reported them; subsets of zero are left out."""
    if usage is None:
        return None
    details, of_output = get(usage, input_details), get(usage, output_details)
    counts = Usage(
        input_tokens=integer(usage, input_name),
        output_tokens=integer(usage, output_name),
        cache_read_tokens=integer(details, "cached_tokens") or None,
        cache_write_tokens=integer(details, "cache_write_tokens") or None,
        reasoning_tokens=integer(of_output, "reasoning_tokens") or None,
        text_input_tokens=integer(details, "text_tokens") or None,
        image_input_tokens=integer(details, "image_tokens") or None,
        audio_input_tokens=integer(details, "audio_tokens") or None,
        text_output_tokens=integer(of_output, "text_tokens") or None,
        image_output_tokens=integer(of_output, "image_tokens") or None,
        audio_output_tokens=integer(of_output, "audio_tokens") or None,
    )
    return None if counts == Usage() else counts


_MEDIA = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "video_url": "video",
    "file": "document",
    "input_file": "document",
}


def media(part: Any) -> Part:
    """Return the part for one piece of a message's content, of either API."""
    kind = string(part, "type") or "text"
    if kind in ("text", "input_text", "output_text", "summary_text", "reasoning_text"):
        return text(string(part, "text") or "")
    if kind == "refusal":
        return text(string(part, "refusal") or "")
    modality = _MEDIA.get(kind)
    holder = get(part, kind)
    if modality is not None:
        fields = part if holder is None or isinstance(holder, str) else holder
        address = holder if isinstance(holder, str) else None
        for key in ("url", "image_url", "file_url", "file_data"):
            address = address or string(fields, key)
        file_id, data = string(fields, "file_id"), string(fields, "data")
        if data is not None:
            encoding = string(fields, "format") or "wav"
            return _blob(data, modality, f"{modality}/{encoding}")
        if address is not None:
            return _from_address(address, modality)
        if file_id is not None:
            return {"type": "file", "file_id": file_id, "modality": modality}
    plain = jsonable(part)
    known = record(plain)
    return {"type": kind, "content": plain} if known is None else {**known, "type": kind}


def _from_address(address: str, modality: str) -> Part:
    if not address.startswith("data:"):
        if "://" not in address:  # `file_data` may be bare base64
            return _blob(address, modality, None)
        return {"type": "uri", "uri": address, "modality": modality}
    head, _, content = address[len("data:") :].partition(",")
    return _blob(content, modality, head.partition(";")[0] or None)


def _blob(content: str, modality: str, mime_type: str | None) -> Part:
    part: Part = {"type": "blob", "content": content, "modality": modality}
    if mime_type is not None:
        part["mime_type"] = mime_type
    return part
