"""Spans of any content: in the words of the recordings, and in those of the dialects' source."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from agentool_otel.dialects import dialects
from agentool_otel.model.spans import SpanEvent, SpanRecord
from tests.contract import vocabulary
from tests.contract.readings import fixtures, spans_of
from tests.strategies import values

__all__ = ["any_spans", "spans_in_recorded_words"]


def _names() -> list[str]:
    """Attribute names that mean something: those of the fixtures and those dialects look for."""
    results = {key for path in fixtures() for span in spans_of(path) for key in span.attributes}
    for dialect in dialects():
        results.update(f"{key}0.x" if key[-1] == "." else key for key in dialect.markers.keys)
    return sorted(results)


NAMES = _names()
ROLES = [
    "openinference.span.kind",
    "traceloop.span.kind",
    "gen_ai.operation.name",
    "mcp.method.name",
    "llm.request.type",
    "gen_ai.usage.total_tokens",
]
KINDS = sorted(
    {
        value
        for path in fixtures()
        for span in spans_of(path)
        for value in span.attributes.values()
        if isinstance(value, str) and len(value) < 24
    }
)
BROKEN = ['{"a":', "[[1]]", '{"messages":[[]]}', '{"kwargs":3,"args":{}}', "[null]", '""', "[[]]"]
plain = st.none() | st.integers() | st.text(max_size=3)
odd_values: st.SearchStrategy[Any] = st.one_of(
    plain,
    st.booleans(),
    st.floats(),
    st.binary(max_size=4),
    st.sampled_from(KINDS),
    st.sampled_from(BROKEN),
    st.lists(plain, max_size=2),
    st.dictionaries(st.text(max_size=3), plain, max_size=2),
)
recorded_attributes = st.dictionaries(
    st.sampled_from(ROLES) | st.sampled_from(NAMES),
    st.sampled_from(KINDS) | odd_values,
    max_size=12,
)
spans_in_recorded_words = st.builds(
    SpanRecord,
    trace_id=st.just("1" * 32),
    span_id=st.just("2" * 16),
    parent_id=st.none() | st.just("3" * 16),
    name=st.sampled_from(["", "chat m", "handoff to B", "x.tool", "LangGraph", "execute_tool f"]),
    kind=st.sampled_from(["INTERNAL", "CLIENT", "SERVER"]),
    attributes=recorded_attributes,
    events=st.lists(
        st.builds(
            SpanEvent,
            name=st.sampled_from(["exception", "gen_ai.choice", "gen_ai.user.message", "x"]),
            attributes=st.dictionaries(
                st.sampled_from(["content", "message", "tool_calls", "exception.type", "id"]),
                odd_values,
                max_size=3,
            ),
        ),
        max_size=2,
    ),
    status=st.sampled_from(["UNSET", "OK", "ERROR"]),
    scope=st.sampled_from(
        ["", "ai", "openinference.instrumentation.langchain", "opentelemetry.instrumentation.mcp"]
    ),
)

cut_json = values.map(json.dumps).flatmap(
    lambda json_text: st.integers(0, len(json_text)).map(lambda end: json_text[:end])
)
attribute_values = (
    values
    | values.map(json.dumps)
    | cut_json
    | st.sampled_from(["<not specified>", "<REDACTED>", "{}", "[]", "null", "None", "", b"\xff"])
    | st.sampled_from(vocabulary.WORDS)
    | st.lists(st.dictionaries(st.sampled_from(vocabulary.MEMBERS), values, max_size=4), max_size=3)
    | st.dictionaries(st.sampled_from(vocabulary.MEMBERS), values, max_size=4)
)
attributes = st.dictionaries(
    st.sampled_from(vocabulary.KEYS) | st.text(max_size=8), attribute_values, max_size=12
)
events = st.lists(
    st.builds(
        SpanEvent,
        st.sampled_from(vocabulary.EVENTS) | st.text(max_size=8),
        attributes=st.dictionaries(
            st.sampled_from([*vocabulary.MEMBERS, *vocabulary.KEYS]), attribute_values, max_size=4
        ),
    ),
    max_size=3,
)
spans_in_words_of_the_source = st.builds(
    SpanRecord,
    st.just("1" * 32),
    st.just("2" * 16),
    st.none() | st.just("3" * 16),
    st.sampled_from(vocabulary.NAMES) | st.text(max_size=8),
    attributes=attributes,
    events=events,
    scope=st.sampled_from(vocabulary.SCOPES) | st.text(max_size=8),
    status=st.sampled_from(["UNSET", "OK", "ERROR"]),
)
any_spans = spans_in_recorded_words | spans_in_words_of_the_source
