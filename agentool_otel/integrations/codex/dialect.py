"""Codex CLI: a span per turn and per response, and log records without spans.

Source: openai/codex `codex-rs/otel/src/events/session_telemetry.rs`, `core/src/tasks/mod.rs`. The
usage of a turn is a roll-up of its responses.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    SPAN_NAME,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import Channel, Entry, session_links
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.integrations.codex.events.names import FILE, SCOPES
from agentool_otel.integrations.codex.events.records import entries_of
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Codex"]

_ANSWER = "codex.agent_response"
_TURN = "codex.turn.token_usage."
_USAGE = "codex.usage."
_NAMES = {
    "conversation.id": gen_ai.CONVERSATION_ID,
    "model": gen_ai.REQUEST_MODEL,
    **{
        prefix + key: attribute
        for prefix in (_TURN, _USAGE)
        for key, attribute in (
            ("input_tokens", gen_ai.USAGE_INPUT_TOKENS),
            ("cached_input_tokens", gen_ai.USAGE_CACHE_READ_INPUT_TOKENS),
            ("cache_write_input_tokens", gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
            ("output_tokens", gen_ai.USAGE_OUTPUT_TOKENS),
            ("reasoning_output_tokens", gen_ai.USAGE_REASONING_OUTPUT_TOKENS),
            ("total_tokens", gen_ai.USAGE_TOTAL_TOKENS),
        )
    },
    "input_token_count": gen_ai.USAGE_INPUT_TOKENS,
    "output_token_count": gen_ai.USAGE_OUTPUT_TOKENS,
    "cached_token_count": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "reasoning_token_count": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
    "tool_name": gen_ai.TOOL_NAME,
    "call_id": gen_ai.TOOL_CALL_ID,
    "arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    "duration_ms": agentool.TOOL_DURATION_MS,
}


_COMMANDS = (("exec_command", "cmd"), ("shell", "command"), ("local_shell", "command"))
_EXIT_CODES = (r"\A(?:.*\n){0,5}?Process exited with code (-?\d+)", r"\AExit code: (-?\d+)")


class Codex:
    """The dialect."""

    name = "codex"
    agent_tools = AgentTools(
        commands=_COMMANDS,
        edits=(("apply_patch", "input"), ("apply_patch", "patch")),
        exit_codes=tuple((name, words) for name, _ in _COMMANDS for words in _EXIT_CODES),
    )
    prompt_ids = ("turn.id",)
    markers = Markers(keys=("codex.",), scopes=SCOPES, names=("codex.",))
    content = Content(attributes=("prompt", "arguments", "output"), events=(_ANSWER,))

    values_from = (Channel.FILE, Channel.LOG, Channel.SPAN)
    makes_spans = True

    def owns(self, span: SpanRecord) -> bool:
        return span.scope.startswith(SCOPES)

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return entries_of(records, self.read)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        return session_links(spans, self, "conversation.id", "parent.conversation.id")

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return combined(spans, self, FILE)

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope == FILE:
            return Confidence(OWN_ROLE, f"scope {span.scope}")
        if span.name.startswith(("session_task.turn", "handle_responses", "codex.")):
            is_ours = span.scope.startswith(SCOPES) or any(
                key.startswith("codex.") for key in span.attributes
            )
            return Confidence(OWN_ROLE if is_ours else SPAN_NAME, f"span {span.name}")
        if span.scope.startswith(SCOPES):
            return Confidence(SCOPE, f"scope {span.scope}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.scope == FILE:
            return onto.as_operation(span)
        name = span.span.name
        if name.startswith("session_task.turn") or name == "codex.user_prompt":
            return _read_turn(span)
        if name == "codex.tool_result":
            return _read_tool(span)
        streamed = name == "codex.sse_event" and _kind(span) == "response.completed"
        if streamed or name.startswith("handle_responses"):
            onto.drop(span, "event.kind", "kind")
            onto.rename(span, {key: to for key, to in _NAMES.items() if key != "duration_ms"})
            onto.put(span, gen_ai.PROVIDER_NAME, "openai")
            return onto.as_operation(span, "chat")
        onto.rename(span, {"conversation.id": gen_ai.CONVERSATION_ID})
        if name == _ANSWER:
            onto.put(span, agentool.OUTPUT, span.text("response"))
        return onto.unclassified(span)


def _kind(span: Reader) -> object:
    return span.rest.get("event.kind", span.rest.get("kind"))


def _read_turn(span: Reader) -> Operation:
    onto.rename(span, {**_NAMES, "thread.id": gen_ai.CONVERSATION_ID})
    onto.put(span, gen_ai.AGENT_NAME, "codex")
    for event in span.span.events:
        if event.name == "codex.user_prompt":
            prompt = onto.as_messages(event.attributes.get("prompt"), "user")
            onto.put(span, gen_ai.INPUT_MESSAGES, prompt or None)
    onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", "prompt")
    return onto.as_operation(span, "invoke_agent")


def _read_tool(span: Reader) -> Operation:
    onto.rename(span, _NAMES)
    output, succeeded = span.json("output"), span.boolean("success")
    onto.set_result(span, output)
    if succeeded is False:
        onto.put(span, agentool.TOOL_ERROR, output if isinstance(output, str) else "failed")
    return onto.as_operation(span, "execute_tool")
