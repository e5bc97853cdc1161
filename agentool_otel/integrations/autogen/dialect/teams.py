"""Runs of AutoGen's teams, whose agents get their tasks, and answer, by messages.

Source: microsoft/autogen `autogen-core/src/autogen_core/_single_threaded_agent_runtime.py` and
`autogen-agentchat/src/autogen_agentchat/teams/_group_chat` 0.4 to 0.7.

A message is a span where it is sent (`create`), linked by those where the runtime passes it on
(`publish`, `send`) and where it arrives (`process`), which has its content. They are in one
trace only if the program has a span of its own around the team. A team's manager is sent the task
and every answer; its participants are sent every message, and take their turn when requested.
All of them have the team's id, which stays the same when the team is run again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import TraceLinks
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.autogen.dialect.messages import (
    input_messages,
    tokens,
    turn_messages,
)
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.semconv import core, gen_ai

__all__ = ["arrange", "set_agent", "set_start", "trace_links"]

_SCOPE = "autogen "
"""Prefix of the scopes of runtimes; that of agents and tools is `autogen-core`."""
_OPERATION, _DESTINATION = "messaging.operation", "messaging.destination"
_TYPE = "messaging.message.type"
_CLASS, _MESSAGE = "recipient_agent_class", "message"
_PARTICIPANT = "ChatAgentContainer"
_MANAGERS = ("Manager", "Orchestrator")
_KEY = re.compile(r"\.\(([^()]+)\)-[AT]\Z")
"""Ends a destination: the key of an agent or a topic, the team's id."""
_ADDRESS = re.compile(r"(.+)_([0-9a-f-]{36})/\2")
"""Of a team's agent in its runtime: its name and the team's id, twice."""


def trace_links(spans: Sequence[SpanRecord]) -> TraceLinks | None:
    """Return the messages that spans have sent, and those that they react to."""
    messaging = [span for span in spans if span.scope.startswith(_SCOPE)]
    if not messaging:
        return None
    sent = [_id(span) for span in messaging if span.attributes.get(_OPERATION) == "create"]
    linked = {f"{link.trace_id}/{link.span_id}" for span in messaging for link in span.links}
    return TraceLinks(sent, sorted(linked))


def set_start(span: Reader) -> bool:
    """Make the span by which a team's manager receives the task the span of the team's run; return
    False for any other span."""
    if (task := _task(span.span)) is None:
        return False
    onto.rename(span, {_CLASS: gen_ai.WORKFLOW_NAME})
    onto.put(span, gen_ai.CONVERSATION_ID, _team(span.span))
    onto.put(span, gen_ai.INPUT_MESSAGES, input_messages(task) or None)
    onto.drop(span, _MESSAGE, _OPERATION, _DESTINATION)
    return True


def set_agent(span: Reader) -> None:
    """Set the conversation from an agent's id, which is its address in the runtime of its team."""
    if (agent := _invoked_agent(span.span)) is not None:
        onto.drop(span, gen_ai.AGENT_ID)
        onto.put(span, gen_ai.CONVERSATION_ID, agent.team)


def arrange(spans: list[SpanRecord]) -> list[SpanRecord]:
    """Return spans with those of every team below the span that starts it, and the input and output
    of agents on the spans of their turns."""
    team = _Teams(spans)
    return [team.place(span) for span in spans] if team.messaging else spans


class _Teams:
    def __init__(self, spans: list[SpanRecord]):
        self.messaging = [span for span in spans if span.scope.startswith(_SCOPE)]
        self._ids = {span.span_id for span in spans}
        self._created = {
            span.span_id: span
            for span in self.messaging
            if span.attributes.get(_OPERATION) == "create"
        }
        self._starts: dict[str, list[SpanRecord]] = defaultdict(list)
        """By team, what it was started with, one after another."""
        self._ends: dict[str, int] = {}
        """By the span that starts a run of a team, when the last of it ended."""
        self._failures: dict[str, dict[str, Any]] = {}
        """By the same, how it failed."""
        self._answers: dict[str, tuple[tuple[int, str], list[Any]]] = {}
        """By the same, when somebody answered last, and what."""
        self._sent: dict[str, list[SpanRecord]] = defaultdict(list)
        """By the span they lie below, messages that were sent."""
        self._arrived: dict[str, dict[str, Any]] = {}
        """By the span that sent it, the content of a message."""
        self._received: dict[_Agent, list[tuple[int, list[Any]]]] = defaultdict(list)
        """By participant, the messages it received and when."""
        self._turns: dict[str, tuple[_Agent, int]] = {}
        """By the span of an agent's turn, the agent, and when its turn before that began."""
        for span in self.messaging:
            if (agent := _recipient(span)) is not None and self._starts_team(span):
                self._starts[agent.team].append(span)
        self._leading = {span.parent_id for starts in self._starts.values() for span in starts}
        """Spans that deliver the starts."""
        for span in self.messaging:
            self._read(span)
        turns = [(span, agent) for span in spans if (agent := _invoked_agent(span)) is not None]
        if not turns:  # before 0.6.2 an agent has no span of its own
            turns = [
                (span, agent)
                for span in self.messaging
                if (agent := _recipient(span)) is not None
                and self._message_type(span) == "GroupChatRequestPublish"
            ]
        before: dict[_Agent, int] = {}
        for span, agent in turns:
            self._turns[span.span_id] = agent, before.get(agent, 0)
            before[agent] = span.start_ns or 0

    def _message_type(self, span: SpanRecord) -> str | None:
        """Return the type of the message that arrives with a span."""
        sent = (self._created.get(link.span_id) for link in span.links)
        return next((item.attributes.get(_TYPE) for item in sent if item is not None), None)

    def _starts_team(self, span: SpanRecord) -> bool:
        if _task(span) is not None:
            return True
        sent = (self._created.get(link.span_id) for link in span.links)
        return self._message_type(span) == "GroupChatStart" and all(
            item and _to_agent(item) for item in sent
        )

    def _read(self, span: SpanRecord) -> None:
        start = self._start_of(span)
        if start is not None:
            self._ends[start.span_id] = max(self._ends.get(start.span_id, 0), span.end_ns or 0)
        if span.span_id in self._created and span.parent_id is not None:
            self._sent[span.parent_id].append(span)
        recipient = _recipient(span)
        message = json_or_text(span.attributes.get(_MESSAGE))
        if recipient is None or not isinstance(message, dict):
            return
        for link in span.links:
            self._arrived[link.span_id] = message
        answer = _answer(message)
        if start is not None and answer:
            last = self._answers.get(start.span_id)
            if last is None or last[0] < _order(span):
                self._answers[start.span_id] = _order(span), answer[-1:]
        if span.attributes.get(_CLASS) == _PARTICIPANT:
            task = message.get("messages")
            messages = answer or (task if isinstance(task, list) else [])
            self._received[recipient].append((span.start_ns or 0, messages))
        elif start is not None and isinstance(message.get("error"), dict):
            self._failures.setdefault(start.span_id, message["error"])

    def _start_of(self, span: SpanRecord) -> SpanRecord | None:
        """Return the start of the team's run that a span is of: the last one before it."""
        starts = self._starts.get(_team(span) or "", [])
        place = bisect_right(starts, _order(span), key=_order)
        return starts[place - 1] if place else None

    def place(self, span: SpanRecord) -> SpanRecord:
        """Return a span below its parent, completed from others."""
        if span.span_id in self._turns:
            return self._turn(span)
        if not span.scope.startswith(_SCOPE):
            return span
        start = self._start_of(span)
        if start is span:
            return self._start(span)
        passed_on = span.attributes.get(_OPERATION) == "publish" or span.parent_id not in self._ids
        if start is not None and span.links and passed_on and span.span_id not in self._leading:
            return replace(span, parent_id=start.span_id)
        return span

    def _start(self, span: SpanRecord) -> SpanRecord:
        """Return the span that starts a run of a team as that of the whole run."""
        attributes: dict[str, Any] = {}
        manager = _recipient(span)
        if manager is not None and _task(span) is None:  # before 0.5 nothing arrives
            attributes[gen_ai.OPERATION_NAME] = "invoke_workflow"
            attributes[gen_ai.WORKFLOW_NAME] = manager.name
            attributes[gen_ai.CONVERSATION_ID] = manager.team
        end_ns = self._ends.get(span.span_id) or span.end_ns
        status, described = span.status, span.status_message
        failure = self._failures.get(span.span_id)
        if failure is not None:
            attributes[core.ERROR_TYPE] = str(failure.get("error_type"))
            status, described = STATUS_ERROR, str(failure.get("error_message"))
        elif (answer := self._answers.get(span.span_id)) and (outputs := turn_messages(answer[1])):
            attributes[gen_ai.OUTPUT_MESSAGES] = outputs
        return replace(
            span,
            end_ns=end_ns,
            attributes={**span.attributes, **attributes},
            status=status,
            status_message=described,
        )

    def _turn(self, span: SpanRecord) -> SpanRecord:
        """Return the span of a turn with the agent's input before it and its output in it."""
        agent, since = self._turns[span.span_id]
        received = self._received.get(agent, [])
        first = bisect_left(received, since, key=_time)
        last = bisect_right(received, span.start_ns or 0, key=_time)
        received_messages = [item for _, each in received[first:last] for item in each]
        sent = self._sent.get(span.span_id, ())
        messages = [self._arrived[item.span_id] for item in sent if item.span_id in self._arrived]
        answers = [response for message in messages if (response := _response(message)) is not None]
        if answers:
            inner = answers[-1].get("inner_messages")
            events = [*inner] if isinstance(inner, list) else []
            events.append(answers[-1].get("chat_message"))
        else:  # it failed before
            events = [message.get("message") for message in messages]
        events = [
            event
            for event in events
            if isinstance(event, dict) and event.get("source") == agent.name
        ]
        attributes: dict[str, Any] = tokens(events)
        if gen_ai.OPERATION_NAME not in span.attributes:
            attributes[gen_ai.OPERATION_NAME] = "invoke_agent"
            attributes[gen_ai.AGENT_NAME] = agent.name
            attributes[gen_ai.CONVERSATION_ID] = agent.team
        if inputs := input_messages(received_messages):
            attributes[gen_ai.INPUT_MESSAGES] = inputs
        if outputs := turn_messages(events):
            attributes[gen_ai.OUTPUT_MESSAGES] = outputs
        return replace(span, attributes={**span.attributes, **attributes})


class _Agent(NamedTuple):
    """An agent of a team, as the team's runtime addresses it."""

    name: str
    team: str


def _id(span: SpanRecord) -> str:
    return f"{span.trace_id}/{span.span_id}"


def _order(span: SpanRecord) -> tuple[int, str]:
    return span.start_ns or 0, span.span_id


def _time(entry: tuple[int, list[Any]]) -> int:
    return entry[0]


def _team(span: SpanRecord) -> str | None:
    match = _KEY.search(str(span.attributes.get(_DESTINATION)))
    return match[1] if match else None


def _to_agent(span: SpanRecord) -> bool:
    return str(span.attributes.get(_DESTINATION)).endswith("-A")


def _recipient(span: SpanRecord) -> _Agent | None:
    """Return the agent that a message arrives at, None if none does."""
    if span.attributes.get(_OPERATION) != "process" or (team := _team(span)) is None:
        return None
    kind, _, _ = str(span.attributes[_DESTINATION]).rpartition(".(")
    return _Agent(kind.removesuffix(f"_{team}"), team)


def _invoked_agent(span: SpanRecord) -> _Agent | None:
    """Return the agent of a team whose turn a span is."""
    if span.attributes.get(gen_ai.OPERATION_NAME) != "invoke_agent":
        return None
    match = _ADDRESS.fullmatch(str(span.attributes.get(gen_ai.AGENT_ID)))
    return _Agent(match[1], match[2]) if match else None


def _task(span: SpanRecord) -> list[Any] | None:
    """Return the task that a manager receives, None if another message arrives."""
    attributes = span.attributes
    if attributes.get(_OPERATION) != "process" or not str(attributes.get(_CLASS)).endswith(
        _MANAGERS
    ):
        return None
    message = json_or_text(attributes.get(_MESSAGE))
    if not isinstance(message, dict) or "messages" not in message:
        return None
    task = message["messages"]
    return task if isinstance(task, list) else []


def _response(message: dict[str, Any]) -> dict[str, Any] | None:
    response = message.get("response", message.get("agent_response"))  # until 0.6.1
    return response if isinstance(response, dict) else None


def _answer(message: dict[str, Any]) -> list[Any]:
    """Return the answer of an agent, or of a team in its place."""
    if (response := _response(message)) is not None:
        return [response.get("chat_message")]
    match message:
        case {"result": {"messages": list(answers)}}:
            return answers
        case _:
            return []
