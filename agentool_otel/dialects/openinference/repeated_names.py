"""OpenInference's names in addition to ours on a finished span: many backends show only those.

Whatever is added repeats what the span has, in the form that most backends show, and is marked as a
repetition (`agentool.also`): this package reads such a span as if nothing had been added.

Sources of what is read where, November 2026: Phoenix 20.26 and MLflow 3.17 (kind, `input.value`,
`output.value`, documents, `session.id`; as chat only messages in OpenAI's shape), Langfuse
`packages/shared/src/server/otel/OtelIngestionProcessor.ts` (the same, and a start of the answer
that is JSON text). Model calls have no kind here: all know them by `gen_ai.operation.name`, and
MLflow would take LLM for less than its CHAT_MODEL.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from msgspec import UNSET, structs

from agentool_otel.dialects.kit.dialect import classify
from agentool_otel.dialects.kit.reading import LazyJson
from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.dialects.openinference import openai_shape as openai
from agentool_otel.dialects.openinference import values
from agentool_otel.dialects.openinference.writing import kind_of
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, text_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import agentool
from agentool_otel.semconv import openinference as oi

__all__ = ["added_names", "without_added_names"]

_OURS = "agentool_otel"
_COMPLETION_START = "langfuse.observation.completion_start_time"
_DOCUMENTS = oi.RETRIEVAL_DOCUMENTS + "."
_ADDED = frozenset({
    *(oi.SPAN_KIND, oi.INPUT_VALUE, oi.INPUT_MIME_TYPE, oi.OUTPUT_VALUE, oi.OUTPUT_MIME_TYPE),
    *(oi.SESSION_ID, oi.LLM_TOKENS_REASONING, _COMPLETION_START, oi.RETRIEVAL_DOCUMENTS),
})  # fmt: skip
"""All that is ever added; the last one stands for all names below it."""


def added_names(span: SpanRecord) -> Attributes:
    """Return the attributes to add to a finished span of ours; none for any other span.

    Only what the span has is repeated. A name that is there already keeps its value.
    """
    attributes = span.attributes
    if (
        not span.scope.startswith(_OURS)
        or oi.SPAN_KIND in attributes
        or agentool.ALSO in attributes
    ):
        return {}
    dialect, operation = classify(span)
    if dialect not in ("gen_ai", None):
        return {}
    added: Attributes = {}
    if not isinstance(operation, (Inference, Embeddings)):
        added[oi.SPAN_KIND] = _kind(operation)
    session = operation.conversation_id or attributes.get(agentool.SESSION_ID)
    if isinstance(session, str):
        added[oi.SESSION_ID] = session
    _add_values(operation, added)
    if isinstance(operation, Retrieval):
        flat.write_documents(oi.RETRIEVAL_DOCUMENTS, operation.documents or (), added)
    if isinstance(operation, Inference):
        _add_numbers(operation, span.start_ns, added)
    foreign = {_family(key) for key in attributes} & _ADDED
    names = {key: value for key, value in added.items() if _family(key) not in foreign}
    if not names:
        return {}
    return {**names, agentool.ALSO: " ".join((agentool.VOCABULARIES[0], *sorted(foreign)))}


def without_added_names(span: SpanRecord) -> SpanRecord:
    """Return a span as it was before `added_names`."""
    value = span.attributes.get(agentool.ALSO)
    if not isinstance(value, str):
        return span
    vocabulary, *theirs = value.split(" ")
    if vocabulary not in agentool.VOCABULARIES:
        return span
    added = _ADDED.difference(theirs) | {agentool.ALSO}
    return structs.replace(
        span, attributes={k: v for k, v in span.attributes.items() if _family(k) not in added}
    )


def _family(key: str) -> str:
    return oi.RETRIEVAL_DOCUMENTS if key.startswith(_DOCUMENTS) else key


def _kind(op: Operation) -> str:
    if isinstance(op, MemoryOperation) and op.reads:
        return oi.RETRIEVER
    return kind_of(op)


def _add_values(op: Operation, into: Attributes) -> None:
    """Add input and output: of runs as plain text, of model calls in the shape of OpenAI's API, of
    everything else as JSON or text."""
    match op:
        case Inference():
            input_value, output_value = openai.request(op), openai.completion(op)
            _add(oi.INPUT_VALUE, UNSET if input_value is None else input_value, into)
            _add(oi.OUTPUT_VALUE, UNSET if output_value is None else output_value, into)
        case AgentInvocation() | WorkflowInvocation():
            _add(oi.INPUT_VALUE, _last_text(op.input, op.extra.get(agentool.INPUT)), into)
            _add(oi.OUTPUT_VALUE, _last_text(op.output, op.extra.get(agentool.OUTPUT)), into)
        case ToolExecution(arguments=input_value, result=output_value):
            message, error = op.transfer_message, op.tool_error
            _add(oi.INPUT_VALUE, _or(input_value, message), into)
            _add(oi.OUTPUT_VALUE, _or(output_value, error), into)
        case McpRequest(arguments=input_value, result=output_value):
            _add(oi.INPUT_VALUE, input_value, into)
            _add(oi.OUTPUT_VALUE, output_value, into)
        case Retrieval():
            _add(oi.INPUT_VALUE, _or(UNSET, op.query), into)
            if op.documents:
                _add(oi.OUTPUT_VALUE, [_document(document) for document in op.documents], into)
        case MemoryOperation():
            _add(oi.INPUT_VALUE, _or(_memory(op), op.query), into)
            _add(oi.OUTPUT_VALUE, _or(op.results, op.records), into)
        case _:
            pass


def _add(key: str, value: Any, into: Attributes) -> None:
    """Add a value with its MIME type."""
    values.write_value(key, value, into)


def _or(value: Any, other: Any) -> Any:
    """Return a value, or another if it was not captured; UNSET for neither."""
    if value is not UNSET:
        return value
    return UNSET if other is None else other


def _last_text(messages: Any, otherwise: Any) -> Any:
    """Return the text of the last message; without messages, the JSON value in their place."""
    listed: list[Message] = list(messages or ())
    words = text_of(listed[-1]) if listed else None
    if words is not None:
        return words
    return LazyJson(otherwise) if isinstance(otherwise, str) else UNSET


def _document(document: Any) -> Any:
    """Return a document in the shape in which MLflow lists it, as LangChain has it."""
    if not isinstance(document, dict):
        return document
    metadata_value, content = document.get("metadata"), document.get("content")
    others = {key: document[key] for key in ("id", "score") if document.get(key) is not None}
    metadata = {**(metadata_value if isinstance(metadata_value, dict) else {}), **others}
    text = content if isinstance(content, str) else dumps(content)
    return {"page_content": text, "metadata": metadata}


def _memory(op: MemoryOperation) -> Any:
    """Return the written value, under its key if it has one."""
    if op.content is UNSET or op.record_id is None:
        return op.content
    return {"key": op.record_id, "content": op.content}


def _add_numbers(op: Inference, start_ns: int | None, into: Attributes) -> None:
    if op.usage is not None and op.usage.reasoning_tokens is not None:
        into[oi.LLM_TOKENS_REASONING] = op.usage.reasoning_tokens
    if start_ns is not None and op.time_to_first_chunk_s is not None:
        with suppress(ValueError, OverflowError, OSError):  # a number that is no time
            at = datetime.fromtimestamp(start_ns / 1e9 + op.time_to_first_chunk_s, timezone.utc)
            time = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            into[_COMPLETION_START] = dumps(time)
