"""VoltAgent: agents, model calls, tools and memory, distinguished by span.type or entity.type.

Source: mlflow `tracing/otel/translation/voltagent.py` 3.17.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["VoltAgent"]

_INPUT, _OUTPUT = "input", "output"
_OPERATIONS = {"agent": "invoke_agent", "llm": "chat", "tool": "execute_tool"}
_NAMES = {
    "voltagent.conversation_id": gen_ai.CONVERSATION_ID,
    "conversation.id": gen_ai.CONVERSATION_ID,
    "agent.name": gen_ai.AGENT_NAME,
    "tool.name": gen_ai.TOOL_NAME,
    "tool.call.id": gen_ai.TOOL_CALL_ID,
    "llm.model": gen_ai.REQUEST_MODEL,
    "ai.model.name": gen_ai.REQUEST_MODEL,
    "agent.messages": _INPUT,
    "llm.messages": _INPUT,
}
_TOKENS = {
    "prompt_tokens": gen_ai.USAGE_INPUT_TOKENS,
    "completion_tokens": gen_ai.USAGE_OUTPUT_TOKENS,
    "total_tokens": gen_ai.USAGE_TOTAL_TOKENS,
    "cached_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "reasoning_tokens": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
}
_CALL = "llm.operation"
"""Of newer versions, whose model span holds all steps of a run and the usage of the last one; the
agent's span around it has the usage of all."""
_WRITES = ("write", "save", "add", "create", "store", "set", "update")


class VoltAgent:
    """The dialect."""

    name = "voltagent"
    markers = Markers(keys=("voltagent.", "entity.type"))
    content = Content(
        attributes=(
            _INPUT,
            _OUTPUT,
            "agent.instructions",
            "agent.messages",
            "agent.messages.",
            "llm.messages",
            "agent.stateSnapshot",
        ),
        keeps=("llm.messages.count",),
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = any(key.startswith("voltagent.") for key in span.attributes)
        if ours or span.attributes.get("entity.type") in (*_OPERATIONS, "memory"):
            return Confidence(OWN_ROLE, "has voltagent.* or its entity.type")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        kinds = [span.text("span.type"), span.text("entity.type")]
        kind = next((kind for kind in kinds if kind is not None), "")
        if _CALL in span.rest:
            onto.drop(span, *(f"llm.usage.{key}" for key in _TOKENS))
        for prefix in ("usage.", "llm.usage."):
            onto.rename(span, {prefix + key: to for key, to in _TOKENS.items()})
        onto.rename(span, _NAMES)
        if (reason := span.text("llm.finish_reason")) is not None:
            span.rest[gen_ai.RESPONSE_FINISH_REASONS] = [str(finish_reason(reason))]
        if kind == "memory":
            return _read_memory(span)
        return read_call(span, _OPERATIONS.get(kind), None, _INPUT, _OUTPUT)


def _read_memory(span: Reader) -> Operation:
    name = span.span.name.lower()
    if any(word in name for word in _WRITES):
        onto.rename(span, {_INPUT: agentool.MEMORY_CONTENT})
        return onto.as_operation(span, "upsert_memory")
    onto.rename(span, {_OUTPUT: agentool.MEMORY_RESULTS, _INPUT: gen_ai.MEMORY_QUERY_TEXT})
    return onto.as_operation(span, "search_memory")
