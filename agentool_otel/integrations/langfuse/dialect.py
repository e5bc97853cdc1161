"""Langfuse: spans of its SDK, and spans of any vocabulary that its API gives back.

Source: langfuse/langfuse `packages/shared/src/server/otel/{attributes,ObservationTypeMapper}.ts`.
Costs are US dollars. What Langfuse moved into `langfuse.observation.input` and `.output` goes back
into the reading of the vocabulary the span was written in.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import langchain_values as langchain
from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    AROUND,
    CENSUS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_envelope import read_around
from agentool_otel.dialects.kit.store_spans import (
    read_call,
    read_costs,
    run_at_root,
    set_parameters,
    set_usage,
)
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import to_ns
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Langfuse"]

_OF = "langfuse.observation."
_TYPE, _INPUT, _OUTPUT = _OF + "type", _OF + "input", _OF + "output"
_OPERATIONS = {
    "generation": "chat",
    "embedding": "embeddings",
    "agent": "invoke_agent",
    "tool": "execute_tool",
    "retriever": "retrieval",
}
_TAKEN = {_INPUT: "gen_ai.prompt", _OUTPUT: "gen_ai.completion"}
"""Langfuse's names for the attributes that LangSmith's exporter writes values to."""
_SESSION = {"session.id": gen_ai.CONVERSATION_ID, "langfuse.session.id": gen_ai.CONVERSATION_ID}


class Langfuse:
    """The dialect."""

    name = "langfuse"
    markers = Markers(keys=("langfuse.",), scopes=("langfuse-sdk",))
    content = Content(
        attributes=(
            _INPUT,
            _OUTPUT,
            "langfuse.trace.input",
            "langfuse.trace.output",
            "langfuse.experiment.item.expected_output",
            _OF + "metadata.tools",
        ),
        objects=(_OF + "model.parameters",),
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _TYPE in span.attributes:
            return Confidence(AROUND, f"has {_TYPE}")
        if _INPUT in span.attributes or _OUTPUT in span.attributes:
            return Confidence(CENSUS, f"has {_OF}*")
        return Confidence(SCOPE, "scope") if span.scope == "langfuse-sdk" else NOT_MINE

    def read(self, span: Reader) -> Operation:
        if "langsmith.span.kind" in span.rest:
            onto.rename(span, _TAKEN)
        return read_around(span, ("langfuse.", "session.id"), _read_own)


def _read_own(span: Reader, operation: str | None) -> Operation:
    kind = (span.text(_TYPE) or "span").lower()
    node = json_or_text(span.rest.get(_OF + "metadata.langgraph_node"))
    if kind == "agent" and langchain.is_plumbing(span.span.name, node):
        kind = "chain"
    guessed = _guess_operation(span, kind) if operation is None else None
    operation = operation or _OPERATIONS.get(kind) or guessed
    level, described = span.rest.get(_OF + "level"), span.text(_OF + "status_message")
    onto.drop(span, _OF + "level")
    onto.rename(span, _SESSION)
    for key in ("langfuse_session_id", "thread_id"):  # what a callback was given; LangGraph's
        if gen_ai.CONVERSATION_ID not in span.rest:
            onto.put(span, gen_ai.CONVERSATION_ID, _metadata(span, key))
    if operation in ("chat", "embeddings"):
        _read_model_call(span)
    elif operation == "execute_tool":
        onto.put(span, gen_ai.TOOL_CALL_ID, _metadata(span, "tool_call_id"))
    name = _metadata(span, "lc_agent_name") if operation == "invoke_agent" else None
    read = read_call(span, operation, name, _INPUT, _OUTPUT)
    return onto.failed(read, "_OTHER", described) if level == "ERROR" else read


def _guess_operation(span: Reader, kind: str) -> str | None:
    """Return the operation of a span or chain: SDKs before 3.3 had no other types."""
    if kind not in ("span", "chain"):
        return None
    if langchain.tool_message(span.rest.get(_OUTPUT)) is not None:
        return "execute_tool"
    if not {_INPUT, _OUTPUT} <= span.rest.keys():
        return None
    is_graph = span.rest.get(_OF + "metadata.is_langchain_root") in (True, "true")
    return "invoke_agent" if is_graph else run_at_root(span, _INPUT)


def _metadata(span: Reader, key: str) -> str | None:
    """Take a text of the metadata; newer SDKs write it as JSON."""
    value = json_or_text(span.text(f"{_OF}metadata.{key}"))
    return value if isinstance(value, str) else None


def _read_model_call(span: Reader) -> None:
    onto.rename(span, {_OF + "model.name": gen_ai.REQUEST_MODEL})
    onto.put(span, gen_ai.PROVIDER_NAME, _metadata(span, "ls_provider"))
    set_parameters(span, span.json(_OF + "model.parameters", keep_text=False))
    _read_usage(span, span.json(_OF + "usage_details", keep_text=False))
    onto.put(span, agentool.COST_USD, read_costs(span.json(_OF + "cost_details", keep_text=False)))
    started = json_or_text(span.rest.get(_OF + "completion_start_time"))
    began = to_ns(started) if isinstance(started, str) else None
    if began is not None and span.span.start_ns is not None:
        onto.drop(span, _OF + "completion_start_time")
        seconds = (began - span.span.start_ns) / 1e9
        onto.put(span, gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK, seconds)


_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
    "input_cache_read": "cache_read",
    "input_cached_tokens": "cache_read",
    "input_cache_creation": "cache_creation",
    "input_cache_write": "cache_creation",
    "output_reasoning": "reasoning",
    "output_reasoning_tokens": "reasoning",
}


def _read_usage(span: Reader, usage: Any) -> None:
    if not isinstance(usage, dict):
        return
    counts = {key: value for key, value in usage.items() if isinstance(value, int)}
    if "input" in counts and "output" in counts:
        details = {
            side: sum(count for key, count in counts.items() if key.startswith(side + "_"))
            for side in ("input", "output")
        }
        # Langfuse prices by part, so most of its SDKs take the parts out of the whole.
        if counts.get("total") == counts["input"] + counts["output"] + sum(details.values()):
            for side, count in details.items():
                counts[side] += count
    named = {_TOKENS[key]: count for key, count in counts.items() if key in _TOKENS}
    set_usage(span, {**usage, **named})
