"""Choice of the dialect of a span, and names that are combined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.dialects import Confidence, Markers, Reader, classify, match_dialect
from agentool_otel.dialects.kit import dialect
from agentool_otel.dialects.kit.dialect import OWN_ROLE
from agentool_otel.dialects.kit.flattened import flatten, tree
from agentool_otel.loading import rebuild
from agentool_otel.model.operations import AgentInvocation, Operation, Unclassified
from agentool_otel.model.spans import SpanRecord


def span(scope: str = "", name: str = "", **attributes: Any) -> SpanRecord:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return SpanRecord("1" * 32, "2" * 16, name=name, attributes=named, scope=scope)


class Stated:
    """A dialect with a given confidence."""

    def __init__(self, name: str, level: float, *keys: str, reads: Operation | None = None):
        self.name = name
        self._reads = reads
        self.markers = Markers(keys=keys, names=(name,))
        self._level = level

    def recognise(self, span: SpanRecord) -> Confidence:
        return Confidence(self._level, f"said {self.name}")

    def read(self, span: Reader) -> Operation:
        return self._reads or Unclassified(extra=span.rest)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    results: list[Any] = []
    monkeypatch.setattr(dialect, "dialects", lambda: tuple(results))
    dialect._by_shape.clear()
    yield results
    dialect._by_shape.clear()


def test_the_surest_dialect_reads(installed: list[Any]) -> None:
    installed += [Stated("a", 0.5, "x."), Stated("b", 0.9, "x.")]
    assert classify(span(x__y=1))[0] == "b"


def test_at_equal_confidence_the_dialect_with_most_attributes_reads(installed: list[Any]) -> None:
    installed += [Stated("a", 0.5, "x."), Stated("b", 0.5, "y.")]
    mixed = span(x__1=1, y__1=1, y__2=1)
    assert (classify(mixed)[0], match_dialect(mixed).tie) == ("b", None)


def test_a_tie_is_decided_by_name_and_reported(installed: list[Any]) -> None:
    installed += [Stated("a", 0.5, "x."), Stated("b", 0.5, "x."), Stated("c", 0.5, "x.")]
    tied = span(x__1=1)
    assert classify(tied)[0] == "a"
    claimed = "dialects 'a' (said a) and 'b' (said b) and 'c' (said c) claim the span; read as 'a'"
    assert claimed in str(match_dialect(tied).tie)


def test_the_fidelity_report_names_the_spans_that_two_dialects_claim(installed: list[Any]) -> None:
    agent_invocation = AgentInvocation(agent_name="clerk")
    installed += [
        Stated("a", 0.5, "x.", reads=agent_invocation),
        Stated("b", 0.5, "x.", reads=agent_invocation),
    ]
    [result] = rebuild([span(x__1=1)])
    [tie] = result.fidelity.ties
    assert "read as 'a'" in tie


def test_a_dialect_without_markers_on_the_span_is_not_asked(installed: list[Any]) -> None:
    installed += [Stated("a", 1.0, "x."), Stated("b", 0.1, "y.")]
    assert classify(span(y__1=1))[0] == "b"


def test_a_span_name_decides_where_nothing_else_does(installed: list[Any]) -> None:
    installed += [Stated("a", 0.3, "x.")]
    assert classify(span(name="a thing"))[0] == "a"
    assert classify(span(name="thing"))[0] is None


def test_a_span_in_two_vocabularies_goes_to_the_one_with_its_kind() -> None:
    mixed = span(openinference__span__kind="LLM", gen_ai__operation__name="chat")
    assert match_dialect(mixed).confidence == (OWN_ROLE, "has openinference.span.kind")


def test_openllmetry_over_current_conventions_is_openllmetry() -> None:
    scope = "opentelemetry.instrumentation.langchain"
    assert classify(span(scope, gen_ai__operation__name="chat"))[0] == "traceloop"
    contrib = "opentelemetry.instrumentation.openai_v2"
    assert classify(span(contrib, gen_ai__operation__name="chat"))[0] == "gen_ai"


# ------------------------------------------------------------------------------- flattened names

leaves = st.integers() | st.text(max_size=3)
nested: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
).filter(lambda value: isinstance(value, (list, dict)))


@given(nested)
def test_a_tree_comes_back_from_its_flattened_names(value: Any) -> None:
    attributes: dict[str, Any] = {"other": 1}
    flatten("p", value, attributes)
    reader = Reader(SpanRecord("1" * 32, "2" * 16, attributes=attributes))
    assert tree(reader, "p") == value
    assert reader.rest == {"other": 1}


def test_indexes_are_numbers_and_gaps_are_closed() -> None:
    reader = Reader(span(p__10="c", p__2="b", p__0="a"))
    assert tree(reader, "p") == ["a", "b", "c"]


def test_names_below_a_value_stay_unread() -> None:
    reader = Reader(span(p__a=1, p__a__b=2))
    assert tree(reader, "p") == {"a": 1}
    assert reader.rest == {"p.a.b": 2}


def test_attribute_names_of_any_depth_and_index_are_harmless() -> None:
    deep = "p." + "0." * 5_000 + "x"
    reader = Reader(SpanRecord("", "", attributes={deep: 1, "p.1": 2, "p." + "9" * 5_000: 3}))
    assert tree(reader, "p") is not None
