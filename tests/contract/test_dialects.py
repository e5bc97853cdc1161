"""What every dialect of the registry does, ours and others', and what the fixtures are read as.

A dialect gets these tests by being installed; a fixture in `tests/fixtures/spans`, named
`<sdk>-<version>.<dialect>.jsonl`, by being there. `python -m tests.contract.readings` writes what
is expected of one; read the difference before committing it.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.dialects import Dialect, Reader, classify, dialects, match_dialect
from agentool_otel.dialects.kit.dialect import _is_marker
from agentool_otel.loading import rebuild
from agentool_otel.model.operations import Unclassified
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.semconv.table import RENAMES
from tests.contract.readings import dialect_of, expected, fixtures, reading, spans_of
from tests.laws import many

INSTALLED = {dialect.name: dialect for dialect in dialects()}
FIXTURES = list(fixtures())
every_dialect = pytest.mark.parametrize("name", INSTALLED)
every_fixture = pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)


def _names() -> list[str]:
    """Attribute names that mean something: those of the fixtures and those dialects look for."""
    found = {key for path in fixtures() for span in spans_of(path) for key in span.attributes}
    for dialect in INSTALLED.values():
        found.update(f"{key}0.x" if key[-1] == "." else key for key in dialect.markers.keys)
    return sorted(found)


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
values: st.SearchStrategy[Any] = st.one_of(
    plain,
    st.booleans(),
    st.floats(),
    st.binary(max_size=4),
    st.sampled_from(KINDS),
    st.sampled_from(BROKEN),
    st.lists(plain, max_size=2),
    st.dictionaries(st.text(max_size=3), plain, max_size=2),
)
attributes = st.dictionaries(
    st.sampled_from(ROLES) | st.sampled_from(NAMES), st.sampled_from(KINDS) | values, max_size=12
)
spans = st.builds(
    SpanRecord,
    trace_id=st.just("1" * 32),
    span_id=st.just("2" * 16),
    parent_id=st.none() | st.just("3" * 16),
    name=st.sampled_from(["", "chat m", "handoff to B", "x.tool", "LangGraph", "execute_tool f"]),
    kind=st.sampled_from(["INTERNAL", "CLIENT", "SERVER"]),
    attributes=attributes,
    events=st.lists(
        st.builds(
            SpanEvent,
            name=st.sampled_from(["exception", "gen_ai.choice", "gen_ai.user.message", "x"]),
            attributes=st.dictionaries(
                st.sampled_from(["content", "message", "tool_calls", "exception.type", "id"]),
                values,
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


@every_dialect
@settings(max_examples=many(150), deadline=None)
@given(span=spans)
def test_a_dialect_reads_anything_without_an_exception(name: str, span: SpanRecord) -> None:
    INSTALLED[name].read(Reader(span))


@every_dialect
@settings(max_examples=many(100), deadline=None)
@given(span=spans)
def test_a_dialect_leaves_the_span_as_it_was(name: str, span: SpanRecord) -> None:
    before = copy.deepcopy(span)
    INSTALLED[name].recognise(span)
    INSTALLED[name].read(Reader(span))
    assert repr(span) == repr(before)


@every_dialect
@settings(max_examples=50, deadline=None)
@given(span=spans)
def test_reading_twice_gives_the_same(name: str, span: SpanRecord) -> None:
    dialect = INSTALLED[name]
    assert repr(dialect.read(Reader(span))) == repr(dialect.read(Reader(span)))


@settings(max_examples=many(300), deadline=None)
@given(span=spans)
def test_a_matched_span_is_read_by_its_dialect(span: SpanRecord) -> None:
    dialect = match_dialect(span).dialect
    assert classify(span)[0] == (dialect.name if dialect is not None else None)


@settings(max_examples=many(300), deadline=None)
@given(span=spans)
def test_no_dialect_claims_a_span_without_its_markers(span: SpanRecord) -> None:
    for dialect in INSTALLED.values():
        if not _shows_signs(dialect, span):
            assert dialect.recognise(span).level == 0, dialect.name


def _shows_signs(dialect: Dialect, span: SpanRecord) -> bool:
    markers = dialect.markers
    shown = [*span.attributes, *(event.name for event in span.events)]
    return (
        span.scope.startswith(markers.scopes)
        or span.name.startswith(markers.names)
        or any(_is_marker(key, markers.keys) for key in shown)
    )


def test_a_span_of_no_vocabulary_keeps_everything() -> None:
    span = SpanRecord("1" * 32, "2" * 16, attributes={"http.request.method": "GET"})
    assert classify(span) == (None, Unclassified(extra={"http.request.method": "GET"}))


# ------------------------------------------------------------------------------------- fixtures


def test_every_fixture_is_named_after_a_dialect() -> None:
    assert {dialect_of(path) for path in FIXTURES} <= INSTALLED.keys()


@every_fixture
def test_a_fixture_is_read_as_expected(path: Path) -> None:
    assert expected(path).exists(), "write it with: python -m tests.contract.readings"
    assert reading(spans_of(path)) == expected(path).read_text(encoding="utf-8")


@every_fixture
def test_no_dialects_tie_over_a_real_span(path: Path) -> None:
    assert [tie for span in spans_of(path) if (tie := match_dialect(span).tie)] == []


@every_fixture
def test_a_fixture_is_in_the_dialect_it_is_named_after(path: Path) -> None:
    spoken = {classify(span)[0] for span in spans_of(path)}
    assert dialect_of(path) in spoken


@every_fixture
def test_unread_attributes_are_those_of_the_span(path: Path) -> None:
    """A reader may take attributes, and may not make any up."""
    for span in spans_of(path):
        given = {*span.attributes, *(key for event in span.events for key in event.attributes)}
        renamed = {RENAMES[key].new for key in given & RENAMES.keys()}
        _, operation = classify(span)
        assert operation.extra.keys() <= given | renamed


@every_fixture
def test_the_order_of_attributes_does_not_matter(path: Path) -> None:
    for span in spans_of(path):
        turned = dict(reversed(span.attributes.items()))
        again = classify(msgspec.structs.replace(span, attributes=turned))
        assert again == classify(span)


@every_fixture
def test_every_fixture_is_rebuilt(path: Path) -> None:
    assert list(rebuild(spans_of(path)))
