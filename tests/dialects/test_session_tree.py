"""Entries of a coding agent's session become events."""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.dialects.kit.session_entries import Channel, Entry, ids
from agentool_otel.dialects.kit.session_pairs import with_calls
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference, ToolExecution, Usage
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
