"""Weights & Biases Weave: its own calls, and GenAI names with ids of such calls beside them.

Source: weave 0.54 `trace/otel_span_attrs.py`, `conversation/conversation_otel.py`; the names that
`integrations/weave/store.py` gives to the fields of a call. A call of a traced function has a
kind only in newer versions; calls of providers' SDKs are recognised by the end of their names.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    EXTENDS,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, read_costs, run_at_root, set_usage
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Weave"]

_NAME, _INPUTS, _OUTPUT = "weave.op_name", "weave.inputs", "weave.output"
_OPERATIONS = {"llm": "chat", "tool": "execute_tool", "agent": "invoke_agent"}
_OF_MODELS = (
    *("completions.create", "completions.parse", "responses.create", "responses.parse"),
    *("Messages.create", "Messages.stream", "completion", "generate_content", "ChatOpenAI"),
)


class Weave:
    """The dialect."""

    name = "weave"
    markers = Markers(keys=("weave.",))
    content = Content(
        attributes=(
            _INPUTS,
            _OUTPUT,
            "wandb.agent_user_feedback",
            "gen_ai.conversation.name",
            "weave.openai_agents.custom.",
            "weave.openai_agents.error.data",
            "weave.openai_agents.mcp.result",
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _NAME in span.attributes:
            return Confidence(OWN_ROLE, f"has {_NAME}")
        has_operation = gen_ai.OPERATION_NAME in span.attributes
        ours = any(key.startswith("weave.") for key in span.attributes)
        return Confidence((EXTENDS if has_operation else CENSUS) if ours else 0.0, "has weave.*")

    def read(self, span: Reader) -> Operation:
        onto.rename(span, {"weave.thread_id": gen_ai.CONVERSATION_ID})
        return _read_call(span) if _NAME in span.rest else onto.as_operation(span)


def _read_call(span: Reader) -> Operation:
    name = span.text(_NAME) or ""
    operation = _OPERATIONS.get(span.text("weave.kind") or "")
    if name.endswith(_OF_MODELS):
        operation = "chat"
    operation = operation or run_at_root(span, _INPUTS, _OUTPUT)
    if operation == "chat":
        onto.rename(span, {"weave.model": gen_ai.REQUEST_MODEL})
        set_usage(span, span.json("weave.usage", keep_text=False))
        onto.put(span, agentool.COST_USD, read_costs(span.json("weave.costs", keep_text=False)))
    return read_call(span, operation, name, _INPUTS, _OUTPUT)
