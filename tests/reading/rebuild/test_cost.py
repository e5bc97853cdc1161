"""Cost in US dollars: as the spans say it, else computed when asked for."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from agentool_otel.errors import MissingDependencyError
from agentool_otel.loading import rebuild
from agentool_otel.model.operations import AgentInvocation, Inference, Usage
from agentool_otel.reading.rebuild.cost import COMPUTED_BY, Prices
from agentool_otel.reading.rebuild.trace import Rebuilt
from tests.records import Collected

pytest.importorskip("genai_prices")


def a_call(**members: Any) -> Inference:
    names: dict[str, Any] = {
        "provider": "openai",
        "request_model": "gpt-4o",
        "usage": Usage(input_tokens=1_000_000, output_tokens=100_000),
    }
    return Inference(**{**names, **members})


def run_of(*calls: Inference, **fields: Any) -> Rebuilt:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    for call in calls:
        spans.add(call, parent=root, **fields)
    [result] = rebuild(spans.spans, prices=Prices())
    return result


def cost(rebuilt_trace: Rebuilt) -> Any:
    return rebuilt_trace.trace.to_dict()["metrics"].get("total_cost_usd")


def why(rebuilt_trace: Rebuilt) -> list[tuple[str, str | None]]:
    return [
        (note.outcome, note.rule)
        for note in rebuilt_trace.fidelity.notes
        if note.field == "metrics.total_cost_usd"
    ]


def test_a_cost_on_no_span_is_computed_and_marked() -> None:
    result = run_of(a_call(), a_call())
    assert cost(result) == 2 * (2.5 + 1.0)
    table = result.trace.to_dict()["metadata"][COMPUTED_BY]
    assert table.startswith("genai-prices ")
    assert why(result) == [("inferred", table)]


def test_tokens_read_from_a_cache_cost_less() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=0, cache_read_tokens=1_000_000)
    assert cost(run_of(a_call(usage=usage))) == 1.25


def test_tokens_of_reasoning_are_part_of_the_output() -> None:
    usage = Usage(input_tokens=0, output_tokens=100_000, reasoning_tokens=90_000)
    assert cost(run_of(a_call(usage=usage))) == 1.0


def test_a_cost_on_the_span_is_kept() -> None:
    result = run_of(a_call(cost_usd=0.25))
    assert cost(result) == 0.25
    assert why(result) == []
    assert COMPUTED_BY not in (result.trace.to_dict().get("metadata") or {})


def test_recorded_and_computed_costs_are_added_up() -> None:
    assert cost(run_of(a_call(cost_usd=0.25), a_call())) == 3.75


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (a_call(request_model="made-up"), "has no price for 'made-up' of 'openai'"),
        (a_call(provider="github_copilot"), "has no price for 'gpt-4o'"),
        (a_call(request_model=None), "its model is not known"),
        (a_call(usage=None), "its input tokens are not known"),
        (a_call(usage=Usage(total_tokens=7)), "its input tokens are not known"),
        (a_call(usage=Usage(input_tokens=7)), "its output tokens are not known"),
    ],
)
def test_without_a_price_for_every_call_there_is_no_cost(call: Inference, reason: str) -> None:
    result = run_of(a_call(), call)
    assert cost(result) is None
    [(outcome, text)] = why(result)
    assert outcome == "not_captured"
    assert reason in str(text)


def test_a_refused_call_costs_nothing() -> None:
    assert cost(run_of(a_call(), a_call(usage=None, error_type="RateLimitError"))) == 3.5


def test_a_price_depends_on_the_date_of_the_call() -> None:
    result = run_of(a_call(), start_ns=None)
    assert cost(result) is None
    assert why(result) == [("not_captured", "its time is not known, and prices change")]


def test_nothing_is_computed_unless_asked_for() -> None:
    spans = Collected()
    spans.add(a_call())
    [result] = rebuild(spans.spans)
    assert cost(result) is None


def test_no_connection_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert cost(run_of(a_call())) == 3.5


def test_without_the_library_the_error_has_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingDependencyError, match=r"hint: pip install .*\[cost\]"):
        Prices()
