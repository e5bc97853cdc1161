"""MLflow Tracing: types, inputs and outputs of its own, also around OpenTelemetry spans.

Source: mlflow 3.17.2 `mlflow/tracing/constant.py`, `mlflow/entities/span.py`. Every attribute of
its own is JSON text, also a plain word (`"AGENT"`).
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    AROUND,
    CENSUS,
    NOT_MINE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_envelope import read_around
from agentool_otel.dialects.kit.store_spans import read_call, read_costs, run_at_root, set_usage
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["MLflow"]

_TYPE, _INPUTS, _OUTPUTS = "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"
_OPERATIONS = {
    "LLM": "chat",
    "CHAT_MODEL": "chat",
    "AGENT": "invoke_agent",
    "WORKFLOW": "invoke_workflow",
    "TOOL": "execute_tool",
    "RETRIEVER": "retrieval",
    "EMBEDDING": "embeddings",
}
_WORDS = {
    "mlflow.trace.session": gen_ai.CONVERSATION_ID,
    "mlflow.llm.model": gen_ai.REQUEST_MODEL,
    "mlflow.llm.provider": gen_ai.PROVIDER_NAME,
}


_OF_TRACES = (
    *("mlflow.traceInputs", "mlflow.traceOutputs", "mlflow.trace.intermediate_outputs"),
    "mlflow.prompt.text",
)


class MLflow:
    """The dialect."""

    name = "mlflow"
    markers = Markers(keys=("mlflow.",))
    content = Content(
        attributes=(
            _INPUTS,
            _OUTPUTS,
            "mlflow.chat.tools",
            "mlflow.chunk.value",
            "tools",
            *_OF_TRACES,
            *("mlflow.source.git.diff", "mlflow.auth.username"),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _TYPE in span.attributes:
            return Confidence(AROUND, f"has {_TYPE}")
        if _INPUTS in span.attributes or _OUTPUTS in span.attributes:
            return Confidence(CENSUS, "has mlflow.span*")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        return read_around(span, ("mlflow.",), _read_own)


def _read_own(span: Reader, operation: str | None) -> Operation:
    kind = str(json_or_text(span.text(_TYPE)))
    guessed = operation is None and kind in ("CHAIN", "UNKNOWN", "TASK", "None")
    operation = operation or _OPERATIONS.get(kind)
    if operation is None and guessed:
        operation = run_at_root(span, _INPUTS, _OUTPUTS)
    for key, target in _WORDS.items():
        word = json_or_text(span.rest.get(key))
        if isinstance(word, str):
            onto.drop(span, key)
            onto.put(span, target, word)
    if operation in ("chat", "embeddings"):
        set_usage(span, span.json("mlflow.chat.tokenUsage", keep_text=False))
        onto.put(span, agentool.COST_USD, read_costs(span.json("mlflow.llm.cost")))
        if "mlflow.chat.tools" in span.rest:
            tools = onto.definitions(span.json("mlflow.chat.tools"))
            onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)
    return read_call(span, operation, None, _INPUTS, _OUTPUTS)
