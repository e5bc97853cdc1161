"""One session: its turn, and the model calls and tool calls under way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from agentool_otel.integrations.amplifier.events import payloads
from agentool_otel.model.messages import Part, message, with_finish_reasons
from agentool_otel.model.operations import UNSET, AgentInvocation, Inference, ToolExecution
from agentool_otel.model.recorder import Content, Recorder, Step
from agentool_otel.semconv import agentool

__all__ = ["Chat", "Note", "Session", "ToolCall", "Turn"]

S = TypeVar("S", bound=Step)
Data = Mapping[str, Any]
Note = tuple[str, Data, int]
"""An event that is no step: its name, what it holds, and when it was."""

_NOTES = 64
"""Events kept for the turn that follows them."""
_UNDER_WAY = 1_000
"""Tool calls, and model calls, of a session that may be under way; the oldest end then."""
_WELL = frozenset({"success", "ok", "completed"})


class Chat(Generic[S]):
    """A model call. Events with the model's output come after the call's end, so its step ends with
    the next other event, at the time at which the call ended.
    """

    __slots__ = ("end_ns", "finish_reason", "parts", "provider", "request_id", "requested", "step")

    def __init__(self, step: S, provider: str | None):
        self.step = step
        self.provider = provider
        self.request_id: str | None = None
        self.requested = False
        """Whether its `llm:request` was received."""
        self.end_ns: int | None = None
        self.finish_reason: str | None = None
        self.parts: list[Part] = []


class ToolCall(Generic[S]):
    """A tool call."""

    __slots__ = ("call_id", "denied", "group", "input_key", "name", "raised_ns", "step", "taken")

    def __init__(self, step: S, name: str, data: Data):
        self.step = step
        self.name = name
        self.call_id = payloads.string(data, "tool_call_id")
        self.group = payloads.string(data, "parallel_group_id")
        self.input_key = payloads.input_key(data)
        self.taken = False
        """Whether its tool was entered."""
        self.raised_ns: int | None = None
        """When its tool raised, on a clock of its own."""
        self.denied = False


class Turn(Generic[S]):
    """Work of a session from a prompt to its answer."""

    __slots__ = ("answered", "executing", "output", "prompted", "step")

    def __init__(self, step: S):
        self.step = step
        self.prompted = False
        """Whether `prompt:submit` was received."""
        self.executing = False
        """Whether `execution:start` was received."""
        self.answered = False
        """Whether its answer was received."""
        self.output: list[Part] = []
        """Output of the last model call, without tool calls."""

    @property
    def asked(self) -> bool:
        """Return whether it has a prompt. Between turns a module may call a model, to name the
        session or to shorten its context: that turn has none.
        """
        return self.prompted or self.executing


class Session(Generic[S]):
    """One session of one process, or of one log."""

    __slots__ = (
        "_recorder",
        "_settled",
        "_unplaced",
        "agent_name",
        "chats",
        "id",
        "last_ns",
        "last_turn",
        "notes",
        "parent",
        "plan",
        "requested",
        "tools",
        "turn",
    )

    def __init__(self, recorder: Recorder[S], session_id: str):
        self._recorder = recorder
        self.id = session_id
        self.agent_name: str | None = None
        self.parent: S | None = None
        """The step, in another session, that this one works for."""
        self.turn: Turn[S] | None = None
        self.last_turn: S | None = None
        """The place of the turn that ended last: children that start later lie below it."""
        self.requested: dict[str, Any] = {}
        """The arguments that the last model call wrote, by the id of their tool call."""
        self.chats: list[Chat[S]] = []
        self._settled: Chat[S] | None = None
        """The model call that has ended, but whose content may still come."""
        self.tools: list[ToolCall[S]] = []
        self._unplaced: list[Note] = []
        """Errors of tools that several calls could have had: they go to those without a result."""
        self.plan: S | None = None
        self.notes: list[Note] = []
        self.last_ns = 0
        """When its last event was."""

    # -------------------------------------------------------------------------------- turns

    def begin_turn(
        self, at_ns: int, step: S | None = None, content: Content | None = None
    ) -> Turn[S]:
        """Begin a turn, and end the one before it.

        Args:
            at_ns: when.
            step: the step in which the session is run.
            content: its prompt, where that is known.
        """
        if self.turn is not None:
            self.end_turn(self.last_ns)
        operation = AgentInvocation(agent_name=self.agent_name, conversation_id=self.id)
        parent = self.parent if step is None else step
        self.turn = Turn(self._recorder.start(operation, parent, at_ns, content))
        for name, data, when in self.notes:
            self.note(self.turn.step, name, data, when)
        self.notes.clear()
        return self.turn

    def turn_at(self, at_ns: int) -> Turn[S]:
        """Return the turn under way; one begins where an event came outside any."""
        return self.turn or self.begin_turn(at_ns)

    def end_turn(self, at_ns: int, status: str | None = None) -> None:
        """End the turn with everything under way in it.

        Args:
            at_ns: when.
            status: the outcome, as an orchestrator reports it: success, incomplete, cancelled or
                any other word; None if there is no report.
        """
        turn, self.turn = self.turn, None
        if turn is None:
            return
        self.settle()
        self.close_tools(at_ns)
        for chat in self.chats:
            self._stop(chat.step, at_ns)
        self.chats.clear()
        if self.plan is not None:
            self.plan.end(at_ns)
            self.plan = None
        failed = status is not None and status not in _WELL
        if turn.output:
            answer = message("assistant", turn.output)
            turn.step.add(lambda: {"output": with_finish_reasons([answer], failed)})
        if failed:
            turn.step.set(error_type=status)
            turn.step.mark({agentool.STATUS: "error"})
        elif status is None and turn.asked and not turn.answered:
            turn.step.mark({agentool.INCOMPLETE: True, agentool.STATUS: "incomplete"})
        turn.step.end(at_ns)
        self.last_turn = turn.step.as_parent()

    # -------------------------------------------------------------------------- model calls

    def begin_chat(self, provider: str | None, at_ns: int) -> Chat[S]:
        """Begin a model call."""
        operation = Inference(provider=provider, conversation_id=self.id)
        step = self._recorder.start(operation, self.turn_at(at_ns).step, at_ns)
        chat = Chat(step, provider)
        self.chats.append(chat)
        if len(self.chats) > _UNDER_WAY:
            self._stop(self.chats.pop(0).step, at_ns)
        return chat

    def chat_of(self, request_id: str | None) -> Chat[S] | None:
        """Return the model call under way that an event is of: by its id, else the oldest."""
        if request_id is not None:
            return next((chat for chat in self.chats if chat.request_id == request_id), None)
        return next((chat for chat in self.chats if chat.requested), None)

    def end_chat(self, chat: Chat[S], at_ns: int) -> None:
        """Note that a model call has ended; its content may still come."""
        self.settle()
        if chat in self.chats:
            self.chats.remove(chat)
            chat.end_ns = at_ns
            self._settled = chat

    def add_part(self, part: Part) -> None:
        """Add a part of the model's output to its call, once: thoughts come as two events."""
        if self._settled is not None and part not in self._settled.parts[-1:]:
            self._settled.parts.append(part)

    def settle(self) -> None:
        """End the step of a model call whose content is all there."""
        chat, self._settled = self._settled, None
        if chat is None or chat.end_ns is None:
            return
        if chat.parts:
            answer = message("assistant", chat.parts, chat.finish_reason)
            chat.step.add(lambda: {"output": [answer]})
            self.requested = {
                part["id"]: part.get("arguments")
                for part in chat.parts
                if part.get("type") == "tool_call" and isinstance(part.get("id"), str)
            }
            if self.turn is not None:
                self.turn.output = [part for part in chat.parts if part.get("type") == "text"]
        chat.step.end(chat.end_ns)

    # --------------------------------------------------------------------------- tool calls

    def begin_tool(self, name: str, data: Data, at_ns: int, *, content: bool = True) -> ToolCall[S]:
        """Begin a tool call.

        Args:
            name: name of the tool.
            data: its event.
            at_ns: when.
            content: whether the arguments of the event are those of the call.
        """
        call_id = payloads.string(data, "tool_call_id")
        operation = ToolExecution(
            name=name, call_id=call_id, tool_type="function", conversation_id=self.id
        )
        step = self._recorder.start(
            operation,
            self.turn_at(at_ns).step,
            at_ns,
            (lambda: {"arguments": payloads.tool_input(data)}) if content else None,
        )
        call = ToolCall(step, name, data)
        if call.group is not None:
            step.mark({"amplifier.parallel_group_id": call.group})
        self.tools.append(call)
        if len(self.tools) > _UNDER_WAY:
            self._give_up(self.tools.pop(0), at_ns)
        return call

    def tool_of(self, name: str, data: Data, *, untaken: bool = False) -> ToolCall[S] | None:
        """Return the call under way that an event is of.

        By its id, else by its group, name and arguments, as much of these as the event has; of
        calls that are alike the oldest.

        Args:
            name: name of the tool.
            data: what the event holds.
            untaken: only calls whose tool has not been entered.
        """
        calls = [call for call in self._calls_of(name, data) if not (untaken and call.taken)]
        key = payloads.input_key(data)
        alike = [call for call in calls if call.input_key == key] if key else calls
        return next(iter(alike or calls), None)

    def _calls_of(self, name: str, data: Data) -> list[ToolCall[S]]:
        """Return the calls under way that an event may be of by its name, id and group."""
        calls = [tool for tool in self.tools if tool.name == name]
        call_id = payloads.string(data, "tool_call_id")
        if call_id is not None and any(call.call_id == call_id for call in calls):
            return [call for call in calls if call.call_id == call_id]
        group = payloads.string(data, "parallel_group_id")
        return [call for call in calls if group is None or call.group in (group, None)]

    def answer(self, name: str, data: Data, at_ns: int) -> None:
        """End a tool call with the result, or the failure, that an event reports."""
        call = self.tool_of(name, data) or self.begin_tool(name, data, at_ns)
        self.tools.remove(call)
        result, error = payloads.tool_result(data)
        if error is not None:
            call.step.set(error_type="tool_error")
            call.step.add(lambda: {"tool_error": error})
        if result is not UNSET:
            call.step.add(lambda: {"result": result})
        call.step.end(at_ns)

    def fail(self, name: str, data: Data, at_ns: int) -> None:
        """End a tool call with the error of an event, which names neither its arguments nor, with
        loop-basic, its id."""
        calls = self._calls_of(name, data)
        raised = [call for call in calls if call.raised_ns is not None]
        key = payloads.input_key(data)
        alike = [call for call in calls if key and call.input_key == key]
        if raised:
            call = min(raised, key=lambda item: item.raised_ns or 0)
        elif alike or len(calls) == 1:
            call = (alike or calls)[0]
        elif calls:
            self._unplaced.append((name, data, at_ns))
            return
        else:
            call = self.begin_tool(name, data, at_ns)
        self._fail(call, data, at_ns)

    def _fail(self, call: ToolCall[S], data: Data, at_ns: int) -> None:
        self.tools.remove(call)
        kind, words = payloads.error_of(data)
        call.step.set(error_type=kind or "tool_error")
        if words is not None:
            call.step.add(lambda: {"tool_error": words})
        call.step.end(at_ns)

    def deny(self, name: str, data: Data, start_ns: int, end_ns: int, *, final: bool) -> None:
        """Record a tool call that was denied, as `AmplifierEvents.deny` does."""
        self.settle()
        call = self.begin_tool(name, data, start_ns, content=final)
        arguments = self.requested.get(call.call_id or "")
        if not final and arguments is not None:
            call.step.add(lambda: {"arguments": arguments})
        self.tools.remove(call)
        call.denied = True
        self._give_up(call, end_ns)

    def close_tools(self, at_ns: int, *, goes_on: bool = False) -> None:
        """End the tool calls that nobody has answered: they failed, were denied, or given up.

        Args:
            at_ns: when.
            goes_on: whether the turn goes on. Then a call whose tool was not entered was denied:
                nobody tells so where the user was asked, and any other call has an answer.
        """
        for name, data, when in self._unplaced:
            calls = self._calls_of(name, data)
            if calls:
                self._fail(calls[0], data, when)
        self._unplaced.clear()
        for call in self.tools:
            call.denied = call.denied or (goes_on and not call.taken)
            self._give_up(call, at_ns)
        self.tools.clear()

    def _give_up(self, call: ToolCall[S], at_ns: int) -> None:
        if call.denied:
            call.step.set(error_type="permission_denied")
            call.step.end(at_ns)
        else:
            call.step.mark({agentool.TOOL_INCOMPLETE: "call_only"})
            self._stop(call.step, at_ns)

    # --------------------------------------------------------------------------------- rest

    def _stop(self, step: S, at_ns: int) -> None:
        step.mark({agentool.INCOMPLETE: True})
        step.end(at_ns)

    def note(self, step: S, name: str, data: Data, at_ns: int) -> None:
        """Add an event that is no step to one."""
        labels = payloads.labels_of(data, self._recorder.wants_content(step))
        step.note("amplifier." + name.replace(":", "."), labels, at_ns)

    def innermost(self, name: str, data: Data) -> S | None:
        """Return the step that an event is about: the model call of a provider's, the tool of an
        approval, else the turn."""
        if name.startswith("provider:"):
            chat = self.chat_of(payloads.string(data, "request_id"))
            if chat is not None:
                return chat.step
        tool = payloads.string(data, "tool_name")
        call = None if tool is None else self.tool_of(tool, data)
        if call is not None:
            return call.step
        return None if self.turn is None else self.turn.step

    def keep(self, note: Note) -> None:
        """Keep an event for the turn that follows."""
        if len(self.notes) < _NOTES:
            self.notes.append(note)
