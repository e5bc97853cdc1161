"""The turns of a session, which have no id: each record is of the last prompt before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import Channel, Entry
from agentool_otel.integrations.gemini_cli.events.calls import prompt_in
from agentool_otel.integrations.gemini_cli.events.names import AGENT
from agentool_otel.model.messages import message, parts_of, text
from agentool_otel.model.operations import AgentInvocation, Inference
from agentool_otel.semconv import gen_ai

__all__ = ["with_turns"]

_CUT, _CUT_LENGTH = "[TRUNCATED: original length ", 60
"""The end of a value that Gemini CLI has cut, and how long it is at most."""
_ROUTING_NS = 10 * 10**9
"""Longest time between a request for itself and the prompt in the session file, which Gemini CLI
writes when it knows the model to use."""


def with_turns(entries: list[Entry]) -> list[Entry]:
    """Return entries with the turns that they are of, and the turns of spans."""
    prompts = list(_prompts_of_spans(entries))
    turns = _Turns([*entries, *prompts])
    placed = [_without_history(turns.placed(entry)) for entry in entries]
    return [*placed, *prompts, *_without_prompt(placed, prompts)]


def _without_history(entry: Entry) -> Entry:
    """Return a model call without what it was sent: its turn has the prompt, which would be taken
    from the history where it is cut."""
    call = entry.operation
    if entry.agent is not None or not isinstance(call, Inference) or not call.input:
        return entry
    return entry._replace(operation=replace(call, input=None))


def _without_prompt(entries: list[Entry], prompts: list[Entry]) -> Iterator[Entry]:
    """Yield the turns whose prompt no record has; Gemini CLI has no spans of turns."""
    known = {key for entry in (*entries, *prompts) if entry.kind == "turn" for key in entry.keys}
    for entry in entries:
        if entry.turn is not None and entry.turn not in known:
            known.add(entry.turn)
            turn = AgentInvocation(
                agent_name=AGENT, conversation_id=entry.operation.conversation_id
            )
            span = replace(
                entry.span, span_id=f"{entry.span.span_id}/turn", parent_id=None, end_ns=None
            )
            yield Entry("turn", turn, span, entry.channel, (entry.turn,))


class _Turns:
    """When each turn began, by channel."""

    def __init__(self, entries: list[Entry]):
        self._starts: dict[Channel, list[tuple[int, str]]] = {channel: [] for channel in Channel}
        for entry in entries:
            if entry.kind == "turn" and entry.keys:
                start = entry.span.start_ns or 0
                self._starts[entry.channel].append((start, entry.keys[0]))
        if not any(self._starts.values()):
            self._starts[Channel.SPAN] += _named_prompts(entries)
        for starts in self._starts.values():
            starts.sort()

    def placed(self, entry: Entry) -> Entry:
        """Return an entry with its turn."""
        if entry.turn is not None or (entry.kind == "turn" and entry.keys):
            return entry
        key = self._key(entry)
        if entry.kind == "turn":
            return entry._replace(keys=(key,))
        return entry._replace(turn=key)

    def _key(self, entry: Entry) -> str:
        for channel in (entry.channel, Channel.LOG, Channel.SPAN, Channel.FILE):
            starts = self._starts[channel]
            if starts:
                at = entry.span.start_ns or 0
                if channel is Channel.FILE and _is_own(entry):
                    at += _ROUTING_NS
                return starts[max(bisect_right(starts, (at, "\U0010ffff")) - 1, 0)][1]
        return f"session {entry.operation.conversation_id}"


def _named_prompts(entries: list[Entry]) -> Iterator[tuple[int, str]]:
    """Yield the first request of each prompt, by its id, which is that of the session where a
    process has one prompt only."""
    known: set[str] = set()
    for entry in entries:
        name = entry.span.attributes.get("gen_ai.prompt.name")
        if entry.agent is None and isinstance(name, str) and name not in known:
            known.add(name)
            yield entry.span.start_ns or 0, f"prompt {name}"


def _is_own(entry: Entry) -> bool:
    call = entry.operation
    return isinstance(call, Inference) and call.output is None


def _prompts_of_spans(entries: list[Entry]) -> Iterator[Entry]:
    """Yield the turns that spans of model calls show: an answer is the end of one, and a request
    with another text of the user is the beginning of the next."""
    last: str | None = None
    is_over = True
    for entry in entries:
        call = entry.operation
        if entry.channel is not Channel.SPAN or entry.agent is not None:
            continue
        if not isinstance(call, Inference):
            continue
        prompt = _prompt(call)
        is_next = is_over if prompt is None else is_over or prompt != last
        if is_next and (prompt is not None or _is_cut(entry)):
            asked = AgentInvocation(
                agent_name=AGENT,
                conversation_id=call.conversation_id,
                input=None if prompt is None else [message("user", [text(prompt)])],
            )
            span = replace(
                entry.span, span_id=f"{entry.span.span_id}/turn", parent_id=None, end_ns=None
            )
            yield Entry("turn", asked, span, Channel.SPAN, (f"turn {entry.span.span_id}",))
            last, is_over = prompt, False
        if call.output is not None and not _asks(call):
            is_over = True


def _prompt(call: Inference) -> str | None:
    """Return the text of the user that a request ends with."""
    if not call.input or call.input[-1].get("role") != "user":
        return None
    parts: list[Any] = parts_of(call.input[-1])
    if any(part.get("type") == "tool_call_response" for part in parts):
        return None
    return prompt_in(parts)


def _is_cut(entry: Entry) -> bool:
    """Return whether the messages of a request are too long to be all on its span."""
    messages = entry.span.attributes.get(gen_ai.INPUT_MESSAGES)
    return isinstance(messages, str) and _CUT in messages[-_CUT_LENGTH:]


def _asks(call: Inference) -> bool:
    return any(
        part.get("type") == "tool_call" for item in call.output or () for part in parts_of(item)
    )
