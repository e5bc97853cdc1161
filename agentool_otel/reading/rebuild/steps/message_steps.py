"""Steps from the messages of model calls: thoughts, requests for tools, and their results.

Steps come from outputs and from tool results that appear for the first time, never from repeated
histories.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects import LazyJson
from agentool_otel.ground.json_codec import canonical, dumps
from agentool_otel.model.messages import Message, Part, call_id_of, parts_of, role_of
from agentool_otel.model.operations import AgentInvocation, Inference
from agentool_otel.reading.rebuild.steps.order import RESULT, Causes, Drafts
from agentool_otel.reading.rebuild.steps.requests import ToolCall
from agentool_otel.reading.rebuild.steps.tool_calls import ToolCalls, has_result, parsed, unpacked
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import index, plain, set_known, text
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["MessageSteps"]


_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Types of parts: that of the conventions, and Anthropic's."""
_ARGUMENTS = {"tool_call": "arguments", "server_tool_call": "server_tool_call"}
"""Types of parts that request a tool, and the member that holds the arguments."""
_RESPONSES = frozenset({"tool_call_response", "server_tool_call_response"})
_SEALED = ("signature", "encrypted_content")
"""Members of a thought that the next request returns to the provider."""


class MessageSteps:
    """Reads the messages of one run."""

    def __init__(self, root: Node | None, inferences: list[Node], drafts: Drafts, calls: ToolCalls):
        self._root = root
        self._inferences = inferences
        self._drafts = drafts
        self._calls = calls
        self._result_readers: dict[str, Node] = {}
        """The first model call that received a result, by call id."""
        self._full: dict[str, tuple[int, ToolCall | None]] = {}
        """By call id, how many of its calls have their result, and the first that a message
        answered."""
        self._unanswered: _Unanswered | None = None
        self._unplaced: list[tuple[Node, Part, str | None]] = []
        """The results in answers whose calls are not known yet, with the id of the call."""

    def read_output(self, node: Node) -> None:
        """Add the thoughts and the calls of a model's answer."""
        operation = node.operation
        if isinstance(operation, (Inference, AgentInvocation)):
            for message in operation.output or ():
                self._read_answer(node, message)
        self._full.clear()  # what a run's own output answers may have a span

    def _read_answer(self, node: Node, message: Message) -> None:
        parts = parts_of(message)
        kinds = [text(part.get("type")) for part in parts]
        # Some tracers leave the calls out of the message, and record them as spans only.
        requests_tools = "tool_call" in kinds or message.get("finish_reason") == "tool_call"
        with_id: set[str] | None = None
        for place, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
            if kind in _ARGUMENTS:
                oldest = kind == "tool_call" and part.get("id") == ""
                if oldest and with_id is None:  # LangChain's oldest form stands beside one with ids
                    with_id = {_asked(part) for part in parts if part.get("id")}
                if not (oldest and with_id and _asked(part) in with_id):
                    self._calls.request(_requested(part, call_id_of(part, place), node))
            elif kind in _RESPONSES:  # of a whole run, or of tools that the provider runs
                call_id = call_id_of(part, place)
                if call_id in self._calls.by_id:
                    self._read_result(node, part, call_id)
                else:
                    self._unplaced.append((node, part, call_id))
            elif kind in _THOUGHTS or (requests_tools and kind == "text"):
                self._add_thought(node, part)

    def _add_thought(self, node: Node, part: Part) -> None:
        content = part.get("content") or part.get("thinking")
        sealed = _sealed_members(part)
        if not (content or sealed):
            return
        draft = self._drafts.add("reasoning", self._drafts.output_time(node), 1, node)
        draft.body["content"] = content or ""
        draft.body.update(sealed)
        if not content:
            rule = "only its provider can read it"
            draft.note("redacted", "content", gen_ai.OUTPUT_MESSAGES, rule)
        elif part["type"] == "text":
            rule = "text before a tool call"
            draft.note("inferred", "content", gen_ai.OUTPUT_MESSAGES, rule)
        thoughts = self._drafts.thoughts.setdefault(node, Causes())
        if (first := index(node, agentool.STEP_INDEX)) is not None:
            draft.index = first + len(thoughts)
        thoughts.add(draft)

    def read_input(self, node: Node) -> None:
        """Add the tool results that only messages have, with the call that first sends them."""
        messages = _input(node)
        last = _last_turn(messages)
        for n, message in enumerate(messages):
            for place, part in enumerate(parts_of(message)):
                kind = part.get("type")
                if kind == "tool_call_response":
                    self._read_sent_result(node, message, part, place, is_new=n > last)
                elif kind == "tool_call" and self._calls.has_nameless:
                    self._calls.name(node, n, part, call_id_of(part, place))

    def _read_sent_result(
        self, node: Node, message: Message, part: Part, place: int, *, is_new: bool
    ) -> None:
        name = part.get("name") or message.get("name")
        call_id = call_id_of(part, place)
        if call_id is not None and call_id not in self._calls.by_id:
            call_id, name = self._named_by_place(call_id, name, place)
        if call_id is not None:
            self._read_result(node, part, call_id)
            self._result_readers.setdefault(call_id, node)
        elif is_new:
            self._read_result_without_id(node, name, part)

    def _named_by_place(
        self, call_id: str, name: str | None, place: int
    ) -> tuple[str | None, str | None]:
        """Return the call id and the tool's name of a result. A made-up id (see `call_id_of`)
        contains the name of the tool."""
        tool = call_id.removesuffix(f"_{place}")
        return (None, tool) if self._calls.waits_without_id(tool) else (call_id, name)

    def read_unplaced(self) -> None:
        """Add the results in answers whose calls were not known before the spans were read: to the
        call of their id, else to the next one of that answer, else as those of unrecorded calls."""
        if not self._unplaced:
            return
        requested = _Requested(self._calls)
        for node, part, call_id in self._unplaced:
            if call_id in self._calls.by_id:
                self._read_result(node, part, call_id)
                continue
            call = requested.next(node, text(part.get("name"))) if call_id is None else None
            if call is None or call.node is None:
                call = call or ToolCall(None, call_id, UNSET)
                self._add_result(call, node, part, is_sent=False)
            elif not has_result(call.node.operation):
                call.message_result = unpacked(_response_in(part))

    def _read_result(self, node: Node, part: Part, call_id: str) -> None:
        """Add a result to the call that has its id."""
        calls = self._calls.by_id.get(call_id, ())
        full, answered = self._full.get(call_id, (0, None))
        failed = part.get("is_error") is True
        while full < len(calls) and not (failed and answered):
            call = calls[full]
            if call.dropped:  # a handoff, which has no result
                break
            if call.node is not None:
                if call.message_result is UNSET and not has_result(call.node.operation):
                    call.message_result = unpacked(_response_in(part))
                    break
            elif call.result_step is None:
                self._add_result(call, node, part, is_sent=call.requested_by is not node)
                break
            else:
                answered = answered or call
            full += 1
        else:
            if failed and answered is not None and answered.result_step is not None:
                # An earlier message repeats it without the flag.
                _mark_failed(answered.result_step.body["tool_result"])
        self._full[call_id] = full, answered

    def _read_result_without_id(self, node: Node, name: Any, part: Part) -> None:
        """Add a result to the first call that lacks one, of that tool if it is named."""
        if not isinstance(name, str | None):
            return
        if self._unanswered is None:
            self._unanswered = _Unanswered(self._calls)
        if (call := self._unanswered.first(name, node)) is not None:
            self._add_result(call, node, part)

    def read_unrecorded_calls(self) -> None:
        """Add the results that a run begins with: those of calls that were not recorded, and those
        calls themselves as far as the first model call repeats them. A run without any recorded
        call begins anew with every model call. Below an agent, repeated calls are another run's."""
        added: set[str | None] = set()
        for node in self._inferences[:1] if self._calls else self._inferences:
            messages = _input(node)
            if isinstance(messages, LazyJson) and "tool_call_response" not in messages.text:
                continue  # saves parsing it
            last = _last_turn(messages)
            requests = _Requests(messages[last] if last >= 0 else {})
            for call_id, part in _results_in(messages[last + 1 :]):
                if call_id in self._calls.by_id or call_id in added:
                    continue
                if call_id is not None:
                    added.add(call_id)
                if (call := self._unrecorded_call(requests, call_id)) is not None:
                    self._add_result(call, node, part)

    def _unrecorded_call(self, requests: _Requests, call_id: str | None) -> ToolCall | None:
        """Return the call that a result is of; None if it is another run's."""
        call_id, request = requests.take(call_id)
        if request is None:
            return ToolCall(None, call_id, UNSET)
        if self._root is not None:
            return None
        call = _requested(request, call_id, None)
        self._calls.add(call)
        return call

    def _add_result(self, call: ToolCall, node: Node, part: Part, *, is_sent: bool = True) -> None:
        """Add the result of a call as a message has it: one that is sent to a model, or one in an
        answer."""
        if node is self._root:
            time_ns = None
        else:
            time_ns = node.start_ns if is_sent else self._drafts.output_time(node)
        draft = self._drafts.add("tool_result", time_ns, RESULT, node)
        result: dict[str, Any] = {}
        set_known(result, "call_id", call.id)
        draft.body["tool_result"] = result
        response = _response_in(part)
        if response is not UNSET:
            result["output"] = unpacked(response)
            if result["output"] is not response:
                draft.note("normalised", "tool_result.output", _attribute(is_sent), "JSON text")
        if part.get("is_error") is True:
            _mark_failed(result)
        if time_ns is not None:
            rule = "start of the next model call" if is_sent else "end of the model call"
            draft.note("inferred", "timestamp", _attribute(is_sent), rule)
        call.result_step = draft

    def order_after_results(self) -> None:
        """Put the output of a model call after the results that were first sent to it."""
        read: dict[Node | None, Causes] = {}
        for call_id, node in self._result_readers.items():
            for call in self._calls.by_id.get(call_id, ()):
                if call.result_step is not None and call.requested_by is not node:
                    read.setdefault(node, Causes()).add(call.result_step)
        if not read:
            return
        for node, thoughts in self._drafts.thoughts.items():
            if (results := read.get(node)) is not None:
                for draft in thoughts:
                    draft.after += (results,)
        for call in self._calls:
            results = read.get(call.requested_by)
            if call.call_step is not None and results is not None:
                call.call_step.after += (results,)


def _input(node: Node) -> Sequence[Message]:
    assert isinstance(node.operation, Inference)
    return node.operation.input or ()


def _last_turn(messages: Sequence[Message]) -> int:
    """Return the place of the model's last turn in a history; -1 where it has none."""
    places = range(len(messages) - 1, -1, -1)
    return next((n for n in places if role_of(messages[n]) == "assistant"), -1)


class _Unanswered:
    """The calls without a result, by tool and by the model call that requested them."""

    def __init__(self, calls: Iterable[ToolCall]):
        self._of: dict[str | None, dict[Node | None, deque[ToolCall]]] = defaultdict(dict)
        for call in calls:
            if _lacks_result(call):
                for name in {call.name, None}:
                    self._of[name].setdefault(call.requested_by, deque()).append(call)

    def first(self, name: str | None, reader: Node) -> ToolCall | None:
        """Return the first call, of a tool if it is named, that a model call before the one that
        reads the result has requested."""
        groups = self._of.get(name, {})
        found: ToolCall | None = None
        done: list[Node | None] = []
        for requested_by, calls in groups.items():
            while calls and not _lacks_result(calls[0]):
                calls.popleft()
            if not calls:
                done.append(requested_by)
            elif requested_by is reader:
                continue
            elif requested_by is None or not _is_before(reader, requested_by):
                found = calls[0]
                break
            else:  # and so have the model calls after it
                break
        for requested_by in done:
            del groups[requested_by]
        return found


class _Requested:
    """The calls without the result of a message, by tool and by what requested them, in order."""

    def __init__(self, calls: Iterable[ToolCall]):
        self._taken: set[ToolCall] = set()
        self._of: dict[tuple[Node | None, str | None], deque[ToolCall]] = defaultdict(deque)
        for call in calls:
            if call.result_step is None and not call.dropped:
                for name in {call.name, None}:
                    self._of[call.requested_by, name].append(call)

    def next(self, node: Node, name: str | None) -> ToolCall | None:
        """Return the next call that an answer requests, of a tool if it is named."""
        calls = self._of.get((node, name))
        while calls:
            if (call := calls.popleft()) not in self._taken:
                self._taken.add(call)
                return call
        return None


def _is_before(first: Node, second: Node) -> bool:
    """Return whether a model call began before another one; False where a time is unknown."""
    if first.start_ns is None or second.start_ns is None:
        return False
    return first.start_ns < second.start_ns


def _lacks_result(call: ToolCall) -> bool:
    return call.result_step is None and call.node is None and not call.dropped


class _Requests:
    """The tool calls of a message."""

    def __init__(self, message: Message):
        self._by_id: dict[str | None, Part] = {}
        self._without_id: list[Part] = []
        for place, part in enumerate(parts_of(message)):
            if part.get("type") == "tool_call":
                if (call_id := call_id_of(part, place)) is None:
                    self._without_id.append(part)
                else:
                    self._by_id[call_id] = part

    def take(self, call_id: str | None) -> tuple[str | None, Part | None]:
        """Return the request with an id, else the next without one, and the id of the call."""
        request = self._by_id.get(call_id)
        if request is None and self._without_id:
            return None, self._without_id.pop(0)
        return call_id, request


def _results_in(messages: Sequence[Message]) -> Iterator[tuple[str | None, Part]]:
    """Yield the tool results of messages with their call ids."""
    for message in messages:
        for place, part in enumerate(parts_of(message)):
            if part.get("type") == "tool_call_response":
                yield call_id_of(part, place), part


def _requested(part: Part, call_id: str | None, node: Node | None) -> ToolCall:
    """Return the call that a part of a message requests."""
    arguments = part.get(_ARGUMENTS[part["type"]], UNSET)
    return ToolCall(text(part.get("name")), call_id, parsed(arguments), node)


def _attribute(is_sent: bool) -> str:
    return gen_ai.INPUT_MESSAGES if is_sent else gen_ai.OUTPUT_MESSAGES


def _asked(part: Part) -> str:
    """Return the request in a message part as text that can be compared."""
    return canonical([part.get("name"), parsed(part.get("arguments"))])


def _response_in(part: Part) -> Any:
    if part["type"] == "server_tool_call_response":
        return part.get("server_tool_call_response")
    return part.get("response", part.get("result", UNSET))


def _sealed_members(part: Part) -> dict[str, Any]:
    kind = part["type"]
    if kind == "text":
        return {}
    if kind == "redacted_thinking":
        part = {**part, "encrypted_content": part.get("data")}
    return {key: part[key] for key in _SEALED if key in part}


def _mark_failed(result: dict[str, Any]) -> None:
    """Make the output of a result its error: the model received it as one."""
    output = plain(result.get("output", "error"))
    result["error"] = output if isinstance(output, str) else dumps(output)
