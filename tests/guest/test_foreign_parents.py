"""Another tracer, with a provider of its own, makes its span current: ours hang below ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import agentool_otel as ao
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    from tests.conftest import Spans


@pytest.fixture
def theirs() -> Any:
    return TracerProvider(shutdown_on_exit=False).get_tracer("theirs")


@ao.tool
def search(query: str) -> str:
    return f"found {query}"


def parents(spans: Spans) -> dict[str, str | None]:
    """The name of each span's parent, None for a root or a parent that is not here."""
    finished = spans.finished()
    names = {item.context.span_id: item.name for item in finished if item.context is not None}
    return {item.name: names.get(item.parent.span_id) if item.parent else None for item in finished}


def test_the_nearest_of_ours_is_the_parent(spans: Spans, theirs: Any) -> None:
    with ao.run("clerk"), theirs.start_as_current_span("theirs"):
        search("a")
        with ao.model_call("gpt-5", provider="openai"), theirs.start_as_current_span("theirs"):
            search("b")
    assert set(parents(spans).values()) <= {None, "invoke_agent clerk", "chat gpt-5"}
    assert parents(spans)["chat gpt-5"] == "invoke_agent clerk"


def test_their_span_stays_current_for_the_program(spans: Spans, theirs: Any) -> None:
    with ao.run("clerk"), theirs.start_as_current_span("theirs") as span:
        search("a")
        assert trace.get_current_span() is span


def test_a_span_of_the_same_provider_between_ours_is_the_parent(spans: Spans) -> None:
    tracer = settings.tracer("program")
    with ao.run("clerk"), tracer.start_as_current_span("step"):
        search("a")
    assert parents(spans)["execute_tool search"] == "step"


def test_without_our_parent_the_foreign_span_is_the_parent(spans: Spans, theirs: Any) -> None:
    """The trace goes on across providers, as it does across processes."""
    with theirs.start_as_current_span("request") as request:
        search("a")
    parent = spans.only().parent
    assert parent is not None
    assert parent.span_id == request.get_span_context().span_id
