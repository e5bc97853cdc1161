"""What a decorated tool call costs, against a span of the OpenTelemetry SDK written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON

from agentool_otel.capture import agent, tool
from agentool_otel.emit.content import Policy
from agentool_otel.emit.session import session
from benchmarks._child import in_child
from benchmarks._rounds import Compared, compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks._workload import (
    Function,
    async_reference,
    async_search,
    per_call,
    provider_of,
    reference,
    search,
    unsampled,
)

__all__ = ["rows"]


def rows(size: Size) -> Iterator[Row]:
    measured = in_child(measure, size.rounds, size.agent_runs)
    for what, values in measured.items():
        yield Row.of(what, "µs", Compared(*values), Target("≤ 1.2×", 1.2))
    for what, (sampled, not_sampled) in in_child(serialised, 100).items():
        yield Row(
            what=f"values serialised by 100 {what} not sampled, reference: sampled",
            ours=not_sampled,
            reference=sampled,
            target=Target("nothing", 0, on="ours"),
        )


def measure(rounds: int, runs: int) -> dict[str, Compared]:
    """Compare the cases, each less what the agent costs with an undecorated tool."""
    on, off = provider_of(ALWAYS_ON), provider_of(ALWAYS_OFF)
    ref_on, ref_off = on.get_tracer("ref"), off.get_tracer("ref")
    cases = {
        "tool, sampled, content on": (on, search, reference(ref_on, search)),
        "async tool, sampled, content on": (on, async_search, async_reference(ref_on, async_search)),
        "tool, not sampled, against ALWAYS_OFF": (off, search, unsampled(ref_off, search)),
    }
    decorated = {what: tool(bare) for what, (_, bare, _) in cases.items()}
    costs: dict[str, list[tuple[float, float]]] = {what: [] for what in cases}
    for number in range(rounds + 1):
        for what, (provider, bare, theirs) in cases.items():
            session.configure(provider=provider, policy=Policy(capture=True))

            def cost(call: Function, flush: Any = provider.force_flush, plain: Any = bare) -> float:
                return per_call(agent(name="bench"), call, runs, flush, plain is async_search)

            floor = cost(bare)
            ours, reference_cost = cost(decorated[what]), cost(theirs)
            if number:  # the first round only warms up
                costs[what].append((ours - floor, reference_cost - floor))
    return {what: compared(pairs) for what, pairs in costs.items()}


class Told:
    """A value that counts how often it is turned into anything."""

    times = 0

    def to_dict(self) -> dict[str, str]:
        Told.times += 1
        return {"told": "yes"}

    def __repr__(self) -> str:
        Told.times += 1
        return "Told()"


def serialised(calls: int) -> dict[str, list[int]]:
    """Return how many values become text when the calls are sampled, and when they are not."""

    @tool
    def echo(value: Told) -> Told:
        return value

    counts: dict[str, list[int]] = {}
    for what, decorated in (("tool calls", echo), ("agent runs", agent(lambda value: value))):
        counts[what] = []
        for sampler in (ALWAYS_ON, ALWAYS_OFF):
            session.configure(provider=provider_of(sampler), policy=Policy(capture=True))
            Told.times = 0
            for _ in range(calls):
                decorated(Told())
            counts[what].append(Told.times)
    return counts
