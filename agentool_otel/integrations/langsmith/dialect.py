"""LangSmith: runs as its OpenTelemetry exporter writes them.

Source: langchain-ai/langsmith-sdk `python/langsmith/_internal/otel/_otel_exporter.py` v0.15. The
span's kind decides, not its `gen_ai.operation.name`, which calls a retriever `embeddings`.
`langsmith.trace.session_*` is the project; a conversation is in the metadata.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    NOT_MINE,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.python_text import object_in
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, read_costs, run_at_root, set_usage
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["LangSmith"]

_KIND, _INPUTS, _OUTPUTS = "langsmith.span.kind", "gen_ai.prompt", "gen_ai.completion"
_OPERATIONS = {
    "llm": "chat",
    "tool": "execute_tool",
    "retriever": "retrieval",
    "embedding": "embeddings",
}
_NAMES = {
    "langsmith.metadata.thread_id": gen_ai.CONVERSATION_ID,
    "langsmith.metadata.session_id": gen_ai.CONVERSATION_ID,
    "langsmith.metadata.conversation_id": gen_ai.CONVERSATION_ID,
    "langsmith.metadata.ls_provider": gen_ai.PROVIDER_NAME,
    "langsmith.metadata.ls_model_name": gen_ai.REQUEST_MODEL,
    "langsmith.metadata.tool_call_id": gen_ai.TOOL_CALL_ID,
    "gen_ai.system": gen_ai.PROVIDER_NAME,
}
_RUNS = ("LangGraph", "claude.conversation")
_LC_AGENT = "langsmith.metadata.lc_agent_name"
_NOTHING = '{"output":null}'
_TRACEBACK = "\n\nTraceback (most recent call last):"
_RAISED = re.compile(r"([\w.]+)(?:: (.*))?")


class LangSmith:
    """The dialect."""

    name = "langsmith"
    markers = Markers(keys=("langsmith.",))
    content = Content(
        # The last two are of no released version that is known, and read by nobody.
        attributes=(
            *(_INPUTS, _OUTPUTS, "gen_ai.request.extra_body", "gen_ai.request.extra_query"),
            *("langsmith.attachments", "langsmith.span.inputs", "langsmith.span.outputs"),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _KIND in span.attributes:
            return Confidence(OWN_ROLE, f"has {_KIND}")
        if "langsmith.trace.name" in span.attributes:
            return Confidence(CENSUS, "has langsmith.trace.name")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = span.text(_KIND)
        operation = _OPERATIONS.get(kind or "")
        name = span.text("langsmith.trace.name") or span.span.name
        if operation is None and kind in ("chain", None):
            operation = run_at_root(span, _INPUTS, _OUTPUTS)
            if operation is not None and (name in _RUNS or name == span.rest.get(_LC_AGENT)):
                operation = "invoke_agent"
        _take_error(span)
        onto.drop(span, gen_ai.OPERATION_NAME)
        onto.rename(span, _NAMES)
        if operation == "execute_tool":
            name = span.text("gen_ai.serialized.name") or name
        elif operation in ("chat", "embeddings"):
            details = ("input_token_details", "output_token_details")
            token_details = {
                detail: object_in(span.rest.get(f"gen_ai.usage.{detail}")) for detail in details
            }
            set_usage(span, token_details)
            onto.drop(
                span,
                *(
                    f"gen_ai.usage.{token_detail}"
                    for token_detail in token_details
                    if isinstance(token_details[token_detail], dict)
                ),
            )
            onto.mend_definitions(span)
            onto.put(span, agentool.COST_USD, read_costs(span.json("langsmith.cost.total")))
        elif operation is None:  # the conventions' older names would make a model call of it
            return onto.unclassified(span)
        return read_call(span, operation, name, _INPUTS, _OUTPUTS)


def _take_error(span: Reader) -> None:
    """Take the error of a failed run from the traceback in its message, and no output.

    The type of the exception that is recorded is always `Exception`.
    """
    record = span.span
    if record.status != STATUS_ERROR:
        return
    if span.rest.get(_OUTPUTS) == _NOTHING:
        onto.drop(span, _OUTPUTS)
    for event in record.events:
        description = event.attributes.get(core.EXCEPTION_MESSAGE)
        if isinstance(description, str) and _TRACEBACK in description:
            match = _RAISED.fullmatch(description.rstrip().rpartition("\n")[2])
            if match is not None:
                onto.put(span, core.ERROR_TYPE, match[1])
                span.span = replace(record, status_message=match[2])
