"""The responses API: requests, and answers, whole or as events.

An answer is a list of items (messages, reasoning, tool calls); here it is one assistant message
with a part for each. Items of the same assistant turn in a request are one message too, so that a
history looks like the answers it repeats.

Source: openai-python types/responses at 3.52.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.values import jsonable
from agentool_otel.model.messages import Message, Part, message, text, tool_response
from agentool_otel.model.operations import Inference
from agentool_otel.providers.blocks import parts_of, thoughts_of
from agentool_otel.providers.calls import call_part
from agentool_otel.providers.fields import (
    get,
    integer,
    is_a,
    items,
    join_texts,
    number,
    plain_text,
    record,
    string,
)
from agentool_otel.providers.openai_usage import usage_of
from agentool_otel.providers.roles import role_of
from agentool_otel.providers.tools import definitions
from agentool_otel.semconv import openai as names

__all__ = ["ResponsesReading", "content", "is_item", "messages_of", "request"]


def request(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that the request's parameters set."""
    extra: dict[str, Any] = {names.API_TYPE: "responses"}
    tier = string(parameters, "service_tier")
    if tier is not None and tier != "auto":
        extra[names.REQUEST_SERVICE_TIER] = tier
    conversation = parameters.get("conversation")
    form = string(get(parameters.get("text"), "format"), "type")
    output = None if form is None else "text" if form == "text" else "json"
    if is_a(parameters.get("text_format"), type):  # the class `parse` is to return
        output = "json"
    return {
        "request_model": string(parameters, "model"),
        "stream": True if parameters.get("stream") is True else None,
        "temperature": number(parameters, "temperature"),
        "top_p": number(parameters, "top_p"),
        "max_tokens": integer(parameters, "max_output_tokens"),
        "reasoning_level": string(parameters.get("reasoning"), "effort"),
        "previous_response_id": string(parameters, "previous_response_id"),
        "conversation_id": plain_text(conversation) or string(conversation, "id"),
        "output_type": output,
        "extra": extra,
    }


def content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return instructions, input and tools of a request, as copies."""
    instructions, prompt = string(parameters, "instructions"), string(parameters, "input")
    return {
        "system": None if instructions is None else [text(instructions)],
        "input": messages_of(parameters.get("input"))
        if prompt is None
        else [message("user", [text(prompt)])],
        "tools": definitions(parameters.get("tools")),
    }


def messages_of(values: Any, role: str = "user") -> list[Message] | None:
    """Return the items of an input or an output as messages, None if there are none.

    Args:
        values: the items.
        role: the role of messages that do not name one.
    """
    messages: list[Message] = []
    for item in items(values):
        kind = string(item, "type") or "message"
        speaker = _role(item, kind, role)
        parts = parts_of_item(item, kind)
        if speaker == "assistant" and messages and messages[-1]["role"] == "assistant":
            messages[-1]["parts"] += parts
        else:
            messages.append(message(speaker, parts))
    return messages or None


def _role(item: Any, kind: str, default: str) -> str:
    if kind == "message":
        return role_of(string(item, "role") or default)
    return "tool" if kind in _ANSWERS else "assistant"


# ---------------------------------------------------------------------------------------- items

_CLIENT_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""Calls of tools that run at the client, and where their arguments are."""

_TEXTS = ("input_text", "output_text", "refusal", "input_image", "input_file", "input_audio")
"""Content of messages that only this API has."""

_ANSWERS = frozenset(f"{kind}_output" for kind in _CLIENT_CALLS)

_SERVER_RESULTS = ("outputs", "output", "results", "result", "tools", "error")
"""Members with the results of tools that run at the server, by type of item."""


def is_item(value: Any) -> bool:
    """True for an item that only this API has; a message may be one of chat completions."""
    kind = string(value, "type")
    if kind is None:
        return False
    if kind == "reasoning":
        return get(value, "summary") is not None
    if kind == "message":
        body = get(value, "content")
        return plain_text(body) is not None or any(
            string(item, "type") in _TEXTS for item in items(body)
        )
    is_known = kind in _ANSWERS or kind in _CLIENT_CALLS
    return is_known or (kind.endswith("_call") and kind not in ("tool_call", "server_tool_call"))


def parts_of_item(item: Any, kind: str) -> list[Part]:
    """Return the parts of one item, of an input or an output."""
    if kind == "message":
        return parts_of(get(item, "content"))
    if kind == "reasoning":
        return thoughts_of(item)
    if kind in _ANSWERS:
        return [tool_response(jsonable(get(item, "output")), string(item, "call_id"))]
    if kind in _CLIENT_CALLS:
        name = string(item, "name") or kind.removesuffix("_call")
        call_id = string(item, "call_id") or string(item, "id")
        return [call_part(name, get(item, _CLIENT_CALLS[kind]), call_id)]
    fields = record(jsonable(item))
    if fields is None:
        return []
    if kind == "compaction":
        return [{"type": kind, **_known(id=string(item, "id"))}]
    if kind.endswith("_call") or kind == "mcp_list_tools":
        return _server_call(kind, fields)
    return [{**fields, "type": kind}]


def _server_call(kind: str, fields: dict[str, Any]) -> list[Part]:
    name, call_id = fields.get("name"), fields.get("id")
    call = _known(id=call_id if isinstance(call_id, str) else None)
    kind = kind.removesuffix("_call")
    results = {key: fields.pop(key) for key in _SERVER_RESULTS if fields.get(key) is not None}
    parts: list[Part] = [
        {
            "type": "server_tool_call",
            "name": name if isinstance(name, str) else kind,
            "server_tool_call": {
                **{key: value for key, value in fields.items() if value is not None},
                "type": kind,
            },
            **call,
        }
    ]
    if results:
        response = {**results, "type": kind}
        parts.append(
            {"type": "server_tool_call_response", "server_tool_call_response": response, **call}
        )
    return parts


def _known(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}


# -------------------------------------------------------------------------------------- answers

_INCOMPLETE = {"max_output_tokens": "length"}
"""Spec: reasons of an incomplete response as the GenAI conventions spell them."""

_TERMINAL = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)
_DELTAS = {
    "response.output_text.delta": "output_text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary_text",
    "response.reasoning_text.delta": "summary_text",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
"""Events that carry a fragment, and the member it belongs to."""


class _Item:
    """One output item of a stream: as announced, its fragments, and as finished."""

    __slots__ = ("announced", "finished", "fragments")

    def __init__(self) -> None:
        self.announced: Any = None
        self.finished: Any = None
        self.fragments: dict[str, list[str]] = {}

    def known(self) -> Any:
        """Return the item, assembled from its fragments if the stream ended before it did."""
        if self.finished is not None:
            return self.finished
        contents = {member: join_texts(fragments) for member, fragments in self.fragments.items()}
        kind = string(self.announced, "type") or "message"
        fields = {name: get(self.announced, name) for name in ("id", "call_id", "name", "role")}
        texts = [
            {"type": member, "refusal" if member == "refusal" else "text": value}
            for member, value in contents.items()
        ]
        return {**fields, **contents, "type": kind, "content": texts}


class ResponsesReading:
    """Reads a response, whole or as events."""

    __slots__ = ("_failure", "_items", "_request", "_response", "complete")
    has_last_event = True

    def __init__(self, request: Inference):
        self._request = request
        self._response: Any = None
        self._items: dict[int, _Item] = {}
        self._failure: Any = None
        self.complete = False

    def whole(self, response: Any) -> None:
        self._response = response
        self.complete = True

    def add(self, event: Any) -> None:
        kind = string(event, "type") or ""
        index = integer(event, "output_index") or 0
        if kind in _TERMINAL:
            self.whole(get(event, "response"))
        elif kind == "error":
            self._failure = event
        elif kind == "response.output_item.added":
            self._item(index).announced = get(event, "item")
        elif kind == "response.output_item.done":
            self._item(index).finished = get(event, "item")
        elif kind in _DELTAS:
            delta = string(event, "delta") or ""
            self._item(index).fragments.setdefault(_DELTAS[kind], []).append(delta)
        elif get(event, "response") is not None:
            self._response = get(event, "response")

    def _item(self, index: int) -> _Item:
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = _Item()
        return item

    def operation(self) -> Inference:
        response = self._response
        failure = get(response, "error") if self._failure is None else self._failure
        output = items(response, "output")
        if not output:  # the stream ended early, or the server repeats nothing at its end
            output = [self._items[index].known() for index in sorted(self._items)]
        kinds = [string(item, "type") or "message" for item in output]
        parts = [
            part
            for item, kind in zip(output, kinds, strict=True)
            for part in parts_of_item(item, kind)
        ]
        status = string(response, "status")
        ended_badly = failure is not None or status == "failed"
        reason = "error" if ended_badly else self._reason(status, kinds, output)
        extra = dict(self._request.extra)
        if tier := string(response, "service_tier"):
            extra[names.RESPONSE_SERVICE_TIER] = tier
        return replace(
            self._request,
            response_id=string(response, "id"),
            response_model=string(response, "model"),
            finish_reasons=[reason] if reason else None,
            output=[message("assistant", parts, reason)] if parts else None,
            usage=usage_of(get(response, "usage")),
            error_type=string(failure, "code") or ("error" if ended_badly else None),
            error_message=string(failure, "message"),
            extra=extra,
        )

    def _reason(self, status: str | None, kinds: list[str], output: list[Any]) -> str | None:
        if not self.complete or status in ("queued", "in_progress"):
            return None
        if status == "incomplete":
            why = string(get(self._response, "incomplete_details"), "reason") or "incomplete"
            return _INCOMPLETE.get(why, why)
        if status == "cancelled":
            return status
        if any(kind in _CLIENT_CALLS for kind in kinds):
            return "tool_call"
        refused = any(
            string(part, "type") == "refusal" for item in output for part in items(item, "content")
        )
        return "content_filter" if refused else "stop"
