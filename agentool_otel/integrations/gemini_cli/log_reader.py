"""Gemini CLI's session files: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`.

    {"sessionId", "projectHash", "startTime", "kind": "main"}
    {"id", "timestamp", "type": "user", "content": [{"text"}]}
    {"id", "timestamp", "type": "gemini", "content", "thoughts": [{"subject", "description"}],
     "tokens": {"input", "output", "cached", "thoughts", "tool"}, "model",
     "toolCalls": [{"id", "name", "args", "result": [{"functionResponse"}], "status", "agentId"}]}
    {"$set": {"messages": […]}}

- A message is written again when its tool calls have ended: the last line of an id counts.
- `messages` of a patch replace what the model is sent: at the start, when the history is
  compressed, and when a request has failed, whose prompt is then missing.
- A sub-agent has a file of its own, `chats/<session>/<id>.jsonl`, that does not name the session.
  The call that started it has its id, once the sub-agent has ended.
- Earlier versions wrote one object, `session-<time>-<id>.json`, with all `messages`.

Source: files of Gemini CLI 0.61.0; `services/chatRecordingTypes.ts` of 0.56.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.gemini_cli.events.calls import (
    call_id_of,
    ending_in,
    prompt_in,
    response_in,
    with_ending,
    with_response,
)
from agentool_otel.integrations.gemini_cli.events.names import AGENT, FILE, LINES
from agentool_otel.model.messages import message, reasoning, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
    Usage,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.session_spans import SessionSpans
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["GeminiCLISession"]

_TYPE = re.compile(r"[a-z]+([_-][a-z]+)*")
_OTHERS = frozenset({"data", "kind", "message", "name", "parentId", "role", "sessionId", "uuid"})
"""Members that the lines of no type have, but objects of others with `id` and `type`."""
_ENDED = frozenset({"success", "error", "cancelled"})
_REFUSED = "the prompt was taken back without an answer"


class GeminiCLISession:
    """Turns the lines of one file into spans, in their order."""

    name = "sessions of Gemini CLI"
    members = ("projectHash", "$set")

    def __init__(self) -> None:
        self._spans = SessionSpans(FILE, AGENT)
        self._session: str | None = None
        self._agent: str | None = None
        """The id of the sub-agent that the file is of."""
        self._prompt: Object | None = None
        """The line that began the turn."""
        self._messages: dict[str, tuple[Object, int | None]] = {}
        """The messages of the model in the turn, by their ids, each with the time before it."""
        self._last_ns: int | None = None

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is a line of such a file."""
        if "projectHash" in event:
            return isinstance(event.get("sessionId"), str)
        if len(event) == 1:
            return "$set" in event or "$rewindTo" in event
        if not all(isinstance(event.get(name), str) for name in ("id", "timestamp", "type")):
            return False
        is_line = _TYPE.fullmatch(v.text(event["type"])) is not None
        return (
            is_line
            and ("content" in event or event["type"] in LINES)
            and (_OTHERS.isdisjoint(event))
        )

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that a line completes."""
        if "projectHash" in event:
            yield from self._end_turn()
            self._session = v.text(event.get("sessionId"))
            self._agent = self._session if event.get("kind") == "subagent" else None
            for item in map(v.obj, v.array(event.get("messages"))):  # of earlier versions
                yield from self._message(item)
        elif "$set" in event:
            patch = v.obj(event["$set"])
            messages = patch.get("messages")
            if isinstance(messages, list) and self._is_taken_back(messages):
                yield from self._end_turn(v.time_ns(patch.get("lastUpdated")) or self._last_ns)
        else:
            yield from self._message(event)

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        yield from self._end_turn()

    def _is_taken_back(self, messages: list[Any]) -> bool:
        """Return whether a new history lacks the prompt of a turn that has no answer."""
        if self._prompt is None or self._messages:
            return False
        return self._prompt.get("id") not in [v.obj(item).get("id") for item in messages]

    def _message(self, line: Object) -> Iterator[SpanRecord]:
        at_ns = v.time_ns(line.get("timestamp"))
        if line.get("type") == "gemini":
            message_id = v.text(line.get("id"))
            _, before = self._messages.get(message_id, (line, self._last_ns))
            self._messages[message_id] = line, before
            self._last_ns = at_ns
        elif line.get("type") == "user":
            if _prompt_of(line) is not None:
                yield from self._end_turn()
                self._prompt = line
            self._last_ns = at_ns

    def _end_turn(self, failed_ns: int | None = None) -> Iterator[SpanRecord]:
        """Yield the spans of the turn.

        Args:
            failed_ns: when it failed, if it did.
        """
        prompt, self._prompt = self._prompt, None
        messages, self._messages = self._messages, {}
        turn = v.text((prompt or {}).get("id")) or self._session or ""
        if prompt is not None:
            asked = AgentInvocation(
                agent_name=None if self._agent else AGENT,
                conversation_id=None if self._agent else self._session,
                input=[message("user", [text(_prompt_of(prompt) or "")])],
                error_type=None if failed_ns is None else "_OTHER",
                error_message=None if failed_ns is None else _REFUSED,
            )
            start_ns = v.time_ns(prompt.get("timestamp"))
            yield self._span(asked, turn, self._agent or "", start_ns, failed_ns)
        for line, before in messages.values():
            yield from self._model_call(line, turn, before)

    def _model_call(self, line: Object, turn: str, before: int | None) -> Iterator[SpanRecord]:
        message_id, at_ns = v.text(line.get("id")), v.time_ns(line.get("timestamp"))
        calls = [v.obj(call) for call in v.array(line.get("toolCalls"))]
        model = v.text(line.get("model")) or None
        operation = Inference(
            provider="gcp.gemini",
            request_model=model,
            output=[message("assistant", [*_said(line), *map(_asked, calls)])],
            usage=_usage(v.obj(line.get("tokens"))),
            conversation_id=None if self._agent else self._session,
        )
        yield self._span(operation, turn, message_id, before or at_ns, at_ns, {"id": message_id})
        for call in calls:
            yield from self._tool(call, turn, at_ns)

    def _tool(self, call: Object, turn: str, start_ns: int | None) -> Iterator[SpanRecord]:
        name = v.text(call.get("name"))
        call_id = call_id_of(name, v.text(call.get("id")))
        operation = ToolExecution(
            name=name,
            call_id=call_id or None,
            arguments=call.get("args", UNSET),
            conversation_id=None if self._agent else self._session,
        )
        end_ns = v.time_ns(call.get("timestamp")) if call.get("status") in _ENDED else None
        if (response := response_in(call.get("result"))) is not None:
            operation = with_response(operation, response)
        elif call.get("status") in ("error", "cancelled"):
            operation = replace(operation, error_type=v.text(call["status"]))
        if agent := v.text(call.get("agentId")):
            named = v.obj(call.get("args")).get("agent_name")
            started = AgentInvocation(
                agent_name=v.text(named) or name, conversation_id=operation.conversation_id
            )
            started = with_ending(started, ending_in(operation.result))
            names = {"agent_id": agent, "started_by": call_id}
            yield self._span(started, turn, f"{agent}\0{call_id}", start_ns, end_ns, names)
        yield self._span(operation, turn, call_id, start_ns, end_ns)

    def _span(
        self,
        operation: Operation,
        turn: str,
        key: str,
        start_ns: int | None,
        end_ns: int | None,
        names: dict[str, Any] | None = None,
    ) -> SpanRecord:
        names = {"agent_id": self._agent, "turn.id": turn, **(names or {})}
        return self._spans.span(operation, turn, key, start_ns, end_ns, names)


def _prompt_of(line: Object) -> str | None:
    return prompt_in(line.get("displayContent")) or prompt_in(line.get("content"))


def _said(line: Object) -> list[dict[str, Any]]:
    """Return the parts of a message: its thoughts, in pieces, and its text."""
    thoughts = ""
    for thought in map(v.obj, v.array(line.get("thoughts"))):
        subject, words = v.text(thought.get("subject")), v.text(thought.get("description"))
        thoughts += f"{thoughts and chr(10)}**{subject}**\n{words}" if subject else words
    said = line.get("content")
    words = said if isinstance(said, str) else prompt_in(said) or ""
    return [*([reasoning(thoughts)] if thoughts else []), *([text(words)] if words else [])]


def _asked(call: Object) -> dict[str, Any]:
    name = v.text(call.get("name"))
    return tool_call(name, call.get("args"), call_id_of(name, v.text(call.get("id"))) or None)


def _usage(counts: Object) -> Usage | None:
    """Return token counts: thoughts are counted beside the answer, tools' beside the prompt."""
    count = {name: n for name, n in counts.items() if type(n) is int and n >= 0}
    if not count:
        return None
    thoughts = count.get("thoughts")
    return Usage(
        input_tokens=_sum(count.get("input"), count.get("tool")),
        output_tokens=_sum(count.get("output"), thoughts),
        cache_read_tokens=count.get("cached"),
        reasoning_tokens=thoughts,
    )


def _sum(count: int | None, more: int | None) -> int | None:
    return None if count is None else count + (more or 0)
