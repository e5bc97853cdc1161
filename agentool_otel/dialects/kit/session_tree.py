"""Sessions of coding agents, put together from every place that records them.

A coding agent writes spans, log records and a file of its own. Each has a part of what happened,
under other ids and times. A dialect knows which event of the session a record is of; records
of the same event become one span, and the spans one tree:

    invoke_agent                 a turn: from a prompt of the user to the answer
    ├─ chat
    └─ execute_tool
       └─ invoke_agent           a sub-agent, below the tool that started it
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit.session_entries import Channel, Entry, SessionDialect, flat
from agentool_otel.dialects.kit.session_events import Event
from agentool_otel.dialects.kit.session_groups import Groups, Turns, entry_time
from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import AgentInvocation, Inference, Operation
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["combined"]

_SAME_PROMPT_NS = 60 * 10**9
_SAME_TIME_NS = 5 * 10**9
"""Longest time between two records of one prompt: of the same text, and where one has no text."""
_TURN_ONLY = frozenset({"tool_call"})
"""Finish reasons after which a turn goes on."""
_STOPPED = ("cancelled", "interrupted")
"""Error types of a call that was stopped from outside."""
_WRITER = GenAI()


def combined(spans: list[SpanRecord], dialect: SessionDialect, scope: str) -> list[SpanRecord]:
    """Return the spans of a session, one for each event.

    Args:
        spans: those of all channels; spans of other programs in the same traces are kept.
        dialect: knows the records of the agent.
        scope: the scope of the new spans.
    """
    records = [record for span in spans if dialect.owns(span) for record in flat(span)]
    if not records:
        return spans
    foreign = [span for span in spans if not dialect.owns(span)]
    entries, unknown = dialect.entries(records)
    session = _Session(entries, dialect.values_from, {span.span_id for span in foreign})
    spans_made = list(session.spans(scope))
    return [*foreign, *spans_made, *session.adopted(unknown, {s.span_id for s in spans_made})]


class _Session:
    """The events of a session as a tree."""

    def __init__(
        self, entries: list[Entry], values_from: Sequence[Channel], outside: set[str]
    ) -> None:
        self._values_from = values_from
        self._outside = outside
        """Ids of spans that are none of the session's."""
        self._all_turns = Turns(entries)
        events = list(self._merged(entries))
        self.turns = [event for event in events if event.kind == "turn"]
        self.agents = {key: e for e in events if e.kind == "agent" for key in e.keys}
        self._tools: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            if event.kind == "tool":
                for key in dict.fromkeys(event.keys):
                    self._tools[key].append(event)
        self._others = [event for event in events if event.kind in ("model", "tool")]
        self._turn_of: dict[str, Event] = {}
        self._joined: dict[Event, Event] = {}
        """Turns that are part of another."""
        self._share_agents()
        self._add_missing_agents()
        self._join_agents()
        self._join_turns()
        self._place()

    def _merged(self, entries: list[Entry]) -> Iterator[Event]:
        """Yield an event for each set of entries that have keys in common."""
        groups = Groups(self._all_turns)
        for entry in sorted(entries, key=entry_time):
            groups.add(entry)
        for group in groups.all():
            yield Event(group.entries, self._values_from)

    # ------------------------------------------------------------------------------ sub-agents

    def _share_agents(self) -> None:
        """Give a model call and the tools that it asks for the same sub-agent, where one of them is
        known to be of any."""
        pairs = [(event, tool) for event in self._others for tool in self._requested(event)]
        for event, tool in pairs:
            tool.agent = tool.agent or event.agent
            tool.asked_by = event
        for event, tool in pairs:
            event.agent = event.agent or tool.agent
        for event, tool in pairs:
            tool.agent = tool.agent or event.agent

    def _add_missing_agents(self) -> None:
        """Add the sub-agents of which only events are known."""
        for event in self._others:
            key = event.agent
            if key is not None and key not in self.agents:
                entry = event.entries[0]
                operation = AgentInvocation(conversation_id=entry.operation.conversation_id)
                span = replace(entry.span, span_id=_made_id(entry.span.span_id, key), end_ns=None)
                agent = Entry("agent", operation, span, entry.channel, (key,), turn=entry.turn)
                self.agents[key] = Event([agent], self._values_from)

    def _join_agents(self) -> None:
        """Join sub-agents that have an event in common: one channel has another key of them."""
        for event in self._others:
            named = [entry.agent for entry in event.entries]
            named += [event.agent, *(tool.agent for tool in self._requested(event))]
            keys = [key for key in dict.fromkeys(named) if key is not None and key in self.agents]
            for key in keys[1:]:
                into, duplicate = self.agents[keys[0]], self.agents[key]
                if into is not duplicate:
                    into.add(duplicate)
                    self.agents.update(dict.fromkeys((*duplicate.keys, key), into))

    # ----------------------------------------------------------------------------------- turns

    def _join_turns(self) -> None:
        """Join turns that have an event in common, or the same prompt at the same time."""
        for turn in self.turns:
            for key in turn.keys:
                self._turn_of[key] = turn
        for event in (*self._others, *self.agents.values()):
            related = (event, *self._requested(event))
            named = dict.fromkeys(
                entry.turn for one in related for entry in one.entries if entry.turn is not None
            )
            turns = [self._turn_of[key] for key in named if key in self._turn_of]
            if not turns and named:
                turns = [self._missing_turn(event, next(iter(named)))]
            for key in named:
                self._turn_of.setdefault(key, turns[0])
            for duplicate in turns[1:]:
                self._join(turns[0], duplicate)
        self._sort_turns()
        for turn in self.turns:
            if turn not in self._joined and (twin := self._twin(turn)) is not None:
                self._join(twin, turn)
        self._sort_turns()

    def _requested(self, event: Event) -> Iterator[Event]:
        """Yield the tool calls that a model call asks for."""
        if isinstance(event.operation, Inference):
            for call_id in _requested_ids(event.operation):
                tools = _nearest_first(self._tools.get(call_id, []), event)
                tool = next((tool for tool in tools if self._may_share_turn(event, tool)), None)
                if tool is not None:
                    yield tool

    def _may_share_turn(self, event: Event, tool: Event) -> bool:
        """Return whether a tool call may be of the turn of an event: ids may come again."""
        named, of_tool = _named_turns(event), _named_turns(tool)
        if not {turn for turn, _ in named}.isdisjoint(turn for turn, _ in of_tool):
            return True
        differ = self._all_turns.differ
        return not any(differ(*one, *other) for one in named for other in of_tool)

    def _tool(self, key: str, event: Event) -> Event | None:
        """Return the tool call with an id that is nearest to an event: some servers count the calls
        of each answer from one."""
        return next(iter(_nearest_first(self._tools.get(key, []), event)), None)

    def _sort_turns(self) -> None:
        self.turns = sorted((t for t in self.turns if t not in self._joined), key=_start)
        self._starts = list(map(_start, self.turns))

    def _missing_turn(self, event: Event, key: str) -> Event:
        """Return a turn of which only events are known: the agent was killed before it ended."""
        entry = min(event.entries, key=lambda entry: entry.channel)
        operation = AgentInvocation(conversation_id=entry.operation.conversation_id)
        span = replace(
            entry.span, span_id=_made_id(entry.span.span_id, key), parent_id=None, end_ns=None
        )
        turn = Event([Entry("turn", operation, span, entry.channel, (key,))], self._values_from)
        turn.goes_on = entry.channel is Channel.SPAN  # a span comes when it has ended
        self.turns.append(turn)
        return turn

    def _join(self, into: Event, duplicate: Event) -> None:
        into, duplicate = self._current(into), self._current(duplicate)
        if into is not duplicate:
            into.add(duplicate)
            self._joined[duplicate] = into

    def _current(self, turn: Event) -> Event:
        """Return the turn that a turn has been joined to, or itself."""
        while turn in self._joined:
            turn = self._joined[turn]
        return turn

    def _twin(self, turn: Event) -> Event | None:
        """Return the nearest turn that is the same in other channels."""
        channels = {entry.channel for entry in turn.entries}
        prompt, start = _prompt(turn), _start(turn)
        first = bisect_left(self._starts, start - _SAME_PROMPT_NS)
        last = bisect_right(self._starts, start + _SAME_PROMPT_NS)
        twins: list[tuple[int, int, Event]] = []
        for place in range(first, last):
            candidate = self.turns[place]
            if candidate is turn or candidate in self._joined:
                continue
            if not channels.isdisjoint(entry.channel for entry in candidate.entries):
                continue
            distance_ns, its_prompt = abs(_start(candidate) - start), _prompt(candidate)
            is_same = prompt == its_prompt is not None
            if is_same or (None in (prompt, its_prompt) and distance_ns <= _SAME_TIME_NS):
                twins.append((distance_ns, place, candidate))
        return min(twins)[2] if twins else None

    # ------------------------------------------------------------------------------------ tree

    def _place(self) -> None:
        agents = list(dict.fromkeys(self.agents.values()))
        for event in (*self._others, *agents):
            event.parent = self._parent(event)
        for event in agents:
            if _is_in_circle(event):
                event.parent = self._turn(event)
        for event in (*self._others, *agents):
            if event.parent is not None:
                event.parent.children.append(event)

    def _parent(self, event: Event) -> Event | None:
        if event.kind == "agent":
            started_by = event.first("started_by")
            if started_by is not None and (tool := self._tool(started_by, event)) is not None:
                return tool
        key = event.agent
        agent = self.agents.get(key) if key is not None else None
        return self._turn(event) if agent is None or agent is event else agent

    def _turn(self, event: Event) -> Event | None:
        """Return the turn that an event is part of: the one it names, else the latest before it."""
        key = event.first("turn")
        if key is None and event.asked_by is not None:
            key = event.asked_by.first("turn")
        if key is not None and (turn := self._turn_of.get(key)) is not None:
            return self._current(turn)
        if not self.turns:
            return None
        return self.turns[max(bisect_right(self._starts, _start(event)) - 1, 0)]

    def spans(self, scope: str) -> Iterator[SpanRecord]:
        """Yield the span of every event."""
        for event in self.turns:
            yield from self._tree(event, scope)
        if not self.turns:
            for event in (*self._others, *dict.fromkeys(self.agents.values())):
                if event.parent is None:
                    yield from self._tree(event, scope)

    def adopted(self, unknown: list[SpanRecord], event_ids: set[str]) -> Iterator[SpanRecord]:
        """Yield records of unknown names, those without a parent below the turn that they came in.

        Args:
            unknown: the records.
            event_ids: ids of the spans of events.
        """
        parent_ids = event_ids | {record.span_id for record in unknown}
        for record in unknown:
            if record.parent_id not in parent_ids and self.turns:
                at_ns = record.start_ns or 0
                turn = self.turns[max(bisect_right(self._starts, at_ns) - 1, 0)]
                parent_id, trace_id = _span_id(turn.base), turn.base.trace_id
                record = replace(record, parent_id=parent_id, trace_id=trace_id)
            span_id = _span_id(record)
            yield record if span_id == record.span_id else replace(record, span_id=span_id)

    def _tree(self, event: Event, scope: str) -> Iterator[SpanRecord]:
        """Yield the span of an event, and those of all below it, in one trace."""
        trace_id = event.base.trace_id
        waiting: list[tuple[Event, str | None]] = [(event, None)]
        while waiting:
            one, parent = waiting.pop()
            span = _span(one, trace_id, scope)
            above = one.base.parent_id
            span.parent_id = parent or (above if above in self._outside else None)
            yield span
            waiting += ((child, span.span_id) for child in one.children)


def _named_turns(event: Event) -> set[tuple[str, Channel]]:
    """Return the turns that the entries of an event name, each with the channel that does."""
    return {(entry.turn, entry.channel) for entry in event.entries if entry.turn is not None}


def _nearest_first(events: list[Event], event: Event) -> list[Event]:
    at_ns = _start(event)
    return sorted(events, key=lambda one: abs(_start(one) - at_ns))


def _is_in_circle(event: Event) -> bool:
    above, seen = event.parent, {event}
    while above is not None and above not in seen:
        seen.add(above)
        above = above.parent
    return above is not None


def _span(event: Event, trace_id: str, scope: str) -> SpanRecord:
    operation, end_ns = event.operation, event.end_ns
    if isinstance(operation, AgentInvocation):
        operation, end_ns = _ended(event, operation)
    name, kind, attributes = _WRITER.draft(operation)
    base = event.base
    span = SpanRecord(
        trace_id, _span_id(base), None, name, kind, event.start_ns, end_ns, attributes,
        scope=scope, resource=base.resource, links=base.links,
    )  # fmt: skip
    if operation.error_type is not None:
        span.status, span.status_message = STATUS_ERROR, operation.error_message
    return span


def _ended(event: Event, operation: AgentInvocation) -> tuple[AgentInvocation, int | None]:
    """Return the operation and the end of a turn or a sub-agent, derived from its model calls.

    A turn ends with an answer or a failure; without either, it has no end. A call that was stopped
    is a failure of the turn if no model call follows.
    """
    steps = [child for child in event.children if child.kind != "agent" and not child.is_internal]
    steps.sort(key=_last_time)
    operation = _answered(_with_own_id(operation), steps)
    unfinished = _unfinished(steps)
    if unfinished is not None and operation.output is None and operation.error_type is None:
        if unfinished.operation.error_type not in _STOPPED:
            return operation, None
        operation = _failed_as(operation, unfinished.operation)
    last = steps[-1].operation if steps else None
    has_error = isinstance(last, Inference) and last.error_type is not None
    if last is not None and has_error and operation.error_type is None:
        operation = _failed_as(operation, last)
    if event.end_ns is not None or event.goes_on:
        return operation, event.end_ns
    return operation, _derived_end(steps, unfinished, operation.error_type is not None)


def _with_own_id(operation: AgentInvocation) -> AgentInvocation:
    """Return the operation with the id of its run as an attribute: the field is the agent's id."""
    if operation.agent_id is None:
        return operation
    extra = {**operation.extra, gen_ai.AGENT_ID: operation.agent_id}
    return replace(operation, agent_id=None, extra=extra)


def _answered(operation: AgentInvocation, steps: list[Event]) -> AgentInvocation:
    """Return the operation with the last answer of its model as output, if it has none."""
    if next(_requested_ids(operation), None) is not None:
        # what the model said last, before it was stopped
        operation = replace(operation, output=None)
    calls = [step.operation for step in steps if isinstance(step.operation, Inference)]
    answers = [call for call in calls if call.output]
    if operation.output is None and answers and not _asks_for_tools(answers[-1]):
        return replace(operation, output=answers[-1].output)
    return operation


def _failed_as(operation: AgentInvocation, step: Operation) -> AgentInvocation:
    return replace(operation, error_type=step.error_type, error_message=step.error_message)


def _derived_end(steps: list[Event], unfinished: Event | None, has_failed: bool) -> int | None:
    """Return the end of a turn whose own end is not recorded; None if it has none yet.

    Args:
        steps: its model calls and tool calls, in order of their ends.
        unfinished: the step that the agent was stopped in.
        has_failed: whether the turn is a failure.
    """
    if not steps:
        return None
    last = steps[-1]
    last_ns = _last_time(last)[0] or None
    if not isinstance(last.operation, Inference):
        is_stopped = unfinished is not None and all(step.end_ns is not None for step in steps)
        return last_ns if has_failed and is_stopped else None
    is_open = last.end_ns is None  # an earlier request may have been left for the last one
    has_open_tool = any(step.end_ns is None for step in steps if step.kind == "tool")
    if _awaits_tools(last.operation) or is_open or has_open_tool:
        return last_ns if has_failed else None
    return last.end_ns


def _unfinished(steps: list[Event]) -> Event | None:
    """Return the first step that the agent was stopped in; None if there is none: a tool call
    without an end, or that was stopped, or a model call whose tools were never called. No model
    call follows it.
    """
    models = [step for step in steps if isinstance(step.operation, Inference)]
    latest = max(models, key=_start, default=None)
    since = _start(latest) if latest is not None else 0
    tools = [step for step in steps if step.kind == "tool" and _start(step) >= since]
    for step in tools:
        if step.end_ns is None or step.operation.error_type in _STOPPED:
            return step
    if tools or latest is None or not isinstance(last := latest.operation, Inference):
        return None
    return latest if _awaits_tools(last) else None


def _awaits_tools(call: Inference) -> bool:
    """Return whether a model call asks for tools that are called after it."""
    asks = not _TURN_ONLY.isdisjoint(call.finish_reasons or ()) or _asks_for_tools(call)
    return asks and call.error_type is None


def _asks_for_tools(call: Inference) -> bool:
    return next(_requested_ids(call), None) is not None


def _requested_ids(call: Inference | AgentInvocation) -> Iterator[str]:
    """Yield the ids of the tool calls that a model asks for; "" for one without."""
    for item in call.output or ():
        for part in parts_of(item):
            if part.get("type") == "tool_call":
                yield str(part.get("id") or "")


def _last_time(event: Event) -> tuple[int, int]:
    return event.end_ns or event.start_ns or 0, event.start_ns or 0


def _start(event: Event) -> int:
    return event.start_ns or event.end_ns or 0


def _prompt(turn: Event) -> str | None:
    operation = turn.operation
    if not isinstance(operation, AgentInvocation) or not operation.input:
        return None
    texts = [str(p.get("content")) for item in operation.input for p in parts_of(item)]
    return "\n".join(texts).strip()


def _span_id(record: SpanRecord) -> str:
    """Return the id of a record; one of a log record in a span is made."""
    span_id = record.span_id
    is_id = len(span_id) == 16 and not span_id.strip("0123456789abcdef")
    return span_id if is_id else _made_id(record.trace_id, span_id)


def _made_id(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
