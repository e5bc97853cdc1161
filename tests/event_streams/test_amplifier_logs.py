"""Logs of Amplifier, whatever is in them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.event_streams.amplifier.names import WATCHED
from agentool_otel.event_streams.amplifier.payloads import event_time
from agentool_otel.sources.files.amplifier_log import AmplifierLog, is_event

_NAMES = ("tool_name", "tool_input", "result", "tool_call_id", "parallel_group_id", "prompt",
          "response", "usage", "status", "error", "block", "request_id", "model", "provider",
          "parent_id", "metadata", "sub_session_id", "agent", "finish_reason", "raw", "timestamp",
          "length")  # fmt: skip
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from([*_NAMES, "type", "text", "success", "output"]), inner)
    ),
    max_leaves=6,
)
_few = st.sampled_from(["a", "b"])
_lines = st.fixed_dictionaries(
    {"event": st.sampled_from(WATCHED), "session_id": _few},
    optional={
        "data": st.dictionaries(st.sampled_from(_NAMES), _few | _values, max_size=6),
        "status": _few | _values,
        "error": _values,
        "request_id": _few,
        "ts": st.sampled_from(["2026-11-23T10:00:00Z", "x", ""]),
    },
)


def spans_of(lines: list[dict[str, Any]]) -> list[Any]:
    log = AmplifierLog()
    return [*(span for line in lines for span in log.spans(line)), *log.rest()]


@given(lines=st.lists(_lines, max_size=12))
def test_every_log_gives_whole_spans_and_the_same_ones_again(lines: list[dict[str, Any]]) -> None:
    spans = spans_of(lines)
    assert all(it.end_ns is not None for it in spans)
    ids = {it.span_id for it in spans}
    assert len(ids) == len(spans)
    assert {it.parent_id for it in spans} <= {*ids, None}
    assert spans == spans_of(lines)


def test_a_line_is_known_by_its_schema_or_by_an_event_of_the_kernel() -> None:
    assert is_event({"event": "garden:watered", "schema": {"name": "amplifier.log"}})
    assert is_event({"event": "tool:pre", "session_id": "s"})
    assert not is_event({"event": "tool:pre", "schema": {"name": "other"}, "session_id": "s"})
    assert not is_event({"event": "message", "session_id": "s"})


def test_times_are_read_to_the_nanosecond() -> None:
    assert event_time("2026-11-23T15:13:34.546281958+00:00") == 1795446814546281958
    assert event_time("2026-11-23T16:13:34.5+01:00") == 1795446814500000000
    assert event_time("2026-11-23T15:13:34Z") == 1795446814000000000
    assert event_time("2026-13-23T15:13:34Z") is None
    assert event_time(17) is None
