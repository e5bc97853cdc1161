"""From the operations of one run to its ordered steps.

Every fact is one step, however many spans and messages repeat it: a tool call that is a message
part, a tool span and an MCP request is one call and one result. Steps come from outputs and from
tool results that appear for the first time, never from repeated histories.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects import LazyJson
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, Part, call_id_of, parts_of, role_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    MemoryOperation,
    Retrieval,
    ToolExecution,
)
from agentool_otel.reconstruction.steps.delegation import may_delegate
from agentool_otel.reconstruction.steps.handoff_steps import HandoffSteps
from agentool_otel.reconstruction.steps.handoffs import transfers
from agentool_otel.reconstruction.steps.order import OF_RESULT, RESULT, Draft, Drafts, in_order
from agentool_otel.reconstruction.steps.timeline import steps_without_spans
from agentool_otel.reconstruction.steps.tool_calls import (
    ToolCall,
    ToolCalls,
    call_above,
    call_below,
    has_result,
    is_only_value,
    parsed,
    reranks,
    tool_error,
    unpacked,
)
from agentool_otel.reconstruction.steps.tool_matching import (
    Match,
    has_only_name,
    matches,
    results_in_messages,
)
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import index, millis, plain, put, set_known, text
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["StepBuilder"]


_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Types of parts: that of the conventions, and Anthropic's."""
_ARGUMENTS = {"tool_call": "arguments", "server_tool_call": "server_tool_call"}
"""Types of parts that request a tool, and the member that holds the arguments."""
_RESPONSES = frozenset({"tool_call_response", "server_tool_call_response"})
_SEALED = ("signature", "encrypted_content")
"""Members of a thought that the next request returns to the provider."""


class StepBuilder:
    """Builds the steps of one run from the nodes inside it and the model calls among them."""

    def __init__(self, root: Node | None, nodes: list[Node], inferences: list[Node]):
        self._root = root
        self._nodes = nodes
        self._inferences = inferences
        self._drafts = Drafts(root)
        self._calls = ToolCalls()
        self._handoffs = HandoffSteps(root, nodes, self._drafts, self._calls)
        self._result_readers: dict[str, Node] = {}
        """The first model call that received a result, by call id."""
        self._matches: dict[Node, Match] = {}
        """The calls that tool spans with only a tool's name execute."""
        self._matched: set[str | None] = set()
        """The tools whose spans of this kind have been matched."""

    @property
    def subruns(self) -> list[tuple[Node, Draft | None]]:
        """Nested runs and the handoff step that leads to each, if one does."""
        return self._handoffs.subruns

    def build(self) -> list[dict[str, Any]]:
        """Return the steps as JSON objects, in order."""
        return [draft.finished(n) for n, draft in enumerate(self.ordered())]

    def ordered(self) -> list[Draft]:
        for node in self._inferences:
            self._read_output(node)
        if self._root is not None and not self._inferences:
            self._read_output(self._root)  # the only record of its thoughts and calls
        for node in self._nodes:
            self._read_node(node)
        self._handoffs.merge_nested_runs()
        if not self._spans_suffice():
            self._calls.note_nameless()
            for node in self._inferences:
                self._read_input(node)
        if self._root is None or not self._calls:
            self._read_unrecorded_calls()
        for call in self._calls:
            if not call.dropped:
                self._finish_call(call)
        self._order_after_results()
        holders = [self._root] if self._root is not None else []
        holders += [node for node in self._nodes if node.span.name == agentool.STEPS_SPAN]
        self._drafts += steps_without_spans(holders, self._drafts, self._handoffs.merged)
        return in_order(self._drafts, self._turns)

    def _turns(self) -> dict[Draft, int]:
        return {
            draft: n
            for n, call in enumerate(self._calls)
            for draft in (call.call_step, call.result_step)
            if draft is not None and call.requested_by is not None
        }

    def _spans_suffice(self) -> bool:
        """Whether every call has a span with a result, and start times give the order. Then the
        histories sent to the model, which cost most to parse, have nothing to add."""
        for call in self._calls:
            if not call.dropped and (call.node is None or not has_result(call.node.operation)):
                return False
        starts = {node.start_ns for node in self._nodes}
        return None not in starts and len(starts) == len(self._nodes)

    # ---- model calls
    def _read_output(self, node: Node) -> None:
        operation = node.operation
        if not isinstance(operation, (Inference, AgentInvocation)):
            return
        thoughts: list[Draft] = []
        for message in operation.output or ():
            parts = parts_of(message)
            kinds = [text(part.get("type")) for part in parts]
            # Some tracers leave the calls out of the message, and record them as spans only.
            requests_tools = "tool_call" in kinds or message.get("finish_reason") == "tool_call"
            for place, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
                if kind in _ARGUMENTS:
                    if not _is_repeated_request(part, parts):
                        self._calls.request(_requested(part, call_id_of(part, place), node))
                elif kind in _RESPONSES:  # in the output of a whole run, from the run's span
                    self._read_result(node, part)
                elif kind in _THOUGHTS or (requests_tools and kind == "text"):
                    thought = self._add_thought(node, part, len(thoughts))
                    thoughts += [thought] if thought is not None else []
        if thoughts:
            self._drafts.thoughts[node] = tuple(thoughts)

    def _add_thought(self, node: Node, part: Part, position: int) -> Draft | None:
        content = part.get("content") or part.get("thinking")
        sealed = _sealed_members(part)
        if not (content or sealed):
            return None
        draft = self._drafts.add("reasoning", self._drafts.output_time(node), 1, node)
        draft.body["content"] = content or ""
        draft.body.update(sealed)
        if not content:
            rule = "only its provider can read it"
            draft.note("redacted", "content", gen_ai.OUTPUT_MESSAGES, rule)
        elif part["type"] == "text":
            rule = "text before a tool call"
            draft.note("inferred", "content", gen_ai.OUTPUT_MESSAGES, rule)
        if (first := index(node, agentool.STEP_INDEX)) is not None:
            draft.index = first + position
        return draft

    def _read_input(self, node: Node) -> None:
        """Add the tool results that only messages have, with the call that first sends them."""
        operation = node.operation
        assert isinstance(operation, Inference)
        messages = operation.input or ()
        last = _last_turn(messages)
        for n, message in enumerate(messages):
            for place, part in enumerate(parts_of(message)):
                kind = part.get("type")
                if kind == "tool_call_response":
                    name = part.get("name") or message.get("name")
                    call_id = call_id_of(part, place)
                    if call_id is not None and call_id not in self._calls.by_id:
                        call_id, name = self._named_by_place(call_id, name, place)
                    if call_id is not None:
                        self._read_result(node, part)
                        self._result_readers.setdefault(call_id, node)
                    elif n > last:
                        self._read_result_without_id(node, name, part)
                elif kind == "tool_call" and self._calls.nameless:
                    self._calls.name(node, n, part, call_id_of(part, place))

    def _named_by_place(
        self, call_id: str, name: str | None, place: int
    ) -> tuple[str | None, str | None]:
        """Return the call id and the tool's name of a result. A made-up id (see `call_id_of`)
        contains the name of the tool."""
        tool = call_id.removesuffix(f"_{place}")
        return (None, tool) if self._calls.waits_without_id(tool) else (call_id, name)

    def _read_result(self, node: Node, part: Part) -> None:
        """Add a result to the call that has its id."""
        for call in self._calls.by_id.get(str(part.get("id")), ()):
            if call.dropped:  # a handoff, which has no result
                return
            if call.node is not None:
                if call.message_result is UNSET and not has_result(call.node.operation):
                    call.message_result = unpacked(_response_in(part))
                    return
            elif call.result_step is None:
                self._add_result(call, node, part)
                return
            elif part.get("is_error") is True:  # an earlier message repeats it without the flag
                _mark_failed(call.result_step.body["tool_result"])
                return

    def _read_result_without_id(self, node: Node, name: str | None, part: Part) -> None:
        """Add a result to the first call that lacks one, of that tool if it is named."""
        for call in self._calls:
            waits = call.result_step is None and call.node is None and not call.dropped
            if waits and call.requested_by is not node and (name is None or call.name == name):
                self._add_result(call, node, part)
                return

    def _read_unrecorded_calls(self) -> None:
        """Add the results that a run begins with: those of calls that were not recorded, and those
        calls themselves as far as the first model call repeats them. A run without any recorded
        call begins anew with every model call. Below an agent, repeated calls are another run's."""
        added: set[str | None] = set()
        for node in self._inferences[:1] if self._calls else self._inferences:
            operation = node.operation
            assert isinstance(operation, Inference)
            messages = operation.input or ()
            if isinstance(messages, LazyJson) and "tool_call_response" not in messages.text:
                continue  # saves parsing it
            last = _last_turn(messages)
            requests, requests_without_id = _requests_in(messages[last] if last >= 0 else {})
            for call_id, part in _results_in(messages[last + 1 :]):
                if call_id in self._calls.by_id or call_id in added:
                    continue
                if call_id is not None:
                    added.add(call_id)
                request = requests.get(call_id)
                if request is None and requests_without_id:
                    call_id, request = None, requests_without_id.pop(0)
                if request is None:
                    call = ToolCall(None, call_id, UNSET)
                elif self._root is None:
                    call = _requested(request, call_id, None)
                    self._calls.add(call)
                else:
                    continue
                self._add_result(call, node, part)

    def _add_result(self, call: ToolCall, node: Node, part: Part) -> None:
        """Add the result of a call as a message has it."""
        time_ns = node.start_ns if node is not self._root else None
        draft = self._drafts.add("tool_result", time_ns, RESULT, node)
        result: dict[str, Any] = {}
        set_known(result, "call_id", call.id)
        draft.body["tool_result"] = result
        response = _response_in(part)
        if response is not UNSET:
            result["output"] = unpacked(response)
            if result["output"] is not response:
                draft.note("normalised", "tool_result.output", gen_ai.INPUT_MESSAGES, "JSON text")
        if part.get("is_error") is True:
            _mark_failed(result)
        if time_ns is not None:
            rule = "start of the next model call"
            draft.note("inferred", "timestamp", gen_ai.INPUT_MESSAGES, rule)
        call.result_step = draft

    def _order_after_results(self) -> None:
        """Put the output of a model call after the results that were first sent to it."""
        read: dict[Node, tuple[Draft, ...]] = defaultdict(tuple)
        for call_id, node in self._result_readers.items():
            for call in self._calls.by_id.get(call_id, ()):
                if call.result_step is not None and call.requested_by is not node:
                    read[node] += (call.result_step,)
        if not read:
            return
        for node, drafts in self._drafts.thoughts.items():
            for draft in drafts:
                draft.after += read.get(node, ())
        for call in self._calls:
            if call.call_step is not None and call.requested_by is not None:
                call.call_step.after += read.get(call.requested_by, ())

    # ---- spans
    def _read_node(self, node: Node) -> None:
        operation = node.operation
        if type(operation) is Inference:
            return
        if isinstance(operation, ToolExecution):
            if call_below(node) is not None:
                return
            if operation.transfer_target is not None or transfers(
                operation.name, operation.arguments
            ):
                self._handoffs.read_transfer(node, operation)
            else:
                self._read_tool(node, operation, operation.name, operation.call_id)
                if may_delegate(operation.name) and (call := self._calls.run_by(node)):
                    self._handoffs.read_delegation(call, node)
        elif isinstance(operation, McpRequest):
            if operation.method == "tools/call":
                self._read_mcp(node, operation)
        elif isinstance(operation, MemoryOperation):
            self._read_memory(node, operation)
        elif isinstance(operation, Retrieval) and not reranks(operation):
            draft = self._drafts.add("memory_read", node.start_ns, 3, node)
            draft.index = index(node, agentool.STEP_INDEX)
            set_known(draft.body, "query", operation.query)
            set_known(draft.body, "results", operation.documents)
            draft.note("normalised", "type", gen_ai.OPERATION_NAME, "retrieval")

    def _read_tool(
        self,
        node: Node,
        operation: ToolExecution | McpRequest,
        name: str | None,
        call_id: str | None,
    ) -> None:
        call = None
        if call_id is None and operation.arguments is UNSET:
            call = self._matched_call(node, name)
        if call is None:
            call = self._calls.matching(name, call_id, operation.arguments)
        if call is None and call_id is None:
            call = self._calls.requested_by_span(name, operation.arguments)
        if call is None:
            if (other := self._calls.repeated_span(node, call_id)) is not None:
                self._calls.repeat(other, operation)
                return
            call = ToolCall(name, call_id, UNSET)
            self._calls.add(call)
        self._calls.run(call, node, call_id)
        if name is not None:
            call.name = name
        if operation.arguments is not UNSET and not is_only_value(
            operation.arguments, call.arguments
        ):
            call.arguments = operation.arguments

    def _matched_call(self, node: Node, name: str | None) -> ToolCall | None:
        """Return the call that a tool span with only its tool's name executes."""
        if name not in self._matched and len(waiting := self._calls.waiting(name)) > 1:
            self._matched.add(name)
            spans = [it for it in self._nodes if has_only_name(it, name)]
            executed = {getattr(it.operation, "call_id", None) for it in self._nodes}
            waiting = [it for it in waiting if it.id is None or it.id not in executed]
            results = partial(results_in_messages, self._inferences)
            self._matches.update(matches(spans, waiting, results))
        call, rule = self._matches.pop(node, (None, None))
        if call is None or call.node is not None:
            return None
        call.match_rule = rule
        return call

    def _read_mcp(self, node: Node, operation: McpRequest) -> None:
        if (above := call_above(node)) is not None:
            self._calls.repeat(above, operation)
        else:
            self._read_tool(node, operation, operation.tool_name, None)

    def _read_memory(self, node: Node, operation: MemoryOperation) -> None:
        kind = "memory_read" if operation.reads else "memory_write"
        draft = self._drafts.add(kind, node.start_ns, 3, node)
        self._drafts.place(draft, node, None)
        if operation.reads:
            set_known(draft.body, "query", operation.query)
            set_known(draft.body, "results", operation.records)
            put(draft.body, "results", operation.results)
        else:
            set_known(draft.body, "content", operation.records)
            put(draft.body, "content", operation.content)
            set_known(draft.body, "key", operation.record_id)

    # ---- calls and results
    def _finish_call(self, call: ToolCall) -> None:
        """Add the steps of a call, now that everything has been read."""
        node = call.node
        if node is None and self._is_handoff(call):
            return
        incomplete = node.span.attributes.get(agentool.TOOL_INCOMPLETE) if node else None
        call_id = call.id
        if call_id is None and node is not None:
            call_id = f"call_{node.span.span_id}"
        if incomplete != "result_only":
            self._finish_request(call, call_id)
        if node is not None and incomplete != "call_only":
            self._finish_result(call, node, call_id)
        elif call.result_step is not None and call.call_step is not None:
            call.result_step.after += (call.call_step,)

    def _is_handoff(self, call: ToolCall) -> bool:
        """Whether a handoff takes the place of a call that no span executes. A delegation is a
        handoff beside the call."""
        if call.name is None:
            return False
        if transfers(call.name, call.arguments):
            if call.result_step is not None:
                self._drafts.remove(call.result_step)
                call.result_step = None
            self._handoffs.read_message(call)
            return True
        if may_delegate(call.name) and call.requested_by is not None:
            self._handoffs.read_delegation(call, call.requested_by)
        return False

    def _finish_result(self, call: ToolCall, node: Node, call_id: str | None) -> None:
        """Fill in the result of a call from the span that executes it."""
        operation = node.operation
        assert isinstance(operation, (ToolExecution, McpRequest))
        draft = call.result_step
        if draft is None:
            draft = call.result_step = self._drafts.add("tool_result", node.end_ns, RESULT, node)
        elif call.message_result is UNSET:  # the span of the whole run has the result
            call.message_result = draft.body["tool_result"].get("output", UNSET)
        if call.call_step is not None:
            draft.after += (call.call_step,)
        draft.place(node, OF_RESULT)
        output = call.first_known(operation.result, "result")
        if output is UNSET and call.message_result is not UNSET:
            output = call.message_result
            rule = "the result sent to the model"
            draft.note("inferred", "tool_result.output", gen_ai.INPUT_MESSAGES, rule)
        result: dict[str, Any] = {"call_id": call_id}
        put(result, "output", output)
        set_known(result, "error", _error_of(call, operation))
        set_known(result, "duration_ms", _duration_ms(node, operation))
        if isinstance(operation, ToolExecution):
            set_known(result, "cost_tokens", operation.cost_tokens)
        draft.body["tool_result"] = result
        if output is UNSET and "error" not in result:
            draft.note("not_captured", "tool_result.output")

    def _finish_request(self, call: ToolCall, call_id: str | None) -> None:
        node, source = call.node, call.node or call.requested_by
        time_ns = node.start_ns if node else self._drafts.output_time(source)
        draft = call.call_step = self._drafts.add("tool_call", time_ns, 2, source)
        body: dict[str, Any] = {} if call_id is None else {"id": call_id}
        body["name"] = call.name or "unknown"
        arguments = call.first_known(call.arguments, "arguments")
        put(body, "arguments", arguments)
        draft.body["tool_call"] = body
        if node is not None:
            self._drafts.place(draft, node, call.requested_by)
        elif call.requested_by is not None:
            draft.after += self._drafts.thoughts.get(call.requested_by, ())
        if call.id is None:
            draft.note("inferred", "tool_call.id", None, "made from the span id")
        if call.match_rule is not None:
            field = "arguments" if call.id is None else "id"
            draft.note("inferred", f"tool_call.{field}", None, call.match_rule)
        if arguments is UNSET:
            draft.note("not_captured", "tool_call.arguments")


def _last_turn(messages: Sequence[Message]) -> int:
    """Return the place of the model's last turn in a history; -1 where it has none."""
    places = range(len(messages) - 1, -1, -1)
    return next((n for n in places if role_of(messages[n]) == "assistant"), -1)


def _requests_in(message: Message) -> tuple[dict[str | None, Part], list[Part]]:
    """Return the tool calls of a message by their ids, and those without one."""
    by_id: dict[str | None, Part] = {}
    without_id: list[Part] = []
    for place, part in enumerate(parts_of(message)):
        if part.get("type") == "tool_call":
            if (call_id := call_id_of(part, place)) is None:
                without_id.append(part)
            else:
                by_id[call_id] = part
    return by_id, without_id


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


def _response_in(part: Part) -> Any:
    if part["type"] == "server_tool_call_response":
        return part.get("server_tool_call_response")
    return part.get("response", part.get("result", UNSET))


def _is_repeated_request(part: Part, parts: list[Part]) -> bool:
    """True for LangChain's oldest form of a call that is also among the others."""
    return (
        part["type"] == "tool_call" and part.get("id") == "" and any(it.get("id") for it in parts)
    )


def _sealed_members(part: Part) -> dict[str, Any]:
    kind = part["type"]
    if kind == "text":
        return {}
    if kind == "redacted_thinking":
        part = {**part, "encrypted_content": part.get("data")}
    return {key: part[key] for key in _SEALED if key in part}


def _error_of(call: ToolCall, operation: ToolExecution | McpRequest) -> str | None:
    error = tool_error(operation)
    if error is None and call.repeats:  # a server knows whether the tool failed
        return next(filter(None, map(tool_error, call.repeats)), None)
    return error


def _duration_ms(node: Node, operation: ToolExecution | McpRequest) -> int | float | None:
    if isinstance(operation, ToolExecution) and operation.duration_ms is not None:
        return operation.duration_ms
    if node.start_ns is None or node.end_ns is None:
        return None
    if node.span.attributes.get(agentool.TOOL_INCOMPLETE):
        return None  # the span does not last from the call to the result
    return millis(node.end_ns - node.start_ns)


def _mark_failed(result: dict[str, Any]) -> None:
    """Make the output of a result its error: the model received it as one."""
    output = plain(result.get("output", "error"))
    result["error"] = output if isinstance(output, str) else dumps(output)
