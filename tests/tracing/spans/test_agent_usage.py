"""The span of an agent has the sum of the model calls below it, and nothing counts them twice."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel import model_call, run
from agentool_otel.loading import rebuild
from agentool_otel.tracing.spans.settings import settings
from tests.records import records

INPUT, OUTPUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
REASONS = "gen_ai.response.finish_reasons"


class Call(NamedTuple):
    """One model call: its tokens, None where the provider reports none."""

    input: int | None
    output: int | None
    reason: str | None


class Agent(NamedTuple):
    """One run of an agent, with its work in order."""

    work: list[Any]


tokens = st.none() | st.integers(0, 1000)
calls = st.builds(Call, tokens, tokens, st.sampled_from([None, "stop", "length", "tool_call"]))
agents = st.recursive(
    st.builds(Agent, st.lists(calls, max_size=3)),
    lambda inner: st.builds(Agent, st.lists(calls | inner, max_size=4)),
    max_leaves=12,
)


def play(agent: Agent, name: str = "a") -> None:
    """Run an agent; those inside are named by their place."""
    with run(name):
        for place, work in enumerate(agent.work):
            if isinstance(work, Agent):
                play(work, f"{name}.{place}")
            else:
                with model_call("m", provider="p") as call:
                    call.usage(work.input, work.output)
                    if work.reason is not None:
                        call.output("text", finish_reason=work.reason)


def played(agent: Agent, *, with_usage: bool) -> list[Any]:
    """Return the spans of a run."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider)
    settings.agent_usage = with_usage
    try:
        play(agent)
    finally:
        settings.reset()
    return list(exporter.get_finished_spans())


def calls_below(agent: Agent) -> list[Call]:
    """Return the model calls of an agent and of those inside it, in order."""
    below = [calls_below(item) if isinstance(item, Agent) else [item] for item in agent.work]
    return [call for inner in below for call in inner]


def total(counts: list[int | None]) -> int | None:
    names = [count for count in counts if count is not None]
    return sum(names) if names else None


def by_name(agent: Agent, name: str = "a") -> dict[str, Agent]:
    results = {name: agent}
    for place, work in enumerate(agent.work):
        if isinstance(work, Agent):
            results |= by_name(work, f"{name}.{place}")
    return results


@given(agents)
def test_an_agent_has_the_sums_of_all_calls_below(agent: Agent) -> None:
    spans = {item.name: item.attributes for item in played(agent, with_usage=True)}
    for name, each in by_name(agent).items():
        below, result = calls_below(each), spans[f"invoke_agent {name}"]
        assert result.get(INPUT) == total([item.input for item in below])
        assert result.get(OUTPUT) == total([item.output for item in below])


@given(agents)
def test_an_agent_has_the_reasons_of_the_last_call_below(agent: Agent) -> None:
    spans = {item.name: item.attributes for item in played(agent, with_usage=False)}
    for name, each in by_name(agent).items():
        reasons = [call.reason for call in calls_below(each) if call.reason is not None]
        span = spans[f"invoke_agent {name}"].get(REASONS)
        assert (span and list(span)) == (reasons[-1:] or None)


@given(agents)
def test_a_rebuild_counts_the_calls_of_a_run_alone(agent: Agent) -> None:
    """Neither the sum on the span, nor the runs inside, are added to the model calls."""
    rebuilt = rebuild(records(played(agent, with_usage=True)))
    metrics = {item.trace.agent_id: item.trace.to_dict()["metrics"] for item in rebuilt}
    for name, each in by_name(agent).items():
        work = [item for item in each.work if isinstance(item, Call)]
        counts = [count for item in work for count in (item.input, item.output)]
        assert metrics[name].get("total_tokens") == total(counts)


@given(agents)
def test_usage_on_agents_changes_nothing_of_a_rebuild(agent: Agent) -> None:
    without, with_usage = (
        [essence(item) for item in rebuild(records(played(agent, with_usage=each)))]
        for each in (False, True)
    )
    assert with_usage == without


def essence(rebuilt: Any) -> tuple[Any, ...]:
    """Return the parts of a trace that are equal in all runs of a program."""
    trace = rebuilt.trace.to_dict()
    metrics = {**trace["metrics"], "total_duration_ms": None}
    notes = [(note.outcome, note.field, note.rule) for note in rebuilt.fidelity.notes]
    return trace["agent_id"], trace["status"], len(trace["steps"]), metrics, notes


@pytest.mark.parametrize("with_usage", [True, False])
def test_usage_is_on_agents_where_it_is_wanted(with_usage: bool) -> None:
    [_, agent] = played(Agent([Call(3, 4, "stop")]), with_usage=with_usage)
    assert (INPUT in agent.attributes) == with_usage
    assert agent.attributes["agentool.metrics.total_tokens"] == 7
