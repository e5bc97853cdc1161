"""Tool calls and messages of a model as Gemini CLI writes them, in every channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import DENIED, Channel, Entry
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.messages import Message, message, parts_of
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.google import GenerateContentReading, join_texts
from agentool_otel.semconv import gen_ai

__all__ = [
    "SHELL",
    "answer_in",
    "call_id_of",
    "described",
    "ended_call",
    "ending_in",
    "joined",
    "model_entry",
    "prompt_in",
    "response_in",
    "sub_agent_of",
    "with_ending",
    "with_response",
]

SHELL = "run_shell_command"
_DENIALS = re.compile(r"denied by policy|[Uu]ser (?:did not allow|denied|cancelled)")
_DENIED_TYPES = frozenset({"policy_violation"})
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_IS_WHOLE = re.compile(r"^Process Group PGID: \d+$", re.MULTILINE)
_HIDES_CODE = re.compile(r"^(?:Error|Signal|Background PIDs): ", re.MULTILINE)
_ENDING = re.compile(r"Subagent '[^\n]*' finished\.\nTermination Reason: (\w+)")
_GOAL = "GOAL"
"""The one reason of `AgentTerminateMode` that is no failure. Source: `agents/types.ts` of 0.56."""
_OF_SUB_AGENT = re.compile(r"(.*[^#])#\d+")
_CONTEXT = ("<session_context>",)
"""Beginnings of what Gemini CLI adds to a prompt."""


def sub_agent_of(prompt: object) -> str | None:
    """Return the id of the sub-agent in the id of a prompt; None for the session's own, which is
    its id, or that with `########` and a number."""
    found = _OF_SUB_AGENT.fullmatch(prompt) if isinstance(prompt, str) else None
    return None if found is None else found[1]


def call_id_of(name: str | None, call_id: str) -> str:
    """Return the id that the model's API has for a call: Gemini CLI puts the tool's name before
    it, but not in the history of the next request."""
    return call_id.removeprefix(f"{name}__") if name else call_id


def joined(messages: Sequence[Message]) -> list[Message]:
    """Return an answer that was recorded as the pieces of its stream as one message."""
    if not messages or any(item.get("role") not in ("assistant", "model") for item in messages):
        return list(messages)
    parts = join_texts([_with_id(part) for item in messages for part in parts_of(item)])
    return [message("assistant", parts, messages[-1].get("finish_reason"))]


def _with_id(part: dict[str, Any]) -> dict[str, Any]:
    name, call_id = part.get("name"), part.get("id")
    if part.get("type") != "tool_call" or not isinstance(name, str) or not isinstance(call_id, str):
        return part
    return {**part, "id": call_id_of(name, call_id)}


def answer_in(chunks: Any) -> list[Message]:
    """Return the answer in a response of the model's API, or in the chunks of one."""
    reading = GenerateContentReading(Inference())
    for chunk in chunks if isinstance(chunks, list) else [chunks]:
        if isinstance(chunk, dict):
            reading.add(chunk)
    return joined(reading.operation().output or [])


def prompt_in(content: Any) -> str | None:
    """Return what the user typed, of the content of a message; None if it has nothing of it."""
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else _text_of(part) for part in parts]
    typed = [text for text in texts if text and not text.startswith(_CONTEXT)]
    return "\n".join(typed) or None


def _text_of(part: Any) -> str | None:
    if not isinstance(part, dict):
        return None
    text = part.get("text", part.get("content") if part.get("type") == "text" else None)
    return text if isinstance(text, str) else None


def response_in(parts: Any) -> dict[str, Any] | None:
    """Return the response of a tool in the parts that the model is sent."""
    for part in parts if isinstance(parts, list) else [parts]:
        if isinstance(part, dict) and isinstance(inner := part.get("functionResponse"), dict):
            response = inner.get("response")
            return response if isinstance(response, dict) else None
    return None


def with_response(
    call: ToolExecution,
    response: dict[str, Any],
    kind: str | None = None,
    exit_code: int | None = None,
) -> ToolExecution:
    """Return a call with its outcome.

    Args:
        call: the call.
        response: what the model is sent, with the member `output` or `error`.
        kind: type of the error, if the record has one.
        exit_code: that of a command, if the record has one.
    """
    if (failure := response.get("error")) is not None:
        words = failure if isinstance(failure, str) else None
        return replace(call, error_type=described(kind, words), error_message=words)
    result = response["output"] if response.keys() == {"output"} else response
    if call.name == SHELL and exit_code is None and isinstance(result, str):
        exit_code = _exit_code(result)
    done = replace(call, result=result, exit_code=exit_code)
    if not exit_code:
        return done
    return replace(done, error_type="tool_error", error_message=f"exit code {exit_code}")


def ended_call(call: ToolExecution, ended: dict[str, Any]) -> ToolExecution:
    """Return a call with its outcome, as spans have it."""
    kind, data = ended.get("errorType"), ended.get("data")
    kind = kind if isinstance(kind, str) else None
    code = data.get("exitCode") if isinstance(data, dict) else None
    response = response_in(ended.get("responseParts"))
    if response is not None:
        return with_response(call, response, kind, code if type(code) is int else None)
    return call if kind is None else replace(call, error_type=described(kind, None))


def described(kind: str | None, words: str | None) -> str:
    """Return the error type of a call that failed."""
    if kind in _DENIED_TYPES or (words and _DENIALS.search(words)):
        return DENIED
    return kind or "tool_error"


def ending_in(result: object) -> str | None:
    """Return the reason why a sub-agent ended, which is in the result of its call."""
    content = result.get("llmContent") if isinstance(result, dict) else result
    texts = [_text_of(part) for part in content] if isinstance(content, list) else [content]
    found = _ENDING.match(texts[0]) if texts and isinstance(texts[0], str) else None
    return None if found is None else found[1]


def with_ending(agent: AgentInvocation, reason: object) -> AgentInvocation:
    """Return a sub-agent with its failure, unless the reason is that it reached its goal."""
    if not isinstance(reason, str) or reason in ("", _GOAL):
        return agent
    return replace(agent, error_type=reason, error_message="ended without its goal")


def _exit_code(text: str) -> int | None:
    """Return the exit code of a command; 0 has no line of its own in a text that is whole."""
    if found := _EXIT_CODE.search(text):
        return int(found[1])
    return 0 if _IS_WHOLE.search(text) and not _HIDES_CODE.search(text) else None


def model_entry(
    call: Operation, record: SpanRecord, channel: Channel, keys: tuple[str, ...], agent: str | None
) -> Entry:
    """Return the entry of a model call, without an answer if Gemini CLI asks for itself."""
    is_internal = _is_internal(record)
    if is_internal and isinstance(call, Inference) and call.output:
        extra = {**call.extra, "response_text": json_codec.dumps(call.output)}
        call = replace(call, output=None, extra=extra)
    return Entry("model", call, record, channel, keys, agent, is_internal=is_internal)


def _is_internal(record: SpanRecord) -> bool:
    """Return whether Gemini CLI asks for itself: which model to use, for example. Such a request
    offers no tools."""
    role = record.attributes.get("role")
    if role is None:
        return record.attributes.get(gen_ai.TOOL_DEFINITIONS) == "[]"
    return str(role).startswith("utility")
