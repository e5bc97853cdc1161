"""The callback handler: LangChain's runs become spans. Loaded when LangChain is, never before.

Its methods never attach a context except inside a frame (`tracing.instrumentation.frames`), and
never raise except in our own tests. Plain chains and graph nodes have no span; they pass their
parent on.

Source: langchain-core callbacks/base.py and manager.py, langgraph pregel/main.py at 1.0 and 1.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.context import Context

from agentool_otel.content.policy import as_text, encode, jsonable
from agentool_otel.integrations.langchain.instrumentor import interrupts, messages, models, values
from agentool_otel.integrations.langchain.instrumentor.interrupts import imported_name, interruption
from agentool_otel.integrations.langchain.instrumentor.names import (
    for_whom,
    internal,
    name_of,
    names_in,
)
from agentool_otel.integrations.langchain.instrumentor.runs import (
    LiveRun,
    Plumbing,
    Runs,
    context_below,
)
from agentool_otel.model.operations import (
    UNSET,
    AgentInvocation,
    Inference,
    Operation,
    Retrieval,
    ToolExecution,
)
from agentool_otel.model.statuses import INCOMPLETE_STREAM
from agentool_otel.providers.calls import parse_structured
from agentool_otel.providers.fields import as_list, get, is_a, items, plain_text, record, string
from agentool_otel.providers.langchain import from_message
from agentool_otel.semconv import agentool
from agentool_otel.tracing.instrumentation.frames import Frame, current_frame
from agentool_otel.tracing.spans.attempts import share_attempts, stop_sharing
from agentool_otel.tracing.spans.exceptions import str_of
from agentool_otel.tracing.spans.identity import agent_of
from agentool_otel.tracing.spans.live import LiveSpan, begin
from agentool_otel.tracing.spans.run import requested_id
from agentool_otel.tracing.spans.settings import guarded, settings
from agentool_otel.tracing.spans.suppression import CALLBACKS, CLIENTS, GRAPHS, MANUAL, is_owned

__all__ = ["Handler"]

SCOPE = "agentool_otel.instrumentation.langchain"

_OWNED = frozenset({CLIENTS, MANUAL})
"""Clients whose calls below a model run are that run."""


_AGENT_NODES = frozenset({"__start__", "agent", "model", "tools"})
"""The nodes of an agent without middleware. Source: `create_agent` of langchain 1.x,
`create_react_agent` of langgraph 1.x."""


class Handler(BaseCallbackHandler):
    """One for the process; runs are distinguished by their ids."""

    run_inline = True  # in the caller's own task or thread, so that a frame is the caller's

    def __init__(self, runs: Runs) -> None:
        self.raise_error = settings.strict
        self.enabled = True
        self.runs = runs

    def __copy__(self) -> Handler:
        return self

    def __deepcopy__(self, _: Any) -> Handler:
        return self

    @property
    def _idle(self) -> bool:
        """Switched off; runs that had started before still end."""
        return not self.enabled and not len(self.runs)

    @property
    def ignore_chain(self) -> bool:
        return self._idle

    @property
    def ignore_llm(self) -> bool:
        return self._idle

    @property
    def ignore_chat_model(self) -> bool:
        return self._idle

    @property
    def ignore_agent(self) -> bool:  # LangChain's word for tools
        return self._idle

    @property
    def ignore_retriever(self) -> bool:
        return self._idle

    @property
    def ignore_retry(self) -> bool:
        return True

    @property
    def ignore_custom_event(self) -> bool:
        return True

    # ---- graphs, nodes and chains
    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **_: Any,
    ) -> None:
        with guarded("starting a LangChain run"):
            if not self.enabled:
                return
            above = self.runs.above(parent_run_id)
            frame = current_frame("graph")
            name = plain_text(name)
            if frame is not None:
                self._start_graph(frame, above, inputs, run_id, metadata or {}, name)
            elif isinstance(above, LiveRun):
                node = string(metadata, "langgraph_node")
                if node != name or not isinstance(above.operation, AgentInvocation):
                    node = None
                transfer = above.transfers.pop(node, None) if node is not None else None
                self.runs.add(run_id, Plumbing(above, run_id, node, transfer))
            elif above is not None:
                self.runs.add(run_id, above)
            else:
                share_attempts(run_id)  # retries and fallbacks copy the context for each

    def _start_graph(
        self,
        frame: Frame,
        above: LiveRun | Plumbing | None,
        inputs: Any,
        run_id: UUID,
        metadata: dict[str, Any],
        name: str | None,
    ) -> None:
        if is_owned(GRAPHS):  # it is how something is executed that has a span already
            frame.pass_by()
            if above is not None:
                is_inside = (
                    above if isinstance(above, Plumbing) else Plumbing(above, run_id, None, None)
                )
                self.runs.add(run_id, is_inside)
            return
        parent = _context(above)
        if isinstance(above, Plumbing) and above.transfer is not None:
            parent, above.transfer = above.transfer, None
        names = names_in(metadata)
        parent = for_whom(names, above, parent)
        # Not `invoke_workflow`, also where a graph does nothing but coordinate agents: when its
        # span begins, what its nodes will do is known of those alone that are graphs themselves
        # (`Pregel.nodes`). A function among them may call a model or not, and a graph must not
        # become another type of span by gaining one.
        operation = AgentInvocation(agent_name=name_of(frame.subject, above, metadata, name))
        live = begin(operation, scope=SCOPE, parent=parent, content_follows=True)
        run = self._add(live, operation, run_id, above, frame, names)
        if run is None:
            return
        nodes = record(get(frame.subject, "nodes")) or {}
        run.calls_tools_only = bool(nodes) and _AGENT_NODES.issuperset(nodes)
        if run.wants_content:
            answer = interrupts.graph_input(inputs)
            new_input = messages.new_input(answer)
            if new_input is not None:
                run.fields["input"] = new_input
            elif answer is not None:
                run.mark({agentool.INPUT: encode(values.plain(answer))})
        run.open()

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain run"):
            stop_sharing(run_id)
            run = self.runs.take(run_id)
            if isinstance(run, Plumbing):
                if run.run_id == run_id and run.node is not None:
                    graph = run.run
                    if graph.calls_tools_only:
                        graph.answer = messages.final_answer(outputs)
                    self._hand_over(run, values.targets(outputs))
            elif run is not None:
                fields: dict[str, Any] = {}
                extra: dict[str, Any] = {}
                if run.wants_content and not run.questions:
                    output = messages.last_answer(outputs)
                    if output is not None:
                        fields["output"] = output
                    elif outputs is not None and _has_no_messages(outputs):
                        extra[agentool.OUTPUT] = encode(values.plain(outputs))
                run.finish(fields, extra=extra)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain run"):
            stop_sharing(run_id)
            run = self.runs.take(run_id)
            parent_command = imported_name("langgraph.errors", "ParentCommand")
            hands_over = parent_command is not None and is_a(error, parent_command)
            command = items(error, "args")[:1] if hands_over else []
            targets = values.targets(command, True)
            if isinstance(run, LiveRun):
                run.finish({}, error)
                if run.agent is not None:  # its node will say it again
                    run.agent.handed.update(targets)
            elif run is not None and run.run_id == run_id and run.node is not None:
                if hands_over:
                    self._hand_over(run, targets)
                elif (why := interruption(error)) is not None:
                    run.run.interrupted = why
                    if run.run.wants_content:
                        questions = interrupts.questions(error)
                        run.run.questions.update(
                            (key, values.plain(questions[key])) for key in questions
                        )

    def _hand_over(self, node: Plumbing, targets: Sequence[str]) -> None:
        """Record that a node goes to another by command, unless its tool is the handoff."""
        graph = node.run
        for target in targets:
            if target in graph.handed:
                graph.handed.discard(target)
            elif target != node.node and not internal(target) and not internal(node.node):
                operation = ToolExecution(
                    name=f"transfer_to_{target}",
                    tool_type="function",
                    transfer_target=target,
                    agent_name=node.node,
                )
                live = begin(operation, scope=SCOPE, parent=graph.context)
                if live is not None:
                    live.end(operation)
                    graph.transfers[target] = live.context

    # ---- models
    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        with guarded("starting a LangChain model call"):
            if self.enabled:
                first: Any = next(iter(items(messages)), [])
                self._start_model(
                    "chat", serialized, first, run_id, parent_run_id, metadata, kwargs
                )

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        with guarded("starting a LangChain model call"):
            if self.enabled:
                self._start_model(
                    "text_completion", serialized, prompts, run_id, parent_run_id, metadata, kwargs
                )

    def _start_model(
        self,
        kind: str,
        serialized: Any,
        prompts: Iterable[Any],
        run_id: UUID,
        parent_run_id: UUID | None,
        metadata: dict[str, Any] | None,
        kwargs: dict[str, Any],
    ) -> None:
        metadata = metadata or {}
        params = record(kwargs.get("invocation_params")) or {}
        above = self.runs.above(parent_run_id)
        if above is None and is_owned(CALLBACKS):
            return
        names = names_in(metadata)
        parent = for_whom(names, above, _context(above))
        frame = current_frame("model")
        model = None if frame is None else frame.subject
        operation = Inference(
            operation=kind, **models.request_fields(serialized, metadata, params, model)
        )
        live = begin(operation, scope=SCOPE, parent=parent, owner=_OWNED, content_follows=True)
        run = self._add(live, operation, run_id, above, frame, names)
        if run is None:
            return
        if params.get("stream") is True:
            run.fields["stream"] = True
        if run.wants_content:
            run.fields["input"] = [from_message(each) for each in items(prompts)]
            run.fields["tools"] = models.offered_tools(params)
        run.open()

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        run = self.runs.get(run_id)
        if isinstance(run, LiveRun) and run.first_chunk_s is None and chunk is not None:
            run.chunk()

    def on_stream_event(self, event: Any, *, run_id: UUID, **_: Any) -> None:
        run = self.runs.get(run_id)
        if isinstance(run, LiveRun) and run.first_chunk_s is None:
            run.chunk()

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain model call"):
            run = self.runs.take(run_id)
            if isinstance(run, LiveRun):
                answer = _answer(run, response)
                streamed = run.recording and run.first_chunk_s is not None
                if streamed and models.lacks_last_event(run.operation, answer):
                    answer["error_type"] = INCOMPLETE_STREAM
                run.finish(answer)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        with guarded("finishing a LangChain model call"):
            run = self.runs.take(run_id)
            if isinstance(run, LiveRun):
                answer = _answer(run, kwargs.get("response"))
                if not any(item["parts"] for item in answer.get("output", ())):
                    answer.pop("output", None)
                run.finish(answer, error)

    # ---- tools
    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        with guarded("starting a LangChain tool"):
            if not self.enabled:
                return
            above = self.runs.above(parent_run_id)
            names = names_in(metadata or {})
            parent = for_whom(names, above, _context(above))
            frame = current_frame("tool")
            name = string(serialized, "name") or string(kwargs, "name") or "unknown"
            call_id = string(kwargs, "tool_call_id") or (frame.call_id if frame else None)

            def sent() -> Any:
                return jsonable(input_str if inputs is None else values.arguments(inputs))

            call_id = call_id or requested_id(parent, name, sent)
            operation = ToolExecution(
                name=name,
                call_id=call_id,
                tool_type="function",
                description=string(serialized, "description") or None,
                agent_name=agent_of(parent),
            )
            live = begin(operation, scope=SCOPE, parent=parent, content_follows=True)
            run = self._add(live, operation, run_id, above, frame, names)
            if run is not None:
                if run.wants_content:
                    run.fields["arguments"] = sent()
                run.open()

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain tool"):
            run = self.runs.take(run_id)
            if not isinstance(run, LiveRun):
                return
            fields: dict[str, Any] = {}
            targets = [target for target in values.targets(output, True) if not internal(target)]
            if targets:
                run.hand_over(targets[0])
                if run.agent is not None:
                    run.agent.handed.update(targets)
            reply = values.reply(output, getattr(run.operation, "call_id", None))
            failed = string(reply, "status") == "error"
            if failed:
                fields["error_type"] = "tool_error"
            if run.wants_content and reply is not UNSET:
                content = reply if get(reply, "tool_call_id") is None else get(reply, "content")
                fields["result"] = parse_structured(content)  # of a failed one, too: it was told
                if failed:
                    text = as_text(content)
                    fields["tool_error"] = fields["error_message"] = text
            if getattr(run.operation, "call_id", None) is None:
                fields["call_id"] = string(reply, "tool_call_id")
            run.finish(fields)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain tool"):
            run = self.runs.take(run_id)
            if isinstance(run, LiveRun):
                failed = run.wants_content and interruption(error) is None
                run.finish({"tool_error": str_of(error)} if failed else {}, error)

    # ---- retrievers
    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        with guarded("starting a LangChain retrieval"):
            if not self.enabled:
                return
            metadata = metadata or {}
            above = self.runs.above(parent_run_id)
            names = names_in(metadata)
            parent = for_whom(names, above, _context(above))
            operation = Retrieval(
                data_source_id=string(kwargs, "name") or string(metadata, "ls_retriever_name"),
            )
            live = begin(operation, scope=SCOPE, parent=parent, content_follows=True)
            run = self._add(live, operation, run_id, above, current_frame("retriever"), names)
            if run is not None:
                if run.wants_content:
                    run.fields["query"] = as_text(query)
                run.open()

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain retrieval"):
            run = self.runs.take(run_id)
            if isinstance(run, LiveRun):
                live_run = (
                    [values.document(each) for each in items(documents)]
                    if run.wants_content
                    else None
                )
                run.finish({"documents": live_run})

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        with guarded("finishing a LangChain retrieval"):
            run = self.runs.take(run_id)
            if isinstance(run, LiveRun):
                run.finish({}, error)

    # ---- insides
    def _add(
        self,
        live: LiveSpan | None,
        operation: Operation,
        run_id: UUID,
        above: LiveRun | Plumbing | None,
        frame: Frame | None,
        names: dict[str, str],
    ) -> LiveRun | None:
        """Keep a run that has started; without a span it is plumbing of its parent run."""
        parent = above.run if isinstance(above, Plumbing) else above
        if live is None:
            if parent is not None:
                self.runs.add(run_id, Plumbing(parent, run_id, None, None))
            if frame is not None:
                frame.open = False
            return None
        run = LiveRun(run_id, live, operation, _graph(parent), names)
        self.runs.add(run_id, run)
        if frame is not None:
            frame.claim(run)
        return run


def _has_no_messages(outputs: Any) -> bool:
    first = get(outputs, "messages")
    return first is None or as_list(first) == []


def _graph(run: LiveRun | None) -> LiveRun | None:
    """Return the innermost graph that a run is part of."""
    if run is None or isinstance(run.operation, AgentInvocation):
        return run
    return run.agent


def _context(above: LiveRun | Plumbing | None) -> Context:
    return context_below(above.run if isinstance(above, Plumbing) else above)


def _answer(run: LiveRun, response: Any) -> dict[str, Any]:
    return models.response_fields(response) if run.recording else {}
