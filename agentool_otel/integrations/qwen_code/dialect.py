"""Qwen Code: GenAI names for spans, and log records with names of its own.

Source: records of Qwen Code 0.24.4. Log records count thoughts in the answer for OpenAI's API; the
total shows it. The span of a tool's execution is of the same call as the span around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import Channel, Entry, session_links
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.integrations.qwen_code.events import names
from agentool_otel.integrations.qwen_code.events.calls import (
    CANCELLED,
    error_kind,
    exit_code_in,
    usage_of,
)
from agentool_otel.integrations.qwen_code.events.records import entries_of
from agentool_otel.integrations.qwen_code.tools import TOOLS
from agentool_otel.model.messages import Message, message, parts_of, text
from agentool_otel.model.operations import Inference, Operation, ToolExecution, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["QwenCode"]

_SCOPES = (names.SCOPE, names.FILE)
_NAMES = {
    "session.id": gen_ai.CONVERSATION_ID,
    "call_id": gen_ai.TOOL_CALL_ID,
    "tool.call_id": gen_ai.TOOL_CALL_ID,
    "tool_name": gen_ai.TOOL_NAME,
    "function_name": gen_ai.TOOL_NAME,
    "function_args": gen_ai.TOOL_CALL_ARGUMENTS,
    "model": gen_ai.REQUEST_MODEL,
    "duration_ms": agentool.TOOL_DURATION_MS,
}
_PROMPT = "[USER PROMPT]\n"
_COUNTS = ("input", "output", "cached_content", "thoughts", "total")


class QwenCode:
    """The dialect."""

    name = "qwen_code"
    agent_tools = TOOLS
    prompt_ids = ("prompt_id",)
    markers = Markers(scopes=_SCOPES, names=(names.PREFIX,))
    content = Content(
        attributes=("prompt", "function_args", "request_text", "response_text", "new_context",
                    "result"),
    )  # fmt: skip

    values_from = (Channel.FILE, Channel.SPAN, Channel.LOG)
    makes_spans = True

    def owns(self, span: SpanRecord) -> bool:
        return span.scope in _SCOPES

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return entries_of(records, self.read)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        return session_links(spans, self, "session.id")

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return combined(spans, self, names.FILE)

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope in _SCOPES:
            has_operation = gen_ai.OPERATION_NAME in span.attributes
            return Confidence(EXTENDS if has_operation else SCOPE, f"scope {span.scope}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.scope == names.FILE:
            return onto.as_operation(span)
        kind = (span.text("event.name") or span.span.name).removeprefix(names.PREFIX)
        onto.rename(span, _NAMES)
        if kind in ("interaction", "user_prompt"):
            onto.put(span, gen_ai.AGENT_NAME, names.AGENT)
            onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", "prompt")
            typed = span.text("new_context") or ""
            if typed.startswith(_PROMPT) and gen_ai.INPUT_MESSAGES not in span.rest:
                # a blank prompt is nowhere else
                content = typed.removeprefix(_PROMPT)
                span.rest[gen_ai.INPUT_MESSAGES] = [message("user", [text(content)])]
            return onto.as_operation(span, "invoke_agent")
        if kind == "subagent":
            return onto.as_operation(span, "invoke_agent")
        if kind in ("llm_request", "api_response", "api_error", "api_cancel"):
            return _read_model_call(span)
        if kind in ("tool", "tool.execution", "tool_call"):
            return _read_tool(span)
        return onto.unclassified(span)


def _read_model_call(span: Reader) -> Operation:
    onto.rename(span, {"response_id": gen_ai.RESPONSE_ID})
    onto.drop(span, agentool.TOOL_DURATION_MS)
    onto.move_messages(span, gen_ai.OUTPUT_MESSAGES, "assistant", "response_text")
    counts = [span.integer(f"{name}_token_count") for name in _COUNTS]
    status, words = span.integer("error_status_code"), span.text("error_message")
    status = status or span.integer("status_code")
    kind = span.text("error_type")
    read = onto.as_operation(span, "chat")
    if not isinstance(read, Inference):
        return read
    output = [_without_empty(item) for item in read.output] if read.output else None
    read = replace(read, output=output, usage=_usage(read.usage, counts))
    if kind is None and words is None and read.error_type is None:
        return read
    error = str(status) if status is not None else kind or read.error_type
    return replace(read, error_type=error, error_message=words or read.error_message)


def _usage(own: Usage | None, counts: list[int | None]) -> Usage | None:
    """Return token counts: those of the conventions with the thoughts, which have a name of Qwen
    Code's there, too; else those of a log record."""
    asked, answered, cached, thoughts, total = counts
    if own is None or own.output_tokens is None:
        return usage_of(asked, answered, cached, thoughts, total) or own
    return own if own.reasoning_tokens is not None else replace(own, reasoning_tokens=thoughts)


def _without_empty(item: Message) -> Message:
    parts = [part for part in parts_of(item) if part != {"type": "text", "content": ""}]
    return {**item, "parts": parts}


def _read_tool(span: Reader) -> Operation:
    succeeded, words = span.boolean("success"), span.text("error")
    kinds: list[Any] = [span.text("error_type"), span.text("tool.failure_kind")]
    statuses = [span.text("status"), span.text("execution_status")]
    if CANCELLED in statuses:
        kinds.insert(0, CANCELLED)
    result = span.json(gen_ai.TOOL_CALL_RESULT)
    if isinstance(result, dict) and result.keys() == {"output"}:
        result = result["output"]
    onto.set_result(span, result)
    read = onto.as_operation(span, "execute_tool")
    if not isinstance(read, ToolExecution):
        return read
    read = replace(read, exit_code=exit_code_in(read.name, read.result))
    if succeeded is not False and words is None and read.error_type is None:
        return read
    kind = next(filter(None, [*kinds, read.error_type]), None)
    return replace(
        read,
        error_type=error_kind(None if kind == core.ERROR_TYPE_OTHER else kind),
        error_message=words or read.error_message,
        exit_code=exit_code_in(read.name, words) if read.exit_code is None else read.exit_code,
    )
