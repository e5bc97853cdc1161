"""With content off nothing that people, models and tools wrote leaves, in any vocabulary.

Held over every recording, and over every name that a dialect looks at: `content.py` has how.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentool_otel.dialects import classify
from agentool_otel.model.operations import Operation
from tests.contract.content import FIELDS, joined, masked, recordings, spans_in, texts_in, texts_on

every_recording = pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name)

OUTCOMES = {"failed", "error"}
"""Words of ours for a tool's error that the span has no text of."""
SHORT = 8
"""Texts up to this length stand by chance among names and numbers."""

KIND_FROM_CONTENT = {
    *("agentops", "autogen", "crewai", "eino", "genkit", "langfuse", "langsmith", "litellm"),
    "openlit",
}
"""Vocabularies in which a run has no name of its own: a root span with an input is one."""
FIELD_FROM_CONTENT = {
    ("adk", "response_model"),
    ("adk", "transfer_target"),
    ("eino", "transfer_target"),
    *(("genkit", name) for name in ("response_model", "response_id", "finish_reasons", "usage")),
    *(("genkit", name) for name in ("temperature", "max_tokens")),
    *(("haystack", name) for name in ("response_model", "finish_reasons", "usage")),
    *(("langfuse", name) for name in ("response_model", "response_id", "finish_reasons", "usage")),
    *(("llama_index", name) for name in ("name", "call_id", "finish_reasons")),
    *(("mlflow", name) for name in ("response_model", "response_id", "usage")),
    *(("openinference", name) for name in ("response_id", "call_id", "agent_name")),
    ("traceloop", "call_id"),
    *(("trulens", name) for name in ("name", "call_id", "conversation_id")),
}
"""Fields that stand inside the content and nowhere else: in a request or response as a whole, in a
printed call."""


@every_recording
def test_no_content_can_be_read_any_more(path: Path) -> None:
    for span in masked(spans_in(path)):
        _, operation = classify(span)
        assert texts_in(operation) <= OUTCOMES, span.name


@every_recording
def test_no_text_of_the_content_is_left_anywhere(path: Path) -> None:
    left = {(span.trace_id, span.span_id): span for span in masked(spans_in(path))}
    for span in joined(spans_in(path)):
        _, operation = classify(span)
        texts = texts_on(left[span.trace_id, span.span_id])
        for text in texts_in(operation):
            if len(text) > SHORT and " " in text:
                assert text not in texts, span.name


def test_kind_names_ids_and_usage_stay() -> None:
    kinds: set[str | None] = set()
    fields: set[tuple[str | None, str]] = set()
    for path in recordings():
        left = {(span.trace_id, span.span_id): span for span in masked(spans_in(path))}
        for span in joined(spans_in(path)):
            name, before = classify(span)
            _, after = classify(left[span.trace_id, span.span_id])
            if type(before) is not type(after):
                kinds.add(name)
            else:
                fields |= {(name, item) for item in _changed(before, after)}
    assert kinds == KIND_FROM_CONTENT
    assert fields == FIELD_FROM_CONTENT


def _changed(before: Operation, after: Operation) -> list[str]:
    others = {*FIELDS, "extra", "error_message"}
    return [
        field
        for field in before.__struct_fields__
        if field not in others and getattr(before, field) != getattr(after, field)
    ]
