"""A value that is unknown is left out, whatever damage made it unknown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects import classify
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from tests.contract.any_spans import any_spans
from tests.contract.readings import fixtures, spans_of
from tests.laws import many

SENTINEL = "UNSET"
WITHOUT_CONTENT = ["", "{}", "[]", "null", '""', "[{}]"]


@cache
def recorded_spans() -> list[SpanRecord]:
    """One recorded span of each dialect, name and set of attributes."""
    kinds: dict[object, SpanRecord] = {}
    for path in fixtures():
        for span in spans_of(path):
            kinds.setdefault((path, span.name, *span.attributes), span)
    return list(kinds.values())


@st.composite
def damaged_spans(draw: st.DrawFn) -> SpanRecord:
    """A recorded span, some of whose texts are cut, without content, or missing."""
    span = draw(st.sampled_from(recorded_spans()))
    attributes = dict(span.attributes)
    texts = [key for key, value in attributes.items() if isinstance(value, str)]
    for key in draw(st.sets(st.sampled_from(texts))) if texts else ():
        match draw(st.sampled_from(["cut", "missing", *WITHOUT_CONTENT])):
            case "cut":
                attributes[key] = attributes[key][: draw(st.integers(1, 200))]
            case "missing":
                del attributes[key]
            case other:
                attributes[key] = other
    return replace(span, attributes=attributes)


def cut_in_the_middle(span: SpanRecord) -> Iterator[SpanRecord]:
    for key, value in span.attributes.items():
        if isinstance(value, str) and value[:1] in ("{", "["):
            yield replace(span, attributes={**span.attributes, key: value[: len(value) // 2]})


def texts_of(spans: list[SpanRecord]) -> str:
    """Everything that is written of the traces of spans."""
    return "".join(
        f"{rebuilt.to_bytes().decode()}{rebuilt.trace.to_json()}{rebuilt.fidelity.notes}"
        for rebuilt in rebuild(spans)
    )


def test_no_sentinel_is_in_a_trace_of_any_recorded_span_with_cut_json() -> None:
    for span in recorded_spans():
        for cut in cut_in_the_middle(span):
            assert SENTINEL not in texts_of([cut]), (cut.scope, cut.name)


@settings(max_examples=many(1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(span=damaged_spans())
def test_no_sentinel_is_in_a_trace_of_a_damaged_span(span: SpanRecord) -> None:
    assert SENTINEL not in texts_of([span])


@settings(max_examples=many(500), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(span=any_spans.filter(lambda span: SENTINEL not in f"{span.attributes}{span.events}"))
def test_no_sentinel_is_in_what_any_span_is_read_as(span: SpanRecord) -> None:
    _, operation = classify(span)
    for member in operation.__struct_fields__:
        value: Any = getattr(operation, member)
        assert value is UNSET or SENTINEL not in repr(value), member


@pytest.mark.parametrize(
    ("scope", "name", "attributes"),
    [
        (
            "ai",
            "ai.generateText.doGenerate",
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": '[{"role":"user","con',
            },
        ),
        (
            "pydantic-ai",
            "agent run",
            {"model_name": "m", "pydantic_ai.all_messages": '[{"role":"user","par'},
        ),
        ("pipecat", "llm", {"gen_ai.operation.name": "chat", "input": '[{"role":"user","con'}),
    ],
)
def test_a_cut_prompt_is_no_input(scope: str, name: str, attributes: dict[str, Any]) -> None:
    span = SpanRecord("1" * 32, "2" * 16, name=name, scope=scope, attributes=attributes)
    [rebuilt] = rebuild([span])
    assert "input" not in rebuilt.document
