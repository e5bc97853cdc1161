"""Texts, images, sounds and files in the content of a message.

OpenAI's two APIs, Anthropic's, LangChain and Vercel's AI SDK have the same few members in different
places. Values come from users (dicts or a library's objects, of any quality) and from servers that
only resemble a provider's: a value of an unexpected type counts as absent.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.values import jsonable
from agentool_otel.model.messages import Part, text
from agentool_otel.providers.fields import get, is_a, plain_text, record, string

__all__ = ["media"]

_TEXTS = ("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal")
_MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "document": "document",
    "file": "document",
    "input_file": "document",
}
_ADDRESSES = ("url", "image_url", "file_url", "file_data")
_CONTENTS = ("data", "base64")
_TYPES = ("mime_type", "media_type", "mediaType", "mimeType")

_READ = frozenset({*_ADDRESSES, *_CONTENTS, *_TYPES, "file_id", "id", "format", "source_type"})


def media(part: Any) -> Part:
    """Return the part for one piece of a message's content; one of an unknown type as it is."""
    kind = string(part, "type") or "text"
    if kind in _TEXTS:
        words = _first(part, "refusal" if kind == "refusal" else "text")
        words = string(get(part, "text"), "value") if words is None else words  # of assistants
        if words is not None:
            return text(words)
    elif kind in _MEDIA and (medium := _medium(part, kind)) is not None:
        return _other_fields(part, kind) | medium
    plain = jsonable(part)
    members = record(plain)
    return {"type": kind, "content": plain} if members is None else {**members, "type": kind}


def _medium(part: Any, kind: str) -> Part | None:
    holder = next(
        (value for name in (kind, "source") if (value := get(part, name)) is not None), part
    )
    words = plain_text(holder)
    fields = holder if words is None else part
    address = _first(fields, *_ADDRESSES) if words is None else words
    data, mime_type = _first(fields, *_CONTENTS), _first(fields, *_TYPES)
    modality = _MEDIA[kind]
    if kind == "file" and mime_type is not None and mime_type.partition("/")[0] in _MEDIA:
        modality = mime_type.partition("/")[0]
    if data is not None and not _is_address(data) and not data.startswith("data:"):
        if mime_type is None and kind == "input_audio":
            mime_type = f"audio/{string(fields, 'format') or 'wav'}"
        return _blob(data, modality, mime_type)
    if (address or data) is not None:
        return _from_address(address or data or "", modality, mime_type)
    file_id = _first(fields, "file_id", "id")
    if file_id is None:
        return None
    return _with_modality({"type": "file", "file_id": file_id, "modality": modality}, mime_type)


def _other_fields(part: Any, kind: str) -> Part:
    """Return further fields of a medium: its name, and the detail that a model is to see."""
    names = {"type", kind, "source", *_READ}
    fields = _members_without(part, names)
    for name in (kind, "source"):
        fields |= _members_without(get(part, name), names)
    return {name: field for name, field in fields.items() if field is not None}


def _members_without(holder: Any, names: set[str]) -> Part:
    """Return the members of an object as JSON, without some: those may be megabytes of base64."""
    if holder is None or plain_text(holder) is not None:
        return {}
    if is_a(holder, dict):
        pairs = dict.items(holder)
        holder = {key: value for key, value in pairs if plain_text(key) not in names}
    members = record(jsonable(holder)) or {}
    return {name: member for name, member in members.items() if name not in names}


def _first(fields: Any, *names: str) -> str | None:
    return next((item for name in names if (item := string(fields, name)) is not None), None)


def _from_address(address: str, modality: str, mime_type: str | None) -> Part:
    if not address.startswith("data:"):
        if not _is_address(address):  # `file_data` may be bare base64
            return _blob(address, modality, mime_type)
        return _with_modality({"type": "uri", "uri": address, "modality": modality}, mime_type)
    comma = address.find(",")
    end = len(address) if comma < 0 else comma
    head = address[len("data:") : end]
    return _blob(address[end + 1 :], modality, head.partition(";")[0] or mime_type)


def _is_address(text: str) -> bool:
    return ":" in text and "://" in text  # one character is found faster in megabytes


def _blob(content: str, modality: str, mime_type: str | None) -> Part:
    return _with_modality({"type": "blob", "content": content, "modality": modality}, mime_type)


def _with_modality(part: Part, mime_type: str | None) -> Part:
    return part if mime_type is None else part | {"mime_type": mime_type}
