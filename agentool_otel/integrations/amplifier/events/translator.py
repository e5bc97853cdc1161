"""Effect of each event on the steps of its session.

    prompt, execution     invoke_agent: one turn, from a prompt to its answer
    llm:request, response chat
    content_block:end     what the model wrote, in the call that ended last
    tool:pre, post, error execute_tool
    session:fork,         the session's turns lie below the tool call that started it, else below
    delegate:*, task:*    the turn of its parent
    plan:*                plan
    all others            span events of the step that they are about

A session has no span: it may be open for days. Its turns share `gen_ai.conversation.id`.

Pairs are found by id (`request_id`, `tool_call_id`) where the kernel and the orchestrator send one.
An event that belongs to nothing under way does not end another step in its place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.amplifier.events import payloads
from agentool_otel.integrations.amplifier.events.event_names import DELTAS
from agentool_otel.integrations.amplifier.events.payloads import Data, string
from agentool_otel.integrations.amplifier.events.session import Chat, Session
from agentool_otel.model.messages import message, reasoning, text
from agentool_otel.model.operations import Plan
from agentool_otel.model.recorder import Content, Recorder, Step
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.shapes import messages_of
from agentool_otel.semconv.marks import TRUNCATED_TEXT

__all__ = ["AmplifierEvents"]

S = TypeVar("S", bound=Step)

_SESSIONS = 10_000
"""Sessions, and children that are announced, kept in memory; those that did nothing for longest end
then."""

_CHILD = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}_(.+)")
"""Id of a child's session: parent and child as hex, and the agent. Source: amplifier-foundation."""


class AmplifierEvents(Generic[S]):
    """Turns events into steps, session by session."""

    def __init__(self, recorder: Recorder[S]):
        self._recorder = recorder
        self._sessions: OrderedDict[str, Session[S]] = OrderedDict()
        self._children: OrderedDict[str, tuple[S | None, str | None]] = OrderedDict()
        """By id of a session that is announced, the step it works for, and its agent."""
        self._ended: OrderedDict[str, S] = OrderedDict()
        """By id of a session that has ended, the place of its last turn."""

    def session(self, session_id: str) -> Session[S]:
        """Return a session, known or new."""
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = Session(self._recorder, session_id)
            session.last_turn = self._ended.pop(session_id, None)
            named = _CHILD.fullmatch(session_id)
            session.agent_name = named.group(1) if named else None
            if len(self._sessions) > _SESSIONS:
                _, oldest = self._sessions.popitem(last=False)
                self._end(oldest, oldest.last_ns)
        self._sessions.move_to_end(session_id)
        return session

    def read(self, event: str, data: Data, at_ns: int, step: S | None = None) -> None:
        """Read one event.

        Args:
            event: its name, such as `tool:pre`.
            data: what it holds.
            at_ns: when it was, if it does not say so itself.
            step: the step in whose work it was sent, where that is known.
        """
        if event in DELTAS:
            return
        at_ns = payloads.event_time(data.get("timestamp")) or at_ns
        session = self.session(string(data, "session_id") or "")
        reader = _READERS.get(event)
        if reader is None:
            self._note(session, event, data, at_ns)
        else:
            if event not in _PARTS:
                session.settle()
            reader(self, session, data, at_ns, step)
        session.last_ns = at_ns

    def close(self) -> None:
        """End everything under way: no more events come."""
        while self._sessions:
            _, session = self._sessions.popitem()
            session.end_turn(session.last_ns)

    def end_call(self, session: Session[S], chat: Chat[S], response: Data, at_ns: int) -> None:
        """End a model call whose provider sent no event for it, with its return value."""
        if chat in session.chats:
            self._report(chat, response)
            kind, words = payloads.error_of(response)
            if kind is not None:
                chat.step.set(error_type=kind, error_message=words)
            session.end_chat(chat, at_ns)

    def deny(
        self, session: Session[S], data: Data, start_ns: int, end_ns: int, *, final: bool
    ) -> None:
        """Record a tool call that a hook has denied: no event reports it.

        Args:
            session: the session.
            data: its `tool:pre`.
            start_ns: when that was sent, unless it has a time of its own.
            end_ns: when the call was not denied yet.
            final: whether its arguments are those that the tool would have got.
        """
        start_ns = payloads.event_time(data.get("timestamp")) or start_ns
        session.deny(_tool_name(data), data, start_ns, max(start_ns, end_ns), final=final)

    # ----------------------------------------------------------------------------- sessions

    def _start_session(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        metadata = data.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        announced, agent = self._children.pop(session.id, (None, None))
        session.agent_name = string(metadata, "agent_name") or agent or session.agent_name
        parent_id = string(data, "parent", "parent_id")
        if session.parent is None:
            session.parent = announced or self._step_for(parent_id, metadata)

    def _step_for(self, parent_id: str | None, data: Data) -> S | None:
        """Return the step of a session that a child of it works for: a tool call under way, else
        the turn, which may be over."""
        if parent_id is None:
            return None
        parent = self._sessions.get(parent_id)
        if parent is None:
            return self._ended.get(parent_id)
        if parent.turn is None:
            return parent.last_turn
        call_id = string(data, "tool_call_id")
        call = next((tool for tool in parent.tools if call_id and tool.call_id == call_id), None)
        return parent.turn.step if call is None else call.step

    def _end_session(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        status = string(data, "status")
        self._sessions.pop(session.id, None)
        self._end(session, at_ns, None if status is None else _STATUS.get(status, status))

    def _end(self, session: Session[S], at_ns: int, status: str | None = None) -> None:
        """End a session that is no longer kept, but for the place of its last turn."""
        session.end_turn(at_ns, status)
        if session.last_turn is not None:
            self._ended[session.id] = session.last_turn
            if len(self._ended) > _SESSIONS:
                self._ended.popitem(last=False)

    def _announce(
        self, session: Session[S], data: Data, at_ns: int, current_step: S | None
    ) -> None:
        """A tool has started a child."""
        child = string(data, "sub_session_id", "child_session_id")
        if child is not None:
            step = self._step_for(session.id, data)
            child_session = self._sessions.get(child)
            if child_session is not None:
                child_session.agent_name = string(data, "agent") or child_session.agent_name
            else:
                self._children[child] = (step, string(data, "agent"))
                if len(self._children) > _SESSIONS:
                    self._children.popitem(last=False)
        self._note(session, "delegate:agent_spawned", data, at_ns)

    # -------------------------------------------------------------------------------- turns

    def _submit(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        turn, prompt = session.turn, _prompt(data)
        if turn is None or turn.prompted or not turn.asked:
            turn = session.begin_turn(at_ns, step, prompt)
        else:
            turn.step.add(prompt)
        turn.prompted = True

    def _execute(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        turn, prompt = session.turn, _prompt(data)
        if turn is None or turn.executing or not turn.asked:
            turn = session.begin_turn(at_ns, step, prompt)
        elif not turn.prompted:
            turn.step.add(prompt)
        turn.executing = True

    def _answer(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        """The answer: as a whole, or as a preview, which is marked as cut if it is shorter.

        What the model wrote in content blocks is known better. An `execution:end` without an answer
        comes after an exception, too.
        """
        turn = session.turn
        answer = string(data, "response", "response_preview")
        if turn is None or answer is None:
            return
        turn.answered = True
        if turn.output:
            return
        length = data.get("length")
        if "response" not in data and isinstance(length, int) and length > len(answer):
            answer += TRUNCATED_TEXT.format(length)
        turn.output = [text(answer)]

    def _complete(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        if session.turn is not None:
            session.turn.step.mark(payloads.labels_of(data, False))
        session.end_turn(at_ns, string(data, "status") or "success")

    def _cancelled(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        self._note(session, "cancel:completed", data, at_ns)
        session.end_turn(at_ns, "cancelled")

    # -------------------------------------------------------------------------- model calls

    def _request_provider(
        self, session: Session[S], data: Data, at_ns: int, step: S | None
    ) -> None:
        """The next model call is about to be made: no tool is under way any more."""
        session.close_tools(at_ns, goes_on=True)

    def _request(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        chats = (chat for chat in session.chats if chat.step is step and not chat.requested)
        provider = string(data, "provider")
        chat = next(chats, None) or session.begin_chat(provider or "unknown", at_ns)
        chat.requested = True
        chat.request_id = string(data, "request_id")
        chat.step.set(request_model=string(data, "model"), provider=provider or chat.provider)
        raw = data.get("raw")
        source = raw if isinstance(raw, dict) else data
        if isinstance(source.get("messages"), list):
            chat.step.add(lambda: {"input": messages_of(source["messages"])})

    def _respond(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        chat = session.chat_of(string(data, "request_id"))
        if chat is None:
            return
        self._report(chat, data)
        status = string(data, "status") or "ok"
        if status not in ("ok", "success"):
            kind, words = payloads.error_of(data)
            chat.step.set(error_type=kind or status, error_message=words)
        session.end_chat(chat, at_ns)

    def _report(self, chat: Chat[S], data: Data) -> None:
        """Set the data of a response on its call."""
        fields: dict[str, Any] = {
            "response_model": string(data, "model"),
            "usage": payloads.usage_of(data),
            "cost_usd": payloads.cost_of(data),
        }
        reason = finish_reason(data.get("finish_reason"))
        if reason is not None:
            chat.finish_reason = reason
            fields["finish_reasons"] = [reason]
        chat.step.set(**{name: value for name, value in fields.items() if value is not None})

    def _fail(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        """A provider's error: of a call under way, which ends, or of one that has ended with it."""
        chat = session.chat_of(string(data, "request_id"))
        if chat is None:
            self._note(session, "provider:error", data, at_ns)
            return
        kind, words = payloads.error_of(data)
        chat.step.set(error_type=kind or "provider_error", error_message=words)
        session.end_chat(chat, at_ns)

    def _block(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        part = payloads.part_of(data.get("block"))
        if part is not None:
            session.add_part(part)

    def _thought(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        words = string(data, "text", "thinking", "content")
        if words is not None:
            session.add_part(reasoning(words))

    # -------------------------------------------------------------------------------- tools

    def _use(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        session.begin_tool(_tool_name(data), data, at_ns)

    def _result(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        session.answer(_tool_name(data), data, at_ns)

    def _tool_error(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        session.fail(_tool_name(data), data, at_ns)

    def _denied(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        self._note(session, "approval:denied", data, at_ns)
        name = string(data, "tool_name")
        call = None if name is None else session.tool_of(name, data)
        if call is not None:
            call.denied = True

    # --------------------------------------------------------------------------------- rest

    def _plan(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        if session.plan is None:
            operation = Plan(agent_name=session.agent_name, conversation_id=session.id)
            parent = session.turn_at(at_ns).step
            session.plan = self._recorder.start(operation, parent, at_ns)

    def _planned(self, session: Session[S], data: Data, at_ns: int, step: S | None) -> None:
        if session.plan is not None:
            session.plan.end(at_ns)
            session.plan = None

    def _note(self, session: Session[S], event: str, data: Data, at_ns: int) -> None:
        step = session.innermost(event, data)
        if step is None:
            session.keep((event, data, at_ns))
        else:
            session.note(step, event, data, at_ns)


def _prompt(data: Data) -> Content:
    """Return the prompt of a turn; empty if the event has none."""
    prompt = data.get("prompt")
    if not isinstance(prompt, str):
        return dict
    return lambda: {"input": [message("user", [text(prompt)])]}


def _tool_name(data: Data) -> str:
    return string(data, "tool_name", "name", "tool") or "unknown"


_STATUS = {"completed": "success", "failed": "incomplete"}
"""Of a session, in the words of orchestrators."""

_PARTS = frozenset({"content_block:end", "thinking:final"})
"""The content of a model call: it comes after the call's end, before any other step."""

_READERS: dict[str, Callable[[Any, Any, Data, int, Any], None]] = {
    "session:start": AmplifierEvents._start_session,
    "session:resume": AmplifierEvents._start_session,
    "session:fork": AmplifierEvents._start_session,
    "session:end": AmplifierEvents._end_session,
    "delegate:agent_spawned": AmplifierEvents._announce,
    "task:agent_spawned": AmplifierEvents._announce,
    "prompt:submit": AmplifierEvents._submit,
    "execution:start": AmplifierEvents._execute,
    "prompt:complete": AmplifierEvents._answer,
    "execution:end": AmplifierEvents._answer,
    "orchestrator:complete": AmplifierEvents._complete,
    "cancel:completed": AmplifierEvents._cancelled,
    "provider:request": AmplifierEvents._request_provider,
    "llm:request": AmplifierEvents._request,
    "llm:response": AmplifierEvents._respond,
    "provider:error": AmplifierEvents._fail,
    "content_block:end": AmplifierEvents._block,
    "thinking:final": AmplifierEvents._thought,
    "tool:pre": AmplifierEvents._use,
    "tool:post": AmplifierEvents._result,
    "tool:error": AmplifierEvents._tool_error,
    "approval:denied": AmplifierEvents._denied,
    "plan:start": AmplifierEvents._plan,
    "plan:end": AmplifierEvents._planned,
}
"""Events that begin, end or complete a step."""
