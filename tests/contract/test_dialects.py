"""Laws of every dialect in the registry, and the readings of all fixtures.

A dialect gets these tests by being installed; a fixture in `tests/fixtures/spans`, named
`<sdk>-<version>.<dialect>.jsonl`, by being there. `python -m tests.contract.readings` writes what
is expected of one; read the difference before committing it.
"""

from __future__ import annotations

import copy
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings

from agentool_otel.dialects import Dialect, Reader, classify, dialects, match_dialect
from agentool_otel.loading import rebuild
from agentool_otel.model.operations import Operation, Unclassified
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv.table import RENAMES
from tests.contract.any_spans import any_spans, spans_in_recorded_words
from tests.contract.readings import dialect_of, expected, fixtures, reading, spans_of
from tests.laws import many

INSTALLED = {dialect.name: dialect for dialect in dialects()}
FIXTURES = list(fixtures())
every_dialect = pytest.mark.parametrize("name", INSTALLED)
every_fixture = pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)


@every_dialect
@settings(max_examples=many(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(span=any_spans)
def test_any_span_is_read_without_an_exception_or_a_side_effect(
    name: str, span: SpanRecord
) -> None:
    dialect, before = INSTALLED[name], copy.deepcopy(span)
    dialect.recognise(span)
    operation = dialect.read(Reader(span))
    assert isinstance(operation, Operation)
    assert repr(dialect.read(Reader(span))) == repr(operation)
    assert repr(span) == repr(before)


@settings(max_examples=many(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(span=any_spans)
def test_a_matched_span_is_read_by_its_dialect(span: SpanRecord) -> None:
    dialect = match_dialect(span).dialect
    name, operation = classify(span)
    assert name == (dialect.name if dialect is not None else None)
    assert isinstance(operation, Operation)


@settings(max_examples=many(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(span=spans_in_recorded_words)
@example(
    SpanRecord(
        "1" * 32,
        "2" * 16,
        attributes={
            "gen_ai.operation.name": None,
            "gen_ai.input.messages": '{"kwargs":3,"args":{}}',
        },
    )
)
def test_no_dialect_claims_a_span_without_its_markers(span: SpanRecord) -> None:
    for dialect in INSTALLED.values():
        if not (dialect.markers.last or _has_marker(dialect, span)):
            assert dialect.recognise(span).level == 0, dialect.name


def _has_marker(dialect: Dialect, span: SpanRecord) -> bool:
    """Apply the docstring of `Markers`, without the implementation's own test."""
    markers = dialect.markers
    keys = {key for key in markers.keys if not key.endswith(".")}
    prefixes = tuple(key for key in markers.keys if key.endswith("."))
    names = [*span.attributes, *(event.name for event in span.events)]
    return (
        span.scope.startswith(markers.scopes)
        or span.name.startswith(markers.names)
        or any(name in keys or name.startswith(prefixes) for name in names)
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
def test_no_attribute_is_made_up_and_none_is_dropped_unread(path: Path) -> None:
    for span in spans_of(path):
        recorded = {*span.attributes, *(key for event in span.events for key in event.attributes)}
        renamed = {RENAMES[key].new for key in recorded & RENAMES.keys()}
        name, operation = classify(span)
        assert operation.extra.keys() <= recorded | renamed
        if name is not None:
            reader = Reader(span)
            extra = INSTALLED[name].read(reader).extra.keys()
            assert reader.rest.keys() <= extra


@every_fixture
def test_the_order_of_attributes_does_not_matter(path: Path) -> None:
    for span in spans_of(path):
        turned = dict(reversed(span.attributes.items()))
        again = classify(msgspec.structs.replace(span, attributes=turned))
        assert again == classify(span)


@every_fixture
def test_every_fixture_is_rebuilt(path: Path) -> None:
    assert list(rebuild(spans_of(path)))
