"""Mastra: a span type, and an input and output named after it.

Source: langwatch `canonicalisation/extractors/mastra.ts`; mastra-ai/mastra
`observability/otel-exporter` 1.4. A model call is three spans, one in the other: the generation
with all its steps, a step with its text and tool calls, and the inference with its usage.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.provider_messages import json_or_text, parts_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.mastra.dialect.older import (
    OLDER_CONTENT,
    OLDER_MARKERS,
    is_older,
    read_older,
)
from agentool_otel.model.messages import Message, Part, message, reasoning, text
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import gen_ai

__all__ = ["Mastra"]

_TYPE = "mastra.span.type"
_INPUT, _OUTPUT = "mastra.input", "mastra.output"
_OPERATIONS = {
    "agent_run": "invoke_agent",
    "workflow_run": "invoke_workflow",
    "model_generation": "chat",
    "model_step": "chat",
    "model_inference": "chat",
    "tool_call": "execute_tool",
    "mcp_tool_call": "execute_tool",
}
_ANSWERS = ("agent_run", "model_generation", "model_step")
_NAME = re.compile(r"[^'\"\n]*['\"](.+?)['\"](?: on |$)")


class Mastra:
    """The dialect."""

    name = "mastra"
    markers = Markers(keys=(_TYPE, *OLDER_MARKERS))
    content = Content(
        attributes=(
            *("mastra.input", "mastra.output", "mastra.*.input", "mastra.*.output"),
            *(
                "mastra.metadata.body",
                "mastra.metadata.providerMetadata",
                "mastra.log.",
                "mastra.input.",
                "mastra.output.",
            ),
            *OLDER_CONTENT,
        ),
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _TYPE in span.attributes:
            return Confidence(OWN_ROLE, f"has {_TYPE}")
        if is_older(span.attributes):
            return Confidence(OWN_ROLE, "has the names of versions before 1")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if _TYPE not in span.rest:
            return read_older(span)
        kind = span.text(_TYPE) or ""
        if kind not in _OPERATIONS:  # a part of one, or of the workings of a workflow
            return onto.unclassified(span)
        onto.rename(
            span,
            {
                f"mastra.{kind}.input": _INPUT,
                f"mastra.{kind}.output": _OUTPUT,
                "mastra.metadata.threadId": gen_ai.CONVERSATION_ID,
            },
        )
        answer = _answer(span.rest.get(_OUTPUT)) if kind in _ANSWERS else None
        if answer is not None:
            onto.put(span, gen_ai.OUTPUT_MESSAGES, [answer])
            onto.drop(span, _OUTPUT)
        if kind == "model_inference":
            _read_inference(span)
        quoted = _NAME.match(span.span.name)  # "agent run: 'weather'", "mcp_tool: 'f' on 's'"
        return read_call(span, _OPERATIONS[kind], quoted[1] if quoted else None, _INPUT, _OUTPUT)


def _read_inference(span: Reader) -> None:
    """Read a model call. Its answer is text only: a parent step has the tool calls."""
    reasons = span.texts(gen_ai.RESPONSE_FINISH_REASONS)
    if reasons is None:
        return
    known_reasons = [finish_reason(reason) for reason in reasons]
    span.rest[gen_ai.RESPONSE_FINISH_REASONS] = known_reasons
    if "tool_call" in known_reasons:
        onto.drop(span, gen_ai.OUTPUT_MESSAGES)


def _answer(output: Any) -> Message | None:
    """Return reasoning, text and tool calls as a message; None for an output of another shape."""
    output = json_or_text(output)
    if not isinstance(output, dict) or output.keys().isdisjoint(("text", "object", "toolCalls")):
        return None
    parts: list[Part] = []
    if isinstance(thought := output.get("reasoningText"), str) and thought:
        parts.append(reasoning(thought))
    if isinstance(words := output.get("text"), str) and words:
        parts.append(text(words))
    elif (structured := output.get("object")) is not None:
        parts.append(text(onto.dumps(structured)))
    calls = output.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        parts += parts_from(call)
    return message("assistant", parts)
