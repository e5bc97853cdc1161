"""Logs of Amplifier, whatever is in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.integrations.amplifier.events import session as sessions
from agentool_otel.integrations.amplifier.events import translator
from agentool_otel.integrations.amplifier.events.event_names import WATCHED
from agentool_otel.integrations.amplifier.events.payloads import cost_of, event_time, usage_of
from agentool_otel.integrations.amplifier.events.translator import AmplifierEvents
from agentool_otel.integrations.amplifier.log_reader import AmplifierLog
from agentool_otel.reading.sources.recorded_steps import RecordedStep, SpanRecorder

_NAMES = ("tool_name", "tool_input", "result", "tool_call_id", "parallel_group_id", "prompt",
          "response", "usage", "status", "error", "block", "request_id", "model", "provider",
          "parent_id", "metadata", "sub_session_id", "agent", "finish_reason", "raw", "timestamp",
          "length", "cost_usd", "input_tokens")  # fmt: skip
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
        "ts": st.sampled_from(["2026-11-23T10:00:00Z", "9999-11-23T10:00:00Z", "x", ""]),
    },
)


def spans_of(lines: list[dict[str, Any]]) -> list[Any]:
    log = AmplifierLog()
    return [*(span for line in lines for span in log.spans(line)), *log.rest()]


def log_of(*events: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the spans of a session, an event a second, in the order in which they began."""
    lines = [
        {"event": name, "session_id": "s", "ts": f"2026-11-23T10:00:{n:02}Z", "data": data}
        for n, (name, data) in enumerate(events)
    ]
    return sorted(spans_of(lines), key=lambda span: span.start_ns)


PROMPT = ("prompt:submit", {"prompt": "How is it?"})
DONE = ("orchestrator:complete", {"status": "success"})


@given(lines=st.lists(_lines, max_size=12))
def test_every_log_gives_whole_spans_and_the_same_ones_again(lines: list[dict[str, Any]]) -> None:
    spans = spans_of(lines)
    assert all(span.end_ns is not None and 0 <= span.start_ns < 1 << 63 for span in spans)
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans)
    assert {span.parent_id for span in spans} <= {*ids, None}
    assert spans == spans_of(lines)


def test_a_line_is_recognised_by_schema_or_kernel_event() -> None:
    is_event = AmplifierLog.recognises
    assert is_event({"event": "garden:watered", "schema": {"name": "amplifier.log"}})
    assert is_event({"event": "tool:pre", "session_id": "s"})
    assert not AmplifierLog.recognises(
        {"event": "tool:pre", "schema": {"name": "other"}, "session_id": "s"}
    )
    assert not is_event({"event": "message", "session_id": "s"})


def test_times_are_read_to_the_nanosecond() -> None:
    assert event_time("2026-11-23T15:13:34.546281958+00:00") == 1795446814546281958
    assert event_time("2026-11-23T16:13:34.5+01:00") == 1795446814500000000
    assert event_time("2026-11-23T15:13:34Z") == 1795446814000000000
    assert event_time("2026-13-23T15:13:34Z") is None
    assert event_time("9999-11-23T15:13:34Z") is None
    assert event_time("1969-11-23T15:13:34Z") is None
    assert event_time(17) is None


# --------------------------------------------------------------------------------- tool calls


def test_an_unanswered_call_of_a_continued_turn_was_denied() -> None:
    use = ("tool:pre", {"tool_name": "look", "tool_call_id": "a"})
    _, denied = log_of(PROMPT, use, ("provider:request", {}), DONE)
    assert denied.attributes["error.type"] == "permission_denied"
    _, unanswered = log_of(PROMPT, use, DONE)
    assert unanswered.attributes["agentool.tool.incomplete"] == "call_only"
    assert "error.type" not in unanswered.attributes


def test_an_error_with_arguments_belongs_to_their_call() -> None:
    uses = [("tool:pre", {"tool_name": "look", "tool_input": {"n": n}}) for n in (1, 2)]
    failed = ("tool:error", {"tool_name": "look", "tool_input": {"n": 2}, "error": "dark"})
    _, first, second = log_of(PROMPT, *uses, failed, DONE)
    assert "error.type" not in first.attributes
    assert second.attributes["agentool.tool.error"] == "dark"


def test_unanswered_calls_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_UNDER_WAY", 3)
    uses = [("tool:pre", {"tool_name": "look", "tool_call_id": str(n)}) for n in range(9)]
    done: list[Any] = []
    events = AmplifierEvents(SpanRecorder(done.append, "amplifier", {}))
    for name, data in [PROMPT, *uses]:
        events.read(name, {"session_id": "s", **data}, 1)
    assert len(done) == 6
    assert {item.attributes["agentool.tool.incomplete"] for item in done} == {"call_only"}


def test_the_least_recently_used_session_is_dropped_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(translator, "_SESSIONS", 2)
    ended: list[Any] = []
    events = AmplifierEvents(SpanRecorder(ended.append, "amplifier", {}))
    for session_id in ("a", "b", "a", "c"):
        ended.clear()
        events.read("execution:start", {"session_id": session_id}, 1)
    assert [item.attributes["gen_ai.conversation.id"] for item in ended] == ["b"]


# ----------------------------------------------------------------------- turns and model calls


def test_a_preview_of_the_answer_is_an_output_that_was_cut() -> None:
    preview = ("prompt:complete", {"response_preview": "It is sun", "length": 12})
    [trace] = agentool_otel.rebuild(log_of(PROMPT, preview, DONE))
    assert trace.trace.output == "It is sun… [truncated: 12 characters]"
    complete = ("prompt:complete", {"response_preview": "Sunny.", "length": 6})
    [trace] = agentool_otel.rebuild(log_of(PROMPT, complete, DONE))
    assert trace.trace.output == "Sunny."


@pytest.mark.parametrize("event", ["prompt:submit", "execution:start"])
def test_a_turn_begins_with_its_prompt(event: str) -> None:
    """So that it is there after a kill."""
    begun: list[Any] = []
    ended: list[Any] = []

    class Recorder(SpanRecorder):
        def start(
            self, operation: Any, parent: Any, at_ns: int, content: Any = None
        ) -> RecordedStep:
            begun.append(content())
            return super().start(operation, parent, at_ns, content)

    events = AmplifierEvents(Recorder(ended.append, "amplifier", {}))
    events.read(event, {"session_id": "s", "prompt": "How is it?"}, 1)
    assert "How is it?" in str(begun)


def test_module_events_do_not_separate_a_call_from_its_content() -> None:
    block = {"block": {"type": "text", "text": "Sunny."}}
    turn, chat = log_of(
        PROMPT,
        ("llm:request", {"model": "m"}),
        ("llm:response", {"model": "m"}),
        ("budget:spent", {"cents": 3}),
        ("content_block:end", block),
        DONE,
    )
    assert "Sunny." in chat.attributes["gen_ai.output.messages"]
    assert "Sunny." in turn.attributes["gen_ai.output.messages"]


@pytest.mark.parametrize("status", ["incomplete", "cancelled", "timeout", "error"])
def test_an_unsuccessful_turn_is_an_error(status: str) -> None:
    [turn] = log_of(PROMPT, ("orchestrator:complete", {"status": status}))
    assert turn.attributes["error.type"] == status
    assert turn.attributes["agentool.status"] == "error"


def test_a_model_call_between_turns_is_a_turn_without_prompt() -> None:
    call = (("llm:request", {"model": "m"}), ("llm:response", {"model": "m"}))
    spans = log_of(PROMPT, DONE, *call, PROMPT, DONE)
    first, between, second = (span for span in spans if span.name == "invoke_agent")
    assert "agentool.status" not in between.attributes
    assert second.start_ns - first.start_ns == 4_000_000_000


def test_a_line_without_a_time_is_as_late_as_the_one_before_it() -> None:
    lines: list[dict[str, Any]] = [
        {"event": "prompt:submit", "session_id": "s", "ts": "2026-11-23T10:00:00Z"},
        {"event": "plan:start", "session_id": "s"},
        {"event": "orchestrator:complete", "session_id": "s", "ts": "broken"},
    ]
    assert {(span.start_ns, span.end_ns) for span in spans_of(lines)} == {(1795428000 * 10**9,) * 2}


def test_a_cost_that_is_no_amount_is_none() -> None:
    for cost in ("nan", "inf", "1e999", 10**400, True, "much"):
        assert cost_of({"usage": {"cost_usd": cost}}) is None


def test_a_count_that_no_attribute_holds_is_none() -> None:
    assert usage_of({"usage": {"input_tokens": -1, "output_tokens": 1 << 63}}) is None


def test_a_step_that_has_ended_stays_as_it_is() -> None:
    done: list[Any] = []
    events = AmplifierEvents(SpanRecorder(done.append, "amplifier", {}))
    events.read("plan:start", {"session_id": "s"}, 1)
    plan = events.session("s").plan
    assert plan is not None
    plan.end(2)
    plan.end(3)
    plan.link("0" * 31 + "1", "0" * 15 + "1")
    assert (done[0].end_ns, list(done[0].links)) == (2, [])
