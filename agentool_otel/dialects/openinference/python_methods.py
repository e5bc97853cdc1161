"""Spans of OpenInference's instrumentors of LlamaIndex and DSPy: methods and their arguments.

Source: openinference-instrumentation-llama-index 4.6, `_handler.py`, and -dspy 0.1, `__init__.py`;
LlamaIndex 0.14, `llama_index/core/tools/types.py` (`ToolOutput`).
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, structs

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import LazyJson, Reader
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.operations import ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import openinference as oi

__all__ = ["is_inner", "is_workflow", "unwrap_input", "unwrap_tool_method"]

_LLAMA_INDEX = "openinference.instrumentation.llama_index"
_DSPY = "openinference.instrumentation.dspy"


def is_inner(span: SpanRecord) -> bool:
    """Return whether a span is the inner half of its parent's call: `OpenAI._prepare…`,
    `VectorIndexRetriever._retrieve` within `VectorIndexRetriever.retrieve`.
    """
    return span.scope == _LLAMA_INDEX and "._" in span.name


def is_workflow(span: SpanRecord) -> bool:
    """Return whether a span is a workflow run, whose input is its initial state.

    Agents are workflows. Its question and answer are not on the span, but in the calls inside.
    """
    value = span.attributes.get(oi.INPUT_VALUE)
    return (
        span.scope == _LLAMA_INDEX
        and isinstance(value, str)
        and value.startswith('{"init_state": ')
    )


def unwrap_tool_method(span: SpanRecord, operation: ToolExecution) -> ToolExecution:
    """Take the arguments out of the call of a tool's method, the result out of a `ToolOutput`."""
    if span.scope not in (_LLAMA_INDEX, _DSPY):
        return operation
    call, output = _plain(operation.arguments), _plain(operation.result)
    if not isinstance(call, dict) or not call.keys() <= {"args", "kwargs"}:
        return operation
    arguments = call.get("kwargs", UNSET)
    result, error = operation.result, operation.tool_error
    if isinstance(output, dict) and "raw_output" in output:
        result = output["raw_output"]
        raw_input = output.get("raw_input")
        if isinstance(raw_input, dict) and isinstance(raw_input.get("kwargs"), dict):
            arguments = raw_input["kwargs"]  # without the context that LlamaIndex adds to them
        if output.get("is_error") is True and error is None:
            error = str(result)
    return structs.replace(operation, arguments=arguments, result=result, tool_error=error)


def unwrap_input(span: Reader) -> None:
    """Take the input of a DSPy module out of the arguments of its `forward`."""
    value = json_or_text(span.rest.get(oi.INPUT_VALUE)) if span.span.scope == _DSPY else None
    if isinstance(value, dict) and value.keys() == {"input_args"}:
        span.rest[oi.INPUT_VALUE] = dumps(value["input_args"])


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, LazyJson) else value
