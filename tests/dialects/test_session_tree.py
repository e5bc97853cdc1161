"""Entries of a coding agent's session become events."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import Channel, Entry, ids
from agentool_otel.dialects.kit.session_pairs import with_calls
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution, Usage
from agentool_otel.model.spans import SpanRecord

SECOND = 10**9


class Agent:
    """A dialect with the entries of a test."""

    values_from = (Channel.FILE, Channel.SPAN, Channel.LOG)

    def __init__(self, entries: list[Entry]):
        self._entries = entries

    def owns(self, span: SpanRecord) -> bool:
        return True

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return self._entries, []


def entry(number: int, channel: Channel, keys: tuple[str, ...], **usage: int) -> Entry:
    span = SpanRecord("a" * 32, f"{number:016x}", start_ns=number, end_ns=number + 1)
    return Entry("model", Inference(usage=Usage(**usage)), span, channel, keys, turn="t")


def test_a_turn_ends_with_its_answer() -> None:
    """An agent may ask the model for itself afterwards."""
    answer = Inference(output=[message("assistant", [text("Yes.")])])
    said = entry(1, Channel.FILE, ("a",))._replace(operation=answer)
    title = entry(5, Channel.FILE, ("b",))._replace(is_internal=True)
    spans = combined([SpanRecord("a" * 32, "b" * 16)], Agent([said, title]), "agent")
    (turn,) = (span for span in spans if span.name == "invoke_agent")
    assert turn.end_ns == 2


@pytest.mark.parametrize(
    ("call", "end_ns", "error"),
    [
        (ToolExecution(name="bash", call_id="c"), None, None),
        (ToolExecution(name="bash", call_id="c", error_type="cancelled"), 8, "cancelled"),
        (ToolExecution(name="bash", call_id="c", result="done"), 8, None),
    ],
)
def test_a_turn_that_stops_in_a_call_is_no_success(
    call: ToolExecution, end_ns: int | None, error: str | None
) -> None:
    (turn,) = turns_of(tool_entry(call, 4, end_ns if error or call.result == "done" else None))
    assert (turn.end_ns, turn.attributes.get("error.type")) == (end_ns, error)
    assert "gen_ai.output.messages" not in turn.attributes


def test_a_turn_whose_call_never_started_has_no_end() -> None:
    (turn,) = turns_of()
    assert turn.end_ns is None


def test_an_answer_after_an_open_call_ends_the_turn() -> None:
    answer = Inference(output=[message("assistant", [text("Yes.")])])
    said = entry(6, Channel.SPAN, ("b",))._replace(operation=answer)
    (turn,) = turns_of(tool_entry(ToolExecution(name="bash", call_id="c"), 4, None), said)
    assert turn.end_ns == 8


def turns_of(*entries: Entry) -> list[SpanRecord]:
    """Return the turns of a session: a span that ends at 8 with what the model said last, a model
    call that asks for a tool, and more entries."""
    asks = [message("assistant", [text("Waiting."), tool_call("bash", {}, "c")])]
    span = SpanRecord("a" * 32, "e" * 16, start_ns=1, end_ns=8)
    turn = Entry("turn", AgentInvocation(output=asks), span, Channel.SPAN, ("t",))
    asked = entry(2, Channel.SPAN, ("a",))._replace(operation=Inference(output=asks))
    spans = combined([SpanRecord("a" * 32, "b" * 16)], Agent([turn, asked, *entries]), "agent")
    return [span for span in spans if span.name == "invoke_agent"]


def tool_entry(call: ToolExecution, start_ns: int, end_ns: int | None) -> Entry:
    span = SpanRecord("a" * 32, "f" * 16, start_ns=start_ns, end_ns=end_ns)
    return Entry("tool", call, span, Channel.SPAN, ("c",))


def test_an_entry_joins_all_that_it_has_a_key_in_common_with() -> None:
    entries = [
        entry(1, Channel.FILE, ("line", "response"), input_tokens=100),
        entry(2, Channel.LOG, ("request",), output_tokens=10),
        entry(3, Channel.LOG, ("response", "request"), reasoning_tokens=4),
    ]
    spans = combined([SpanRecord("a" * 32, "b" * 16)], Agent(entries), "agent")
    (call,) = (span for span in spans if span.name.startswith("chat"))
    counts = {name: count for name, count in call.attributes.items() if "usage" in name}
    assert sorted(counts.values()) == [4, 10, 100]


def test_a_record_without_an_id_takes_that_of_the_nearest_call() -> None:
    def call(at: int, channel: Channel, key: str | None, agent: str | None = None) -> Entry:
        span = SpanRecord("a" * 32, f"{at:016x}", start_ns=at, end_ns=at)
        return Entry("tool", ToolExecution(name="read"), span, channel, ids(key), agent)

    spans = [call(n * SECOND, Channel.SPAN, f"c{n}") for n in range(1, 2000)]
    logs = [call(n * SECOND + 1, Channel.LOG, None, "sub") for n in range(1, 2000, 7)]
    completed = with_calls([*spans, *logs])[len(spans) :]
    assert [entry.keys for entry in completed] == [(f"c{n}",) for n in range(1, 2000, 7)]


@pytest.mark.parametrize("channel", [Channel.SPAN, Channel.LOG])
def test_turns_with_calls_of_one_id_stay_apart(channel: Channel) -> None:
    """The first turn was killed in its call, whose id the server uses again."""
    call = ToolExecution(name="bash", call_id="c", result="done")
    lost = tool_entry(ToolExecution(name="bash", call_id="c"), 5, None)
    lost = lost._replace(channel=Channel.LOG, turn="t")
    again = tool_entry(call, 70, 80)._replace(channel=channel, turn="second")
    span = SpanRecord("a" * 32, "d" * 16, start_ns=60, end_ns=90)
    second = Entry("turn", AgentInvocation(), span, Channel.SPAN, ("second",))
    logged = [Entry("turn", AgentInvocation(), replace(span, start_ns=at), Channel.LOG, (key,))
              for key, at in (("t", 1), ("second", 60))]  # fmt: skip
    found = turns_of(lost, *logged, second, again)
    assert [turn.start_ns for turn in found] == [1, 60]
