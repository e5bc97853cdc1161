"""Cost of a decorated tool call, against a span of the OpenTelemetry SDK written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON

from agentool_otel.content.policy import Policy
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.spans.settings import settings
from benchmarks._child import in_child
from benchmarks._rounds import Compared, compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks._workload import (
    Decorator,
    Function,
    async_reference,
    async_search,
    per_call,
    provider_of,
    reference,
    reference_agent,
    search,
    unsampled,
)

__all__ = ["rows"]


def rows(size: Size) -> Iterator[Row]:
    measured = in_child(measure, size.rounds, size.agent_runs)
    for key, values in measured.items():
        yield Row.of(key, "µs", Compared(*values), Target("≤ 1.2×", 1.2))
    for key, (sampled, not_sampled) in in_child(serialised, 100).items():
        yield Row(
            what=f"values serialised by 100 {key} not sampled, reference: sampled",
            ours=not_sampled,
            reference=sampled,
            target=Target("nothing", 0, on="ours"),
        )


class Case(NamedTuple):
    """One comparison: a plain function, and the hand-written span around it."""

    provider: TracerProvider
    plain: Function
    by_hand: Function
    is_async: bool = False

    def cost(self, within: Decorator, call: Function, runs: int) -> float:
        """Return the additional cost of a call over the plain function in the same kind of
        agent.
        """
        costs = [
            per_call(within, tool_call, runs, self.provider.force_flush, self.is_async)
            for tool_call in (call, self.plain)
        ]
        return costs[0] - costs[1]


def measure(rounds: int, runs: int) -> dict[str, Compared]:
    """Compare the cases: our tools in our agent, hand-written spans in a hand-written one."""
    on, off = provider_of(ALWAYS_ON), provider_of(ALWAYS_OFF)
    by_hand = reference(on.get_tracer("ref"), search)
    async_by_hand = async_reference(on.get_tracer("ref"), async_search)
    not_sampled = unsampled(off.get_tracer("ref"), search)
    cases = {
        "tool, sampled, content on": Case(on, search, by_hand),
        "async tool, sampled, content on": Case(on, async_search, async_by_hand, is_async=True),
        "tool, not sampled, against ALWAYS_OFF": Case(off, search, not_sampled),
    }
    decorated = {key: tool(case.plain) for key, case in cases.items()}
    costs: dict[str, list[tuple[float, float]]] = {description: [] for description in cases}
    for number in range(rounds + 1):
        for key, case in cases.items():
            settings.configure(provider=case.provider, policy=Policy(capture=True))
            ours = case.cost(agent(name="bench"), decorated[key], runs)
            by_sdk = reference_agent(case.provider.get_tracer("ref"))
            cost = case.cost(by_sdk, case.by_hand, runs)
            if number:  # the first round only warms up
                costs[key].append((ours, cost))
    return {key: compared(pairs) for key, pairs in costs.items()}


def serialised(calls: int) -> dict[str, list[int]]:
    """Return how many values become text when the calls are sampled, and when they are not."""
    texts = 0

    def count(_: str, text: str) -> str:
        nonlocal texts
        texts += 1
        return text

    @tool
    def echo(value: str) -> str:
        return value

    counts: dict[str, list[int]] = {}
    for description, decorated in (
        ("tool calls", echo),
        ("agent runs", agent(lambda value: value)),
    ):
        counts[description] = []
        for sampler in (ALWAYS_ON, ALWAYS_OFF):
            policy = Policy(capture=True, redact=count)
            settings.configure(provider=provider_of(sampler), policy=policy)
            texts = 0
            for _ in range(calls):
                decorated("told")
            counts[description].append(texts)
    return counts
