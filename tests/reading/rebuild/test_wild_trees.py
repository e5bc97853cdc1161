"""Span trees without any sense: clocks that differ, repeated call ids, tracers beside each other,
transfers anywhere. Their rebuild is the same in any order, and complete or noted.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.ground.json_codec import canonical
from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, reasoning, tool_call, tool_response
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reading.rebuild.trace import Rebuilt
from tests.laws import many
from tests.reading.rebuild.trees import SECOND, TRACE
from tests.strategies import exact

NAMES = ["t", "u", "transfer_to_a", "transfer", "delegate_to_b", "Task"]
IDS = [None, None, "c", "d", "e"]
chances = st.randoms(use_true_random=False)


class _Wild:
    """Makes up spans. Each result is a word of its own, so that it can be looked for."""

    def __init__(self, chance: random.Random):
        self._chance = chance
        self.results: dict[str, str] = {}
        """The results, by the id of their span."""

    def spans(self) -> list[SpanRecord]:
        return [self._span(n) for n in range(self._chance.randint(1, 14))]

    def _span(self, n: int) -> SpanRecord:
        one_of = self._chance.choice
        span_id = f"{n + 1:016x}"
        operation = AgentInvocation(agent_name="a") if n == 0 else self._operation(n, span_id)
        name, kind, attributes = GenAI().write(operation)
        start = 1_700_000_000 * SECOND + self._chance.randint(0, 6) * SECOND
        parent = f"{self._chance.randint(1, n):016x}" if n else None
        return SpanRecord(
            TRACE, span_id, one_of([parent, parent, parent, "f" * 16]) if n else None, name,
            kind=kind, start_ns=start, end_ns=start + self._chance.randint(0, 6) * SECOND,
            attributes=attributes, scope=one_of(["some.sdk", "another.sdk"]),
        )  # fmt: skip

    def _operation(self, n: int, span_id: str) -> Operation:
        match self._chance.choice("aimmtttttpppwrx"):
            case "a":
                return AgentInvocation(agent_name=self._chance.choice("abc"))
            case "w":
                return WorkflowInvocation(workflow_name="w")
            case "r":
                return Retrieval(query="q", documents=[{"id": n}])
            case "x":
                return MemoryOperation(operation="search_memory", query="q", records=[{"id": n}])
            case "t":
                name, call_id = self._chance.choice(NAMES), self._chance.choice(IDS)
                result = self._result(n, span_id)
                if self._chance.random() < 0.6:
                    result["arguments"] = self._arguments()
                return ToolExecution(name=name, call_id=call_id, **result)
            case "p":
                return McpRequest(tool_name=self._chance.choice("tu"), **self._result(n, span_id))
            case _:
                return self._inference(n)

    def _inference(self, n: int) -> Inference:
        calls = [
            tool_call(self._chance.choice(NAMES), self._arguments(), self._chance.choice(IDS))
            for _ in range(self._chance.randint(0, 2))
        ]
        results = [
            tool_response(f"sent {n}", self._chance.choice(IDS))
            for _ in range(self._chance.randint(0, 2))
        ]
        return Inference(
            provider="p",
            response_id=self._chance.choice([None, None, "r"]),
            input=[message("tool", results)] if results else [],
            output=[message("assistant", [reasoning(f"hm {n}"), *calls])],
        )

    def _arguments(self) -> dict[str, Any]:
        return self._chance.choice([{}, {"n": 1}, {"agent_name": "b"}, {"subagent_type": "b"}])

    def _result(self, n: int, span_id: str) -> dict[str, Any]:
        if self._chance.random() < 0.3:
            return {}
        self.results[span_id] = f"result {n} of a span"
        return {"result": self.results[span_id]}


def rebuilt(spans: list[SpanRecord]) -> list[Rebuilt]:
    copies = [msgspec.structs.replace(span, attributes=dict(span.attributes)) for span in spans]
    return sorted(rebuild(copies), key=lambda item: item.trace_id)


def told(spans: list[SpanRecord]) -> Any:
    return [
        (exact(rebuilt_trace.trace.to_dict()), sorted(map(repr, rebuilt_trace.fidelity.notes)))
        for rebuilt_trace in rebuilt(spans)
    ]


@settings(max_examples=many(600))
@given(chances)
def test_any_order_and_any_copies_give_the_same_traces_and_notes(chance: random.Random) -> None:
    spans = _Wild(chance).spans()
    mixed = list(spans)
    chance.shuffle(mixed)
    assert told(mixed) == told(spans)
    copied = [*mixed, *chance.choices(spans, k=3)]
    chance.shuffle(copied)
    assert [item for item, _ in told(copied)] == [item for item, _ in told(spans)]


@settings(max_examples=many(600))
@given(chances)
def test_a_spans_result_is_in_the_trace_or_noted(chance: random.Random) -> None:
    wild = _Wild(chance)
    result = rebuilt(wild.spans())
    everything = canonical([rebuilt_trace.document for rebuilt_trace in result])
    noted = {
        note.span_id
        for rebuilt_trace in result
        for note in rebuilt_trace.fidelity.notes
        if _replaces(note)
    }
    lost = {key for key, word in wild.results.items() if word not in everything}
    assert lost <= noted | {handoff.span_id for handoff in _handoffs(result)}


def _replaces(note: Any) -> bool:
    return bool(note.outcome == "duplicate")


def _handoffs(rebuilt_traces: list[Rebuilt]) -> Iterator[Any]:
    """Yield the notes on handoffs: what a transfer returns is no step."""
    for rebuilt_trace in rebuilt_traces:
        steps = {
            step["step_id"] for step in rebuilt_trace.document["steps"] if step["type"] == "handoff"
        }
        yield from (note for note in rebuilt_trace.fidelity.notes if note.step_id in steps)


@settings(max_examples=many(600))
@given(chances)
def test_whatever_is_missing_no_step_is_made_up(chance: random.Random) -> None:
    spans = _Wild(chance).spans()
    left = [span for span in spans if chance.random() < 0.7]
    for rebuilt_trace in rebuilt(left):
        steps = rebuilt_trace.document["steps"]
        ids = [step["step_id"] for step in steps]
        assert len(set(ids)) == len(ids)
        times = {span.start_ns for span in left} | {span.end_ns for span in left}
        assert all(step.get("timestamp") in _written(times) for step in steps)
        assert len(steps) <= 6 * len(left)


def _written(times: set[int | None]) -> set[str | None]:
    return {None, *(from_ns(time) for time in times if time is not None)}
