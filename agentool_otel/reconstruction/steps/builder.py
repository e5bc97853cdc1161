"""From the operations of one run to its ordered steps.

Every fact is one step, however many spans and messages repeat it: a tool call that is a message
part, a tool span and an MCP request is one call and one result. Steps come from outputs and from
tool results that appear for the first time, never from repeated histories.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects import LazyJson
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import call_id_of, parts_of, role_of
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
from agentool_otel.reconstruction.steps.timeline import untold
from agentool_otel.reconstruction.steps.tool_calls import (
    ToolCall,
    ToolCalls,
    call_above,
    has_result,
    is_only_value,
    parsed,
    reranks,
    tool_error,
    unpacked,
)
from agentool_otel.reconstruction.steps.tool_matching import (
    Guess,
    guesses,
    says_only_name,
    told_results,
)
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import index, millis, plain, put, set_known, text
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["StepBuilder"]


_THOUGHTS = ("reasoning", "thinking", "redacted_thinking")
"""Types of parts: that of the conventions, and Anthropic's."""
_SEALED = ("signature", "encrypted_content")
"""Members of a thought that its provider takes back with the next request."""


class StepBuilder:
    """Builds the steps of one run from the nodes inside it and the model calls among them."""

    def __init__(self, root: Node | None, nodes: list[Node], inferences: list[Node]):
        self._root = root
        self._nodes = nodes
        self._inferences = inferences
        self._drafts = Drafts(root)
        self._calls = ToolCalls()
        self._handoffs = HandoffSteps(root, nodes, self._drafts, self._calls)
        self._consumed: dict[str, Node] = {}
        """By call id, the first model call that was told its result."""
        self._guesses: dict[int, Guess] = {}
        """By the id() of a tool span that says only its tool's name, the call it runs."""
        self._guessed: set[str | None] = set()
        """The tools of which all such spans have been looked at."""

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
            self._read_output(self._root)  # what it thought and asked for, all that is known of it
        for node in self._nodes:
            self._read_node(node)
        self._handoffs.merge_nested_runs()
        if not self._spans_tell_all():
            self._calls.note_nameless()
            for node in self._inferences:
                self._read_input(node)
        if self._root is None or not self._calls:
            self._read_what_came_before()
        for call in self._calls:
            if not call.dropped:
                self._finish_call(call)
        self._tie_results()
        holders = [self._root] if self._root is not None else []
        holders += [node for node in self._nodes if node.span.name == agentool.STEPS_SPAN]
        self._drafts += untold(holders, self._drafts, self._handoffs.merged)
        return in_order(self._drafts, self._turns)

    def _turns(self) -> dict[int, int]:
        return {
            id(draft): n
            for n, call in enumerate(self._calls)
            for draft in (call.call, call.result)
            if draft is not None and call.asked_by is not None
        }

    def _spans_tell_all(self) -> bool:
        """True where every call has a span with a result and the clock says what came when: then
        the histories sent to the model, most of what there is to parse, have nothing to add."""
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
            if not parts:
                continue
            kinds = [part.get("type") for part in parts]
            # Some tracers leave the calls out of the message, and tell them as spans only.
            asks = "tool_call" in kinds or message.get("finish_reason") == "tool_call"
            for place, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
                if kind == "tool_call":
                    call_id = call_id_of(part, place)
                    if part.get("id") == "" and any(it.get("id") for it in parts):
                        continue  # LangChain's oldest form of a call that is also among the others
                    self._asked(node, part, call_id, part.get("arguments", UNSET))
                elif kind == "tool_call_response":  # of a whole run, told by its own span
                    self._answered(node, part, part.get("response", part.get("result", UNSET)))
                elif kind in _THOUGHTS or (asks and kind == "text"):
                    content = part.get("content") or part.get("thinking")
                    if kind == "redacted_thinking":
                        part = {**part, "encrypted_content": part.get("data")}
                    sealed = () if kind == "text" else [key for key in _SEALED if key in part]
                    if not (content or sealed):
                        continue
                    draft = self._drafts.add("reasoning", self._drafts.said_at(node), 1, node)
                    draft.body["content"] = content or ""
                    for key in sealed:
                        draft.body[key] = part[key]
                    if not content:
                        rule = "only its provider can read it"
                        draft.note("redacted", "content", gen_ai.OUTPUT_MESSAGES, rule)
                    if (first := index(node, agentool.STEP_INDEX)) is not None:
                        draft.index = first + len(thoughts)
                    thoughts.append(draft)
                    if kind == "text":
                        draft.note(
                            "inferred", "content", gen_ai.OUTPUT_MESSAGES, "text before a tool call"
                        )
                elif kind == "server_tool_call":
                    call_id = call_id_of(part, place)
                    self._asked(node, part, call_id, part.get("server_tool_call", UNSET))
                elif kind == "server_tool_call_response":
                    self._answered(node, part, part.get("server_tool_call_response"))
        if thoughts:
            self._drafts.thoughts[id(node)] = tuple(thoughts)

    def _asked(self, node: Node, part: dict[str, Any], call_id: str | None, arguments: Any) -> None:
        self._calls.ask(ToolCall(text(part.get("name")), call_id, parsed(arguments), node))

    def _read_input(self, node: Node) -> None:
        """Take tool results that no span has told of, from the call that they were sent with."""
        operation = node.operation
        assert isinstance(operation, Inference)
        said = operation.input or ()
        turns = [n for n, message in enumerate(said) if role_of(message) == "assistant"]
        new = turns[-1] + 1 if turns else 0
        for n, message in enumerate(said):
            for place, part in enumerate(parts_of(message)):
                if part.get("type") == "tool_call_response":
                    response = part.get("response", part.get("result", UNSET))
                    name = part.get("name") or message.get("name")
                    call_id = call_id_of(part, place)
                    if call_id is not None and call_id not in self._calls.by_id:
                        call_id, name = self._named_by_place(call_id, name, place)
                    if call_id is not None:
                        self._answered(node, part, response)
                        self._consumed.setdefault(call_id, node)
                    elif n >= new:
                        self._answered_in_turn(node, name, part, response)
                elif self._calls.nameless and part.get("type") == "tool_call":
                    self._calls.name(node, n, part, call_id_of(part, place))

    def _named_by_place(
        self, call_id: str, name: str | None, place: int
    ) -> tuple[str | None, str | None]:
        """Return the id and the tool's name of a result; what ids are made of where there are none
        (see `call_id_of`) tells the name of the tool."""
        tool = call_id.removesuffix(f"_{place}")
        return (None, tool) if self._calls.waits_without_id(tool) else (call_id, name)

    def _answered_in_turn(
        self, node: Node, name: str | None, part: dict[str, Any], response: Any
    ) -> None:
        """Take a result without an id as that of the first call it can be one of."""
        for call in self._calls:
            waits = call.result is None and call.node is None and not call.dropped
            if waits and call.asked_by is not node and (name is None or call.name == name):
                self._take_answer(call, node, part, response)
                return

    def _read_what_came_before(self) -> None:
        """Take what a run begins with: the results of calls that were not recorded, and those
        calls as far as the first model call repeats them. A run of which no call was recorded
        begins anew with every model call. Below an agent, what is repeated was another one's."""
        told: set[str] = set()
        for node in self._inferences[:1] if self._calls else tuple(self._inferences):
            operation = node.operation
            assert isinstance(operation, Inference)
            said = operation.input or ()
            if isinstance(said, LazyJson) and "tool_call_response" not in said.text:
                continue  # parsing it would be for nothing
            turns = [n for n, message in enumerate(said) if role_of(message) == "assistant"]
            asked: dict[str | None, dict[str, Any]] = {}
            nameless: list[dict[str, Any]] = []
            for place, part in enumerate(parts_of(said[turns[-1]]) if turns else ()):
                if part.get("type") == "tool_call":
                    call_id = call_id_of(part, place)
                    if call_id is None:
                        nameless.append(part)
                    else:
                        asked[call_id] = part
            for message in said[turns[-1] + 1 if turns else 0 :]:
                for place, part in enumerate(parts_of(message)):
                    call_id = call_id_of(part, place)
                    if part.get("type") != "tool_call_response" or call_id in self._calls.by_id:
                        continue
                    if call_id is not None:
                        if call_id in told:
                            continue
                        told.add(call_id)
                    known = asked.get(call_id)
                    if known is None and nameless:
                        call_id, known = None, nameless.pop(0)
                    if known is not None and self._root is not None:
                        continue
                    arguments = parsed(known.get("arguments", UNSET)) if known else UNSET
                    call = ToolCall(text(known.get("name")) if known else None, call_id, arguments)
                    if known is not None:
                        self._calls.add(call)
                    response = part.get("response", part.get("result", UNSET))
                    self._take_answer(call, node, part, response)

    def _tie_results(self) -> None:
        """Put what a model says after the results that it was first told with that call."""
        told: dict[int, tuple[Draft, ...]] = defaultdict(tuple)
        for call_id, node in self._consumed.items():
            for call in self._calls.by_id.get(call_id, ()):
                if call.result is not None and call.asked_by is not node:
                    told[id(node)] += (call.result,)
        if told:
            for node_id, drafts in self._drafts.thoughts.items():
                for draft in drafts:
                    draft.after += told.get(node_id, ())
            for call in self._calls:
                if call.call is not None and call.asked_by is not None:
                    call.call.after += told.get(id(call.asked_by), ())

    def _answered(self, node: Node, part: dict[str, Any], response: Any) -> None:
        for call in self._calls.by_id.get(str(part.get("id")), ()):
            if call.dropped:  # a handoff, which has no result
                return
            if call.node is not None:
                if call.told is UNSET and not has_result(call.node.operation):
                    call.told = unpacked(response)
                    return
            elif call.result is None:
                self._take_answer(call, node, part, response)
                return
            elif part.get("is_error") is True:  # of one that was told before without saying so
                _mark_failed(call.result.body["tool_result"])
                return

    def _take_answer(self, call: ToolCall, node: Node, part: dict[str, Any], response: Any) -> None:
        told_ns = node.start_ns if node is not self._root else None
        draft = self._drafts.add("tool_result", told_ns, RESULT, node)
        result: dict[str, Any] = {}
        set_known(result, "call_id", call.id)
        draft.body["tool_result"] = result
        if response is not UNSET:
            result["output"] = unpacked(response)
            if result["output"] is not response:
                draft.note("normalised", "tool_result.output", gen_ai.INPUT_MESSAGES, "JSON text")
        if part.get("is_error") is True:
            _mark_failed(result)
        if told_ns is not None:
            rule = "start of the next model call"
            draft.note("inferred", "timestamp", gen_ai.INPUT_MESSAGES, rule)
        call.result = draft

    # ---- spans
    def _read_node(self, node: Node) -> None:
        operation = node.operation
        if type(operation) is Inference:
            return
        if isinstance(operation, ToolExecution):
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
            call = self._guessed_call(node, name)
        if call is None:
            call = self._calls.matching(name, call_id, operation.arguments)
        if call is None and call_id is None:
            call = self._calls.asked_by_span(name, operation.arguments)
        if call is None:
            if (other := self._calls.told_by(node, call_id)) is not None:
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

    def _guessed_call(self, node: Node, name: str | None) -> ToolCall | None:
        """Return the call that a tool span runs which says no more than its tool's name."""
        if name not in self._guessed and len(waiting := self._calls.waiting(name)) > 1:
            self._guessed.add(name)
            spans = [it for it in self._nodes if says_only_name(it, name)]
            named = {getattr(it.operation, "call_id", None) for it in self._nodes}
            waiting = [it for it in waiting if it.id is None or it.id not in named]
            told = partial(told_results, self._inferences)
            self._guesses.update(guesses(spans, waiting, told))
        call, rule = self._guesses.pop(id(node), (None, None))
        if call is None or call.node is not None:
            return None
        call.guessed = rule
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
        node, operation = call.node, call.node.operation if call.node else None
        if node is None and call.name is not None:
            if transfers(call.name, call.arguments):
                if call.result is not None:
                    self._drafts.remove(call.result)
                    call.result = None
                self._handoffs.read_message(call)
                return
            if may_delegate(call.name) and call.asked_by is not None:
                self._handoffs.read_delegation(call, call.asked_by)
        incomplete = node.span.attributes.get(agentool.TOOL_INCOMPLETE) if node else None
        call_id = call.id
        if call_id is None and node is not None:
            call_id = f"call_{node.span.span_id}"
        if incomplete != "result_only":
            self._finish_request(call, node, call_id)
        if node is None or operation is None or incomplete == "call_only":
            if call.result is not None and call.call is not None:
                call.result.after += (call.call,)
            return
        draft = call.result
        if draft is None:
            draft = call.result = self._drafts.add("tool_result", node.end_ns, RESULT, node)
        elif call.told is UNSET:  # by the span of the whole run
            call.told = draft.body["tool_result"].get("output", UNSET)
        if call.call is not None:
            draft.after += (call.call,)
        draft.place(node, OF_RESULT)
        result: dict[str, Any] = {"call_id": call_id}
        output = operation.result if isinstance(operation, (ToolExecution, McpRequest)) else UNSET
        if output is UNSET:
            output = next((it.result for it in call.again if it.result is not UNSET), UNSET)
        if output is UNSET and call.told is not UNSET:
            output = call.told
            draft.note("inferred", "tool_result.output", gen_ai.INPUT_MESSAGES, "what was told")
        if output is not UNSET:
            result["output"] = output
        if isinstance(operation, (ToolExecution, McpRequest)):
            error = tool_error(operation)
            if error is None and call.again:  # a server knows whether the tool failed
                error = next(filter(None, map(tool_error, call.again)), None)
            if error is not None:
                result["error"] = error
            if isinstance(operation, ToolExecution) and operation.duration_ms is not None:
                result["duration_ms"] = operation.duration_ms
            elif node.start_ns is not None and node.end_ns is not None and not incomplete:
                result["duration_ms"] = millis(node.end_ns - node.start_ns)
            if isinstance(operation, ToolExecution) and operation.cost_tokens is not None:
                result["cost_tokens"] = operation.cost_tokens
        draft.body["tool_result"] = result
        if output is UNSET and "error" not in result:
            draft.note("not_captured", "tool_result.output")

    def _finish_request(self, call: ToolCall, node: Node | None, call_id: str | None) -> None:
        source = node or call.asked_by
        time_ns = node.start_ns if node else self._drafts.said_at(source)
        draft = call.call = self._drafts.add("tool_call", time_ns, 2, source)
        body: dict[str, Any] = {} if call_id is None else {"id": call_id}
        body["name"] = call.name or "unknown"
        arguments = call.arguments
        if arguments is UNSET:
            arguments = next(
                (it.arguments for it in call.again if it.arguments is not UNSET), UNSET
            )
        if arguments is not UNSET:
            body["arguments"] = arguments
        draft.body["tool_call"] = body
        if node is not None:
            self._drafts.place(draft, node, call.asked_by)
        elif call.asked_by is not None:
            draft.after += self._drafts.thoughts.get(id(call.asked_by), ())
        if call.id is None:
            draft.note("inferred", "tool_call.id", None, "made from the span id")
        if call.guessed is not None:
            field = "arguments" if call.id is None else "id"
            draft.note("inferred", f"tool_call.{field}", None, call.guessed)
        if arguments is UNSET:
            draft.note("not_captured", "tool_call.arguments")


def _mark_failed(result: dict[str, Any]) -> None:
    """Say that a tool failed, of a result that the model was told as an error."""
    said = plain(result.get("output", "error"))
    result["error"] = said if isinstance(said, str) else dumps(said)
