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
    known: dict[str, Any] = {
        "provider": "openai",
        "request_model": "gpt-4o",
        "usage": Usage(input_tokens=1_000_000, output_tokens=100_000),
    }
    return Inference(**{**known, **members})


def run_of(*calls: Inference, **fields: Any) -> Rebuilt:
    seen = Collected()
    root = seen.add(AgentInvocation(agent_name="a"), seconds=9)
    for call in calls:
        seen.add(call, parent=root, **fields)
    [found] = rebuild(seen.spans, prices=Prices())
    return found


def cost(found: Rebuilt) -> Any:
    return found.trace.to_dict()["metrics"].get("total_cost_usd")


def why(found: Rebuilt) -> list[tuple[str, str | None]]:
    return [
        (note.outcome, note.rule)
        for note in found.fidelity.notes
        if note.field == "metrics.total_cost_usd"
    ]


def test_a_cost_on_no_span_is_computed_and_marked() -> None:
    found = run_of(a_call(), a_call())
    assert cost(found) == 2 * (2.5 + 1.0)
    table = found.trace.to_dict()["metadata"][COMPUTED_BY]
    assert table.startswith("genai-prices ")
    assert why(found) == [("inferred", table)]


def test_tokens_read_from_a_cache_cost_less() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=0, cache_read_tokens=1_000_000)
    assert cost(run_of(a_call(usage=usage))) == 1.25


def test_tokens_of_reasoning_are_part_of_the_output() -> None:
    usage = Usage(input_tokens=0, output_tokens=100_000, reasoning_tokens=90_000)
    assert cost(run_of(a_call(usage=usage))) == 1.0


def test_a_cost_on_the_span_is_kept() -> None:
    found = run_of(a_call(cost_usd=0.25))
    assert cost(found) == 0.25
    assert why(found) == []
    assert found.trace.to_dict().get("metadata") is None


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
    found = run_of(a_call(), call)
    assert cost(found) is None
    [(outcome, said)] = why(found)
    assert outcome == "not_captured"
    assert reason in str(said)


def test_a_refused_call_costs_nothing() -> None:
    assert cost(run_of(a_call(), a_call(usage=None, error_type="RateLimitError"))) == 3.5


def test_a_price_depends_on_the_date_of_the_call() -> None:
    found = run_of(a_call(), start_ns=None)
    assert cost(found) is None
    assert why(found) == [("not_captured", "its time is not known, and prices change")]


def test_nothing_is_computed_unless_asked_for() -> None:
    seen = Collected()
    seen.add(a_call())
    [found] = rebuild(seen.spans)
    assert cost(found) is None


def test_no_connection_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert cost(run_of(a_call())) == 3.5


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingDependencyError, match=r"hint: pip install .*\[cost\]"):
        Prices()
