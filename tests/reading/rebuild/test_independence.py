"""Changes of spans in transit do not change the trace, or the trace has a note."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.reading.rebuild.trees import DIALECTS, SECOND, span_trees
from tests.reading.sources.encoders.otlp import otlp
from tests.reading.sources.encoders.values import dumps
from tests.strategies import exact

Tree = list[SpanRecord]
chances = st.randoms(use_true_random=False)


def law(check: Callable[..., None]) -> Any:
    """Run a check on random trees of every dialect."""
    slow = [HealthCheck.too_slow, HealthCheck.differing_executors]
    limited = settings(max_examples=60, deadline=None, suppress_health_check=slow)
    return pytest.mark.parametrize("dialect", DIALECTS)(
        limited(given(data=st.data(), chance=chances)(check))
    )


def traces(spans: Iterable[SpanRecord]) -> list[dict[str, Any]]:
    """Rebuild copies, and order the traces by id: only the order inside one is a promise."""
    copies = [msgspec.structs.replace(span, attributes=dict(span.attributes)) for span in spans]
    dicts = [rebuilt.trace.to_dict() for rebuilt in rebuild(copies)]
    return sorted(dicts, key=lambda trace: str(trace["trace_id"]))


def steps(results: list[dict[str, Any]], kind: str) -> Counter[str]:
    """Count the steps of a kind in all traces, whatever their times and ids."""
    return Counter(
        repr({k: v for k, v in step.items() if k not in ("step_id", "timestamp")})
        for trace in results
        for step in trace["steps"]
        if step["type"] == kind
    )


def below(trace: dict[str, Any], root: SpanRecord) -> bool:
    """True for a trace that no other one holds: its parent was the span that is missing."""
    return "parent_trace_id" not in trace.get("metadata", {}) and root.parent_id is None


def causal(results: list[dict[str, Any]]) -> bool:
    """True where no result comes before its call."""
    for trace in results:
        called: set[Any] = set()
        ids = {s["tool_call"].get("id") for s in trace["steps"] if s["type"] == "tool_call"}
        for step in trace["steps"]:
            if step["type"] == "tool_call":
                called.add(step["tool_call"].get("id"))
            elif step["type"] == "tool_result":
                call_id = step["tool_result"].get("call_id")
                if call_id in ids and call_id not in called:
                    return False
    return True


@law
def test_any_order_gives_the_same_traces(dialect: str, data: st.DataObject, chance: Any) -> None:
    tree = data.draw(span_trees(dialect))
    mixed = list(tree)
    chance.shuffle(mixed)
    assert exact(traces(mixed)) == exact(traces(tree))


@law
def test_copies_change_nothing_and_the_finished_one_counts(
    dialect: str, data: st.DataObject, chance: random.Random
) -> None:
    tree = data.draw(span_trees(dialect))
    early = [
        msgspec.structs.replace(
            span,
            end_ns=None,
            attributes=dict(list(span.attributes.items())[: chance.randint(0, 3)]),
        )
        for span in tree
    ]
    copies = [*tree, *chance.choices(tree, k=3), *chance.choices(early, k=3)]
    chance.shuffle(copies)
    assert exact(traces(copies)) == exact(traces(tree))


@law
def test_files_change_nothing(dialect: str, data: st.DataObject, chance: random.Random) -> None:
    tree = data.draw(span_trees(dialect))
    parts: list[Tree] = [[], [], []]
    for span in tree:
        chance.choice(parts).append(span)
    with tempfile.TemporaryDirectory() as folder:
        for n, part in enumerate(parts):
            (Path(folder) / f"{n}.json").write_bytes(dumps(otlp(part)))
        result = traces(open_source(folder).spans())
    assert exact(result) == exact(traces(tree))


@law
def test_a_trace_without_its_root_is_incomplete(
    dialect: str, data: st.DataObject, chance: random.Random
) -> None:
    tree = data.draw(span_trees(dialect))
    complete, result = traces(tree), traces(tree[1:])
    for kind in ("tool_call", "memory_write", "memory_read", "reasoning"):
        assert steps(result, kind) == steps(complete, kind)
    assert all(trace["metadata"]["incomplete"] for trace in result if below(trace, tree[0]))


@law
def test_with_clock_skew_every_step_is_kept_and_causes_come_first(
    dialect: str, data: st.DataObject, chance: random.Random
) -> None:
    tree = data.draw(span_trees(dialect))
    skewed: Tree = []
    for span in tree:
        by = chance.choice([0, -3, 3]) * SECOND
        assert span.start_ns is not None
        assert span.end_ns is not None
        skewed.append(
            msgspec.structs.replace(span, start_ns=span.start_ns + by, end_ns=span.end_ns + by)
        )
    complete, result = traces(tree), traces(skewed)
    assert len(result) == len(complete)
    for kind in ("tool_call", "memory_write", "memory_read", "reasoning"):
        assert steps(result, kind) == steps(complete, kind)
    assert causal(result)


@law
def test_values_that_were_cut_cost_no_run(
    dialect: str, data: st.DataObject, chance: random.Random
) -> None:
    tree = data.draw(span_trees(dialect))
    limit = chance.choice([5, 20, 60])
    cut = [
        msgspec.structs.replace(
            span,
            attributes={
                key: value[:limit] if isinstance(value, str) and len(value) > limit else value
                for key, value in span.attributes.items()
            },
        )
        for span in tree
    ]
    assert len(traces(cut)) <= len(tree)
    agents = {trace.get("agent_id") for trace in traces(tree)}
    if limit > 30:
        assert agents <= {trace.get("agent_id") for trace in traces(cut)}


@law
def test_spans_that_never_ended_give_a_trace_marked_as_incomplete(
    dialect: str, data: st.DataObject, chance: random.Random
) -> None:
    tree = data.draw(span_trees(dialect))
    for span in tree:
        if span.parent_id is None:
            span.end_ns = None
    result = traces(tree)
    assert any((trace.get("metadata") or {}).get("incomplete") for trace in result)


@law
def test_any_span_may_be_missing(dialect: str, data: st.DataObject, chance: random.Random) -> None:
    tree = data.draw(span_trees(dialect))
    left = [span for span in tree if chance.random() < 0.6]
    assert causal(traces(left))
