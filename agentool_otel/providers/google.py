"""Google's generateContent: contents of a request, and answers, whole or in chunks.

The names are those of the REST API (`functionCall`) or of the Python SDK (`function_call`). A chunk
of a stream has the shape of a whole answer.

Source: ai.google.dev/api/generate-content (v1beta); python-genai google/genai/types.py at 1.24,
models.py at 3.6.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from agentool_otel.content.media.recognition import LEAST_BYTES
from agentool_otel.content.values import as_text, jsonable
from agentool_otel.model.messages import (
    Message,
    Part,
    message,
    reasoning,
    reasons_of,
    text,
    tool_response,
)
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers.calls import call_part
from agentool_otel.providers.fields import (
    get,
    integer,
    items,
    number,
    plain_text,
    record,
    string,
    texts,
)
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.roles import role_of
from agentool_otel.providers.tools import definitions
from agentool_otel.semconv import gen_ai

__all__ = [
    "GenerateContentReading",
    "content",
    "is_answer",
    "is_part",
    "join_texts",
    "message_of",
    "parts_of",
    "request",
    "usage_of",
]

_MEMBERS = ("functionCall", "functionResponse", "inlineData", "fileData", "executableCode")
_SHAPED = frozenset({"text", "reasoning", "tool_call", "tool_call_response", "blob", "file", "uri"})
"""Types of parts whose members the conventions name: what is none of them is not called so."""
_WITH_TEXT = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})


def request(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that the body of a request sets; the model is in its
    address."""
    config = body.get("generationConfig")
    count = integer(config, "candidateCount")
    thinking = get(config, "thinkingConfig")
    level = string(thinking, "thinkingLevel")
    is_json = string(config, "responseMimeType") == "application/json"
    return {
        "operation": gen_ai.OP_GENERATE_CONTENT,
        "temperature": number(config, "temperature"),
        "top_p": number(config, "topP"),
        "top_k": _whole(number(config, "topK")),
        "max_tokens": integer(config, "maxOutputTokens"),
        "frequency_penalty": number(config, "frequencyPenalty"),
        "presence_penalty": number(config, "presencePenalty"),
        "stop_sequences": texts(config, "stopSequences") or None,
        "seed": integer(config, "seed"),
        "choice_count": None if count == 1 else count,
        "output_type": "json" if is_json else None,
        "reasoning_level": None if level is None else level.lower(),
    }


def _whole(value: float | None) -> int | None:
    """Return a count that the API takes as a number with decimals."""
    return int(value) if value is not None and value.is_integer() else None


def content(body: dict[str, Any]) -> dict[str, Any]:
    """Return the instructions, messages and tools of a request, as copies."""
    return {
        "system": parts_of(get(body.get("systemInstruction"), "parts")) or None,
        "input": [message_of(item) for item in items(body, "contents")] or None,
        "tools": definitions(body.get("tools")),
    }


def is_part(value: Any) -> bool:
    """Return whether a value is a part of a content; parts have no member for their type."""
    if string(value, "text") is not None:
        members = record(value) or {}
        return {name for name, member in members.items() if member is not None} <= _WITH_TEXT
    return any(record(_get(value, name)) is not None for name in _MEMBERS)


def is_answer(value: Any) -> bool:
    """True for an answer, or a chunk of one."""
    if any(record(_get(value, name)) is not None for name in ("promptFeedback", "usageMetadata")):
        return True
    return any(
        record(get(each, "content")) is not None
        or plain_text(_get(each, "finishReason")) is not None
        for each in items(value, "candidates")
    )


def message_of(item: Any) -> Message:
    """Return one content as a message."""
    return message(role_of(string(item, "role") or "user"), parts_of(get(item, "parts")))


def parts_of(parts: Any) -> list[Part]:
    """Return the parts of a content."""
    return [each for part in items(parts) for each in _parts(part)]


def join_texts(parts: list[Part]) -> list[Part]:
    """Return parts with consecutive texts as one: a stream divides them anywhere."""
    merged: list[Part] = []
    for each in parts:
        if merged and _continues(merged[-1], each):
            merged[-1] = merged[-1] | each | {"content": merged[-1]["content"] + each["content"]}
        else:
            merged.append(each)
    return merged


def _continues(last: Part, part: Part) -> bool:
    return last["type"] == part["type"] and part["type"] in ("text", "reasoning")


def _parts(part: Any) -> list[Part]:
    if (call := _get(part, "functionCall")) is not None:
        return [call_part(string(call, "name"), _arguments(call), string(call, "id"))]
    if (result := _get(part, "functionResponse")) is not None:
        return [tool_response(jsonable(get(result, "response")), string(result, "id"))]
    if (words := string(part, "text")) is not None:
        if get(part, "thought") is True:
            return [reasoning(words)] if words else []
        return [text(words)] if words else []
    for name in ("inlineData", "fileData"):
        if (holder := _get(part, name)) is not None:
            return [_medium(holder)]
    fields = record(jsonable(part))
    if fields is None:
        return []
    kind, inner = next(
        ((k, v) for k, v in fields.items() if isinstance(v, dict)), ("unknown", fields)
    )
    kind = _snake(kind)
    return [{"type": "unknown" if kind in _SHAPED else kind, "content": inner}]


def _arguments(call: Any) -> Any:
    arguments = get(call, "args")
    return {} if arguments is None else arguments


def _medium(holder: Any) -> Part:
    mime_type = plain_text(_get(holder, "mimeType"))
    kind = "" if mime_type is None else mime_type.partition("/")[0]
    modality = kind if kind in ("image", "audio", "video") else "document"
    address = plain_text(_get(holder, "fileUri"))
    part: Part
    if address is not None:
        part = {"type": "uri", "uri": address, "modality": modality}
    else:
        part = {"type": "blob", "content": _data(holder), "modality": modality}
    return part if mime_type is None else part | {"mime_type": mime_type}


def _data(holder: Any) -> Any:
    """Return base64, or large bytes as they are: whoever records them replaces them."""
    data = get(holder, "data")
    if type(data) is bytes and len(data) >= LEAST_BYTES:
        return data
    return "" if data is None else as_text(data)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])[A-Z]", lambda match: f"_{match[0]}", name).lower()


def _get(value: Any, name: str) -> Any:
    """Return a member by its name in the REST API or in the Python SDK."""
    member = get(value, name)
    return get(value, _snake(name)) if member is None else member


# -------------------------------------------------------------------------------------- answers


class GenerateContentReading:
    """Reads an answer, whole or in chunks."""

    __slots__ = ("_finish", "_parts", "_request", "_response_id", "_usage", "_version")

    def __init__(self, request: Inference):
        self._request = request
        self._parts: dict[int, list[Any]] = {}
        self._finish: dict[int, str | None] = {}
        self._usage: Any = None
        self._version: str | None = None
        self._response_id: str | None = None

    has_last_event = True

    @property
    def complete(self) -> bool:
        return bool(self._finish) and all(self._finish.values())

    def whole(self, response: Any) -> None:
        self.add(response)

    def add(self, chunk: Any) -> None:
        for position, candidate in enumerate(items(chunk, "candidates")):
            index = integer(candidate, "index")
            index = position if index is None else index
            self._parts.setdefault(index, []).extend(items(get(candidate, "content"), "parts"))
            why = finish_reason(_get(candidate, "finishReason"))
            self._finish[index] = why or self._finish.get(index)
        if _get(_get(chunk, "promptFeedback"), "blockReason") is not None:
            self._parts.setdefault(0, [])
            self._finish[0] = "content_filter"
        usage = _get(chunk, "usageMetadata")
        self._usage = self._usage if usage is None else usage
        self._version = plain_text(_get(chunk, "modelVersion")) or self._version
        self._response_id = plain_text(_get(chunk, "responseId")) or self._response_id

    def operation(self) -> Inference:
        output: list[Message] = []
        reasons: list[str | None] = []
        for index in sorted(self._parts):
            parts = join_texts(parts_of(self._parts[index]))
            why = self._finish.get(index)
            if why == "stop" and any(part["type"] == "tool_call" for part in parts):
                why = "tool_call"  # the API has no reason of its own for it
            reasons.append(why)
            output.append(message("assistant", parts, why))
        return replace(
            self._request,
            response_id=self._response_id,
            response_model=self._version,
            finish_reasons=reasons_of(reasons),
            output=output if any(item["parts"] for item in output) else None,
            usage=usage_of(self._usage),
        )


def usage_of(usage: Any) -> Usage | None:
    """Return token counts; Google counts thoughts beside the answer, and tools' beside the prompt.

    Source: `UsageMetadata`; counts that are zero or absent are left out.
    """
    prompt, used = _count(usage, "promptTokenCount"), _count(usage, "toolUsePromptTokenCount")
    answer, thoughts = _count(usage, "candidatesTokenCount"), _count(usage, "thoughtsTokenCount")
    counts = Usage(
        input_tokens=None if prompt is None else prompt + (used or 0),
        output_tokens=None if answer is None and thoughts is None
        else (answer or 0) + (thoughts or 0),
        cache_read_tokens=_count(usage, "cachedContentTokenCount") or None,
        reasoning_tokens=thoughts or None,
    )  # fmt: skip
    return None if counts == Usage() else counts


def _count(usage: Any, name: str) -> int | None:
    return (
        integer(usage, name) if integer(usage, name) is not None else integer(usage, _snake(name))
    )
