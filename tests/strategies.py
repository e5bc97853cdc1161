"""Strategies of traces and operations, and exact comparison, for the laws."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

scalars = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 0.0, -0.0, "", 1, 1.0])
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), values, max_size=3)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
ids = st.sampled_from(["call_1", "call_2", "call_3", ""]) | st.text(max_size=6)
times = st.sampled_from(
    [
        "2026-03-01T10:00:00Z",
        "2026-03-01T10:00:00+00:00",
        "2026-03-01T11:00:00.5+01:00",
        "2026-03-01T10:00:01.123456789Z",
        "2026-03-01 10:00:02",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59Z",
        "not a time",
        "",
    ]
)


def maybe(**members: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Members that may be null."""
    return {name: st.none() | strategy for name, strategy in members.items()}


def with_unknown(mine: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    unknown = st.dictionaries(st.sampled_from(["x", "note", "", "ü", "extra"]), values, max_size=2)
    return st.tuples(unknown, mine).map(lambda drawn: {**drawn[0], **drawn[1]})


tool_calls = with_unknown(
    st.fixed_dictionaries(
        {"name": st.text(max_size=8)},
        optional={**maybe(id=ids, timestamp=times), "arguments": values},
    )
)
tool_results = with_unknown(
    st.fixed_dictionaries(
        {},
        optional={
            **maybe(call_id=ids, duration_ms=numbers, cost_tokens=numbers),
            "output": values,
            "error": values | st.sampled_from(["permission_denied", "permission_denied: no"]),
            "exit_code": numbers | values,
        },
    )
)
_common = maybe(step_id=st.text(max_size=8), timestamp=times, context_tokens=numbers)


def _step(kind: str, **members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return with_unknown(
        st.fixed_dictionaries({"type": st.just(kind)}, optional={**_common, **members})
    )


steps = st.one_of(
    _step("reasoning", content=values),
    _step("tool_call", tool_call=st.none() | tool_calls),
    _step("tool_call", tool_call=st.none() | tool_calls, executed=st.booleans()),
    _step("tool_result", tool_result=st.none() | tool_results),
    _step("handoff", to_agent=st.none() | st.text(max_size=8), message=values),
    _step("memory_read", query=values, results=values),
    _step("memory_write", content=values, key=values),
    _step("an unknown type", content=values, tool_call=st.none() | tool_calls),
)
metrics = with_unknown(
    st.fixed_dictionaries(
        {},
        optional=maybe(
            total_tokens=numbers,
            total_cost_usd=numbers,
            total_duration_ms=numbers,
            step_count=numbers,
            tool_call_count=numbers,
        ),
    )
)
statuses = st.sampled_from(
    ["success", "error", "loop_detected", "context_overflow", "timeout", "refusal", "in_progress"]
) | st.text(max_size=8)
errors = with_unknown(
    st.fixed_dictionaries(
        {},
        optional=maybe(
            type=st.sampled_from(["ValueError", "_OTHER", "error", ""]) | st.text(max_size=8),
            message=st.sampled_from(["because of X", ""]) | values,
            span_id=st.sampled_from(["0123456789abcdef", "0000000000000001", ""]),
        ),
    )
)
"""Errors that ended a run, and values in their place that are none."""
labels = st.fixed_dictionaries(
    {},
    optional={
        "user_id": st.text(max_size=6) | values,
        "case_id": st.text(max_size=6) | values,
        "tags": st.lists(st.text(max_size=6), max_size=3) | values,
    },
)
"""Labels of a run, and values in their place that are none."""
metadata = st.builds(
    lambda remainder, named, error: {**remainder, **named, **error},
    objects,
    labels,
    st.just({}) | st.fixed_dictionaries({"error": errors | values}),
)
traces = with_unknown(
    st.fixed_dictionaries(
        {"trace_id": st.text(max_size=40), "steps": st.lists(steps, max_size=6)},
        optional={
            **maybe(
                agent_id=st.text(max_size=8),
                session_id=st.text(max_size=8),
                started_at=times,
                finished_at=times,
                status=statuses,
                metrics=metrics,
                metadata=metadata,
            ),
            "input": values,
            "output": values,
        },
    )
)
"""ReasoningTraces as JSON objects: falsy values, duplicate and missing ids, orphans, odd times."""


def exact(value: Any) -> str:
    """Text that distinguishes 1 from 1.0 and from true, and 0.0 from -0.0."""
    return json.dumps(value, sort_keys=True)
