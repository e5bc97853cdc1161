"""Chat completions: requests, and answers, whole or in chunks.

Source: openai-python types/chat at 3.52; servers that only resemble OpenAI's are read as well.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.values import encode
from agentool_otel.model.messages import (
    Message,
    Part,
    message,
    reasoning,
    reasons_of,
    text,
    tool_response,
)
from agentool_otel.model.operations import Inference
from agentool_otel.providers.blocks import parts_of
from agentool_otel.providers.calls import call_part, calls_of, result_of, with_calls
from agentool_otel.providers.fields import (
    as_list,
    get,
    integer,
    is_a,
    items,
    join_texts,
    number,
    plain_text,
    string,
    texts,
)
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.openai_usage import usage_of
from agentool_otel.providers.roles import role_of
from agentool_otel.providers.tools import definitions
from agentool_otel.semconv import openai as names

__all__ = ["ChatReading", "content", "is_answer", "message_of", "request"]


def request(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that the request's parameters set."""
    stop = string(parameters, "stop")
    count = integer(parameters, "n")
    output = parameters.get("response_format")
    kind = string(output, "type")
    extra: dict[str, Any] = {names.API_TYPE: "chat_completions"}
    tier = string(parameters, "service_tier")
    if tier is not None and tier != "auto":
        extra[names.REQUEST_SERVICE_TIER] = tier
    fields: dict[str, Any] = {
        "request_model": string(parameters, "model"),
        "stream": True if parameters.get("stream") is True else None,
        "temperature": number(parameters, "temperature"),
        "top_p": number(parameters, "top_p"),
        "max_tokens": integer(parameters, "max_completion_tokens")
        or integer(parameters, "max_tokens"),
        "frequency_penalty": number(parameters, "frequency_penalty"),
        "presence_penalty": number(parameters, "presence_penalty"),
        "stop_sequences": texts(parameters, "stop") or None if stop is None else [stop],
        "seed": integer(parameters, "seed"),
        "choice_count": None if count == 1 else count,
        "reasoning_level": string(parameters, "reasoning_effort"),
        "extra": extra,
    }
    if kind is not None:
        fields["output_type"] = "text" if kind == "text" else "json"
    elif is_a(output, type):  # the class `parse` is to return
        fields["output_type"] = "json"
    elif "audio" in texts(parameters, "modalities"):
        fields["output_type"] = "speech"
    return fields


def content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the messages and tools of a request, as copies."""
    return {
        "input": [message_of(item) for item in items(parameters, "messages")] or None,
        "tools": definitions(parameters.get("tools")),
    }


def message_of(item: Any) -> Message:
    """Return one message of a request."""
    role = role_of(string(item, "role") or "user")
    body = get(item, "content")
    if role == "tool":
        parts = _results(body, string(item, "tool_call_id") or string(item, "id"))
    else:
        spoken = parts_of(body)
        if refusal := string(item, "refusal"):
            spoken.append(text(refusal))
        parts = _reasoning(join_texts([_thought(item)])) + with_calls(spoken, calls_of(item))
    converted = message(role, parts)
    if (name := string(item, "name")) is not None:
        converted["name"] = name
    return converted


def _results(body: Any, call_id: str | None) -> list[Part]:
    """Return results of tools: those in the content, as other APIs have them, or the content."""
    blocks = items(body)
    pieces = parts_of(blocks) if all(string(block, "type") for block in blocks) else []
    results = [part for part in parts_of(blocks) if part["type"] == "tool_call_response"]
    return results or [tool_response(result_of(body, pieces), call_id)]


def _thought(item: Any) -> str | None:
    """Reasoning: `reasoning_content` at DeepSeek and others, `reasoning` at OpenRouter."""
    return string(item, "reasoning_content") or string(item, "reasoning")


def _reasoning(thought: str) -> list[Part]:
    return [reasoning(thought)] if thought else []


# -------------------------------------------------------------------------------------- answers


class _ToolCall:
    """One tool call, put together from fragments."""

    __slots__ = ("arguments", "call_id", "index", "name")

    def __init__(self, index: int):
        self.index = index
        self.call_id: str | None = None
        self.name: str | None = None
        self.arguments: list[str] = []

    def part(self) -> Part:
        return call_part(self.name, join_texts(self.arguments), self.call_id)


class _Choice:
    """One choice, put together from deltas; a whole message is one big delta."""

    __slots__ = ("_calls", "_refusals", "_texts", "_thoughts", "finish")

    def __init__(self) -> None:
        self.finish: str | None = None
        self._texts: list[str | None] = []
        self._thoughts: list[str | None] = []
        self._refusals: list[str | None] = []
        self._calls: list[_ToolCall] = []

    def add(self, delta: Any, complete: bool = False) -> None:
        self._texts.append(string(delta, "content"))
        self._thoughts.append(_thought(delta))
        self._refusals.append(string(delta, "refusal"))
        if (audio := get(delta, "audio")) is not None:
            self._texts.append(string(audio, "transcript"))
        for position, fragment in enumerate(items(delta, "tool_calls")):
            function, custom = get(fragment, "function"), get(fragment, "custom")
            index = position if complete else integer(fragment, "index")
            named = function if custom is None else custom
            call = self._call_for(index, string(fragment, "id"), string(named, "name"))
            if custom is None:
                _extend(call, function, "arguments")
            else:
                _extend(call, custom, "input")
        if (function := get(delta, "function_call")) is not None:
            _extend(self._call_for(0, None, None), function, "arguments")

    def _call_for(self, index: int | None, call_id: str | None, name: str | None) -> _ToolCall:
        """Return the call a fragment belongs to.

        By index, in any order they come; without one, to the last call, unless its id is
        another. Some servers give every parallel call index 0 and an id of its own. Others count
        the index up within a call: a fragment without an id and a name begins no call.
        """
        last_call = self._calls[-1] if self._calls else None
        if index is None:
            call = last_call
        else:
            call = next((each for each in reversed(self._calls) if each.index == index), None)
        if call is None and not call_id and not name:
            call = last_call
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            last = max((each.index for each in self._calls), default=-1)
            call = _ToolCall(last + 1 if index is None else index)
            self._calls.append(call)
        call.call_id = call.call_id or call_id
        return call

    def message(self, finish: str | None) -> Message:
        parts = _reasoning(join_texts(self._thoughts))
        answer, refusal = join_texts(self._texts), self.refusal
        if answer and answer != refusal:
            parts.append(text(answer))
        if refusal:
            parts.append(text(refusal))
        calls = sorted(self._calls, key=lambda call: call.index)
        return message("assistant", parts + [call.part() for call in calls], finish)

    @property
    def refusal(self) -> str:
        return join_texts(self._refusals)

    @property
    def reason(self) -> str | None:
        """Return the finish reason; a refusal ends with `stop` on the wire."""
        if self.refusal and self.finish in (None, "stop"):
            return "content_filter"
        return finish_reason(self.finish)


def _extend(call: _ToolCall, fragment: Any, field: str) -> None:
    call.name = call.name or string(fragment, "name")
    arguments = get(fragment, field)
    if (words := plain_text(arguments)) is not None:
        call.arguments.append(words)
    elif arguments is not None:  # not text, as the protocol has it, but the object itself
        call.arguments.append(encode(arguments))


def is_answer(value: Any) -> bool:
    """True for a chat completion, a text completion, or a chunk of one."""
    choices = as_list(get(value, "choices"))
    if choices is None:
        return False
    if not choices:  # the chunk that has the usage
        return (string(value, "object") or "").startswith("chat.completion")
    return any(get(choices[0], name) is not None for name in ("message", "delta", "text"))


class ChatReading:
    """Reads a chat completion, whole or in chunks."""

    __slots__ = ("_choices", "_fields", "_request", "_usage")

    def __init__(self, request: Inference):
        self._request = request
        self._choices: dict[int, _Choice] = {}
        self._fields: dict[str, str] = {}
        self._usage: Any = None

    has_last_event = True

    @property
    def complete(self) -> bool:
        choices = self._choices.values()
        wanted = self._request.choice_count or 1
        return len(choices) >= wanted and all(choice.finish for choice in choices)

    def whole(self, response: Any) -> None:
        for position, choice in enumerate(items(response, "choices")):
            answer = get(choice, "message")
            if answer is None:  # of a text completion
                answer = {"content": get(choice, "text")}
            self._choice(choice, position).add(answer, complete=True)
        self._envelope(response)

    def add(self, chunk: Any) -> None:
        for choice in items(chunk, "choices"):
            self._choice(choice, 0).add(get(choice, "delta"))
        self._envelope(chunk)

    def _choice(self, choice: Any, position: int) -> _Choice:
        index = integer(choice, "index")
        index = position if index is None else index
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _Choice()
        state.finish = string(choice, "finish_reason") or state.finish
        return state

    def _envelope(self, response: Any) -> None:
        for name in ("id", "model", "service_tier", "system_fingerprint"):
            if value := string(response, name):
                self._fields[name] = value
        usage = get(response, "usage")
        if usage is not None:
            self._usage = usage

    def operation(self) -> Inference:
        fields, choices = self._fields, [self._choices[key] for key in sorted(self._choices)]
        reasons = [choice.reason for choice in choices]
        extra = dict(self._request.extra)
        for name, attribute in (
            ("service_tier", names.RESPONSE_SERVICE_TIER),
            ("system_fingerprint", names.RESPONSE_SYSTEM_FINGERPRINT),
        ):
            if name in fields:
                extra[attribute] = fields[name]
        messages = [choice.message(reason) for choice, reason in zip(choices, reasons, strict=True)]
        return replace(
            self._request,
            response_id=fields.get("id"),
            response_model=fields.get("model"),
            finish_reasons=reasons_of(reasons),
            output=messages if any(item["parts"] for item in messages) else None,
            usage=usage_of(self._usage),
            extra=extra,
        )
