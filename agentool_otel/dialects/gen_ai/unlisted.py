"""Operation of a span whose `gen_ai.operation.name` is missing or not in the convention's list.

SDKs use names of their own: `generateText` (Grafana's agento11y 0.21), `tool_call`, `agent`, `llm`.
Such a name counts as absent, and the other attributes decide.
"""

from __future__ import annotations

from agentool_otel.model.spans import Attributes
from agentool_otel.semconv import gen_ai

__all__ = ["operation_of"]

_OF_TOOLS = frozenset({gen_ai.TOOL_NAME, gen_ai.TOOL_CALL_ARGUMENTS, gen_ai.TOOL_CALL_RESULT})
_OF_RETRIEVALS = frozenset({gen_ai.RETRIEVAL_QUERY_TEXT, gen_ai.RETRIEVAL_DOCUMENTS})
_OF_MODELS = frozenset(
    {
        gen_ai.REQUEST_MODEL,
        gen_ai.RESPONSE_MODEL,
        gen_ai.RESPONSE_ID,
        gen_ai.RESPONSE_FINISH_REASONS,
        "gen_ai.latency.e2e",
    }
)
"""Attributes that only model calls have; the last is all that vLLM's own span has
(vllm-project/vllm `vllm/v1/engine/output_processor.py`, 2026-08: counts and times, no model)."""
_OF_ANSWERS = frozenset({gen_ai.RESPONSE_ID, gen_ai.RESPONSE_FINISH_REASONS})
"""Those of them that no agent has, even where its name is on each span below it."""
_OF_AGENTS = frozenset({gen_ai.AGENT_NAME, gen_ai.AGENT_ID})
_MESSAGES = frozenset({gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES})


def operation_of(name: str | None, attributes: Attributes) -> str | None:
    """Return the operation of the convention that the attributes show; None if they show none.

    Args:
        name: the operation name of the span, if there is one. It only distinguishes an agent or an
            embedding from a model call with the same attributes.
        attributes: the attributes of the span, under the names of the current convention.
    """
    keys = attributes.keys()
    word = name.lower() if name else ""
    if not keys.isdisjoint(_OF_TOOLS):
        return "execute_tool"
    if not keys.isdisjoint(_OF_RETRIEVALS):
        return "retrieval"
    is_answered = not keys.isdisjoint(_OF_ANSWERS)
    if "agent" in word and not is_answered and not keys.isdisjoint(_OF_AGENTS):
        return "invoke_agent"
    if not keys.isdisjoint(_OF_MODELS):
        embeds = "embed" in word or gen_ai.EMBEDDINGS_DIMENSION_COUNT in keys
        return "embeddings" if embeds else "chat"
    if not keys.isdisjoint(_MESSAGES):
        return "chat" if keys.isdisjoint(_OF_AGENTS) else "invoke_agent"
    return None
