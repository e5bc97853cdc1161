"""Older generations of the GenAI conventions, brought up to the baseline before reading.

Spec: semantic-conventions v1.26 to v1.41. Names that only moved are in `semconv.table.RENAMES`;
what changed its shape is here: indexed message attributes (OpenLLMetry before 0.55), whole prompts
as one JSON attribute (v1.27), and messages as span events or joined log records (v1.26 to v1.36).
"""

from __future__ import annotations

import re
from typing import Any

from agentool_otel.dialects.gen_ai.message_events import ROLES, instructions_in, message_in
from agentool_otel.dialects.gen_ai.older_names import CHOICE, is_older
from agentool_otel.dialects.kit.cut_json import completed, is_cut_json, levels_open
from agentool_otel.dialects.kit.provider_messages import (
    agent_messages,
    are_calls,
    calls_from,
    json_or_text,
    messages_from,
    parts_from,
)
from agentool_otel.dialects.kit.reading import Reader, in_parts, is_placeholder
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.messages import Message, message, reasoning, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import (
    NAMED_BY_US,
    OURS,
    RENAMES,
    STRUCTURAL,
    Generation,
)

__all__ = ["downgrade", "upgrade"]

_REQUEST_TYPES = {"chat": "chat", "completion": "text_completion", "embedding": "embeddings"}
_INDEXED = (
    r"(?:gen_ai\.(prompt|completion|(?:in|out)put\.messages)|llm\.(prompts|completions))"
    r"\.(\d+)\.(.+)"
)
_CALL = r"tool_calls\.(\d+)\.(.+)"
_CONTENT_EVENTS = {
    "gen_ai.content.prompt": ("gen_ai.prompt", "user"),
    "gen_ai.content.completion": ("gen_ai.completion", "assistant"),
}
"""The attribute of an event that holds all messages of one side, and the role of their author."""
_MESSAGES = {
    gen_ai.INPUT_MESSAGES: "user",
    gen_ai.OUTPUT_MESSAGES: "assistant",
}
_BODIES = ("gen_ai.event.content", "body")
"""Attributes that hold an event's body: of Azure's SDKs, and of log records with a text body."""
_ANSWER = _RESPONSE_TEXT, _RESPONSE_CALLS = "gen_ai.response.text", "gen_ai.response.tool_calls"
"""Sentry's and OpenLIT's names for the parts of an answer."""


def downgrade(attributes: Attributes, generation: Generation) -> Attributes:
    """Return attributes under the names, and with the values, of an older generation.

    A baseline name that has no older one is kept under our prefix, so that nothing is lost.
    """
    renamed: Attributes = {}
    for key, value in attributes.items():
        if key in generation.values and isinstance(value, str):
            value = generation.values[key].get(value, value)
        elif key in generation.doubles and isinstance(value, int) and float(value) == value:
            value = float(value)
        elif key == agentool.CONTENT_SHORTENED and isinstance(value, str):
            value = _renamed_members(value, generation)
        elif key == agentool.CONTENT_REDACTED and isinstance(value, (list, tuple)):
            value = [generation.name_of(name) for name in value]
        renamed[generation.name_of(key)] = value
    return renamed


def _renamed_members(notes: str, generation: Generation) -> str:
    return dumps({generation.name_of(name): note for name, note in loads(notes).items()})


def upgrade(span: Reader) -> None:
    """Rewrite older attributes and events of a span as baseline attributes, in place."""
    attributes = span.rest
    if not _current.issuperset(attributes) and _has_older(attributes):
        _rename(attributes)
        _restructure(span)
    for event in span.span.events:
        if event.name.startswith("gen_ai."):
            _read_events(attributes, span.span)
            break
    for key, role in _MESSAGES.items():
        value = attributes.get(key)
        if isinstance(value, str) and is_cut_json(value):
            value = _whole_messages(value)
            if value is None:
                continue
            attributes[key] = value
        if value is not None and not _in_parts(value):
            _reshape(span, key, json_or_text(value), role)
    system = attributes.get(gen_ai.SYSTEM_INSTRUCTIONS)
    if isinstance(system, str) and system[:1] not in "[{" and system not in span.placeholders:
        attributes[gen_ai.SYSTEM_INSTRUCTIONS] = [text(system)]


def _in_parts(value: Any) -> bool:
    if isinstance(value, str):
        return value[:1] == "[" and in_parts(value)
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and isinstance(parts := item.get("parts"), list)
        and all(isinstance(part, dict) and "type" in part for part in parts)
        for item in value
    )


_IN_A_PART = 4
"""Brackets open inside a part: of the list, the message, its parts and the part."""


def _whole_messages(text: str) -> list[Any] | None:
    """Return the messages in cut JSON; None if there are none. A text counts up to the cut, a tool
    call only if it is complete."""
    messages = completed(text, partial="content")
    if not isinstance(messages, list):
        return None
    items = [item for item in messages if isinstance(item, dict)]
    if items and levels_open(text) >= _IN_A_PART:
        _remove_cut_call(items[-1])
    return [item for item in items if _has_content(item)] or None


def _remove_cut_call(item: dict[str, Any]) -> None:
    """Remove the last part of a message if it is a tool call, whose arguments are incomplete."""
    for name in ("parts", "tool_calls"):
        parts = item.get(name)
        if isinstance(parts, list) and parts and not _is_text(parts[-1]):
            parts.pop()


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("text", "reasoning")


def _has_content(item: dict[str, Any]) -> bool:
    return bool(item.get("parts") or item.get("content") or item.get("tool_calls"))


def _reshape(span: Reader, key: str, value: Any, role: str) -> None:
    """Convert an attribute with messages of a provider's API, or bare text, to messages with
    parts."""
    if isinstance(value, str) and value in span.placeholders:
        return
    if isinstance(value, list):  # of texts that are JSON each, where an array is what was set
        value = [json_or_text(item) for item in value]
    if not value or _in_parts(value):
        return
    if messages := [
        agent_message for agent_message in agent_messages(value, role) if agent_message.get("parts")
    ]:
        span.rest[key] = messages


_current: set[str] = set()
"""Attribute names seen before that are not of an older generation. Looking a span's names up in it
is one operation; looking at each of them would cost as much as reading the span."""


def _has_older(attributes: Attributes) -> bool:
    for key in attributes.keys() - _current:
        if is_older(key):
            return True
        if len(_current) < 4096:
            _current.add(key)
    return False


def _rename(attributes: Attributes) -> None:
    for ours in [key for key in attributes if key.startswith(NAMED_BY_US)]:
        attributes.setdefault(ours.removeprefix(OURS), attributes.pop(ours))
    for old in attributes.keys() & RENAMES.keys():
        rename = RENAMES[old]
        value = attributes[old]
        if isinstance(value, str):
            value = rename.values.get(value, value)
        if (
            attributes.setdefault(rename.new, value) == value
        ):  # else both say something of their own
            del attributes[old]


def _restructure(span: Reader) -> None:
    attributes = span.rest
    kind = attributes.get("llm.request.type")
    if isinstance(kind, str) and kind in _REQUEST_TYPES and gen_ai.OPERATION_NAME not in attributes:
        attributes[gen_ai.OPERATION_NAME] = _REQUEST_TYPES[attributes.pop("llm.request.type")]
    for old, new in (
        ("gen_ai.prompt", gen_ai.INPUT_MESSAGES),
        ("gen_ai.completion", gen_ai.OUTPUT_MESSAGES),
    ):
        if old in attributes and new not in attributes:
            role = "user" if old == "gen_ai.prompt" else "assistant"
            attributes[new] = messages_from(attributes.pop(old), role)
    for old, new in STRUCTURAL.items():
        if new == gen_ai.RESPONSE_FINISH_REASONS and old in attributes and new not in attributes:
            attributes[new] = [str(finish_reason(attributes.pop(old)))]
    if gen_ai.OUTPUT_MESSAGES not in attributes and not attributes.keys().isdisjoint(_ANSWER):
        words = json_or_text(attributes.pop(_RESPONSE_TEXT, None))
        calls = calls_from(attributes.pop(_RESPONSE_CALLS, None))
        attributes[gen_ai.OUTPUT_MESSAGES] = [message("assistant", [*parts_from(words), *calls])]
    _read_indexed(attributes)


def _read_indexed(attributes: Attributes) -> None:
    sides: dict[str, dict[int, dict[str, Any]]] = {}
    keys: list[str] = []
    for key, value in attributes.items():
        if match := re.fullmatch(_INDEXED, key, re.ASCII):
            side = gen_ai.INPUT_MESSAGES
            if (match[1] or match[2]).startswith(("completion", "output")):
                side = gen_ai.OUTPUT_MESSAGES
            sides.setdefault(side, {}).setdefault(int(match[3]), {})[match[4]] = value
            keys.append(key)
    for side, by_index in sides.items():
        if side not in attributes:
            default = "user" if side == gen_ai.INPUT_MESSAGES else "assistant"
            attributes[side] = [_indexed_message(by_index[n], default) for n in sorted(by_index)]
    for key in keys:
        del attributes[key]


def _indexed_message(fields: dict[str, Any], role: str) -> Message:
    role = str(fields.get("role", role))
    content = fields.get("content")
    if is_placeholder(content):
        content = None
    if are_calls(json_or_text(content)):  # Koog, for Langfuse
        tool_calls = [call for call in calls_from(content) if not is_placeholder(call["name"])]
        return message(role, tool_calls, finish_reason(fields.get("finish_reason")))
    if role == "tool" or "tool_call_id" in fields:
        return message(role, [tool_response(json_or_text(content), fields.get("tool_call_id"))])
    if role == "thinking" and isinstance(content, str):  # OpenLLMetry, of Anthropic's models
        return message("assistant", [reasoning(content)])
    parts = parts_from(content)
    if isinstance(fields.get("refusal"), str):
        parts.append({"type": "refusal", "content": fields["refusal"]})
    calls: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        if match := re.fullmatch(_CALL, key, re.ASCII):
            calls.setdefault(int(match[1]), {})[match[2]] = value
    for n in sorted(calls):
        call = calls[n]
        name = str(call.get("name", "unknown"))
        parts.append(call_part(name, json_or_text(call.get("arguments")), call.get("id")))
    return message(role, parts, finish_reason(fields.get("finish_reason")))


def _read_events(attributes: Attributes, span: SpanRecord) -> None:
    """Set the attributes that a span's events carry."""
    inputs: list[Message] = []
    outputs: list[Message] = []
    for event in sorted(span.events, key=lambda e: e.time_ns or 0):
        body = _event_body(event.attributes)
        if event.name == gen_ai.EVENT_INFERENCE_DETAILS:
            _merge_details(attributes, body)
        elif event.name in _CONTENT_EVENTS:
            key, role = _CONTENT_EVENTS[event.name]
            (inputs if role == "user" else outputs).extend(messages_from(body.get(key), role))
        elif event.name in ROLES and (instructions := instructions_in(body)) is not None:
            attributes.setdefault(gen_ai.SYSTEM_INSTRUCTIONS, instructions)
        elif (one := _event_message(event.name, body)) is None:
            continue
        elif event.name == CHOICE:
            outputs.append(one)
        else:
            inputs += [*outputs, one]  # earlier choices are history, too (Koog)
            outputs = []
    operation = attributes.get(gen_ai.OPERATION_NAME)
    if not outputs:
        start = _answer_start(inputs, span, whole_run=operation == "invoke_agent")
        inputs, outputs = inputs[:start], inputs[start:]
    if inputs and operation != "embeddings":  # which has no messages
        attributes.setdefault(gen_ai.INPUT_MESSAGES, inputs)
    if outputs:
        attributes.setdefault(gen_ai.OUTPUT_MESSAGES, outputs)


def _event_body(attributes: Attributes) -> Attributes:
    """Return the members of an event, which some SDKs put into one attribute as JSON."""
    body = attributes
    for key in _BODIES:
        if isinstance(content := json_or_text(body.get(key)), dict):
            body = content
    if "toolCalls" in body:  # AWS's SDK for Java
        body = {"tool_calls": body["toolCalls"], **body}
    return body


def _event_message(name: str, body: Attributes) -> Message | None:
    return message_in(name, body) if name == CHOICE or name in ROLES else None


def _merge_details(attributes: Attributes, body: Attributes) -> None:
    """Add the attributes of an event that repeats those of its span, with content."""
    details = dict(body)
    _rename(details)
    for key, value in details.items():
        if key.startswith("gen_ai."):
            attributes.setdefault(key, value)


def _answer_start(messages: list[Message], span: SpanRecord, *, whole_run: bool) -> int:
    """Return the index from which messages are the answer, where no event is a choice."""
    roles = [item.get("role") for item in messages]
    end = len(roles)
    if whole_run:  # an agent's span has the messages of all its model calls
        return roles.index("assistant") if "assistant" in roles else end
    if span.status == STATUS_ERROR or span.scope.startswith("agentool_otel"):
        return end
    while end and roles[end - 1] == "assistant":  # Koog, of an answer without calls
        end -= 1
    return end
