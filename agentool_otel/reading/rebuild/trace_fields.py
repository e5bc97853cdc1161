"""The members of a trace: agent, times, conversation and outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentool_otel.dialects import LazyJson
from agentool_otel.model.documents import UNSET
from agentool_otel.model.error_results import LOOKS_LIKE_ERRORS, error_rule
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    ToolExecution,
    Unclassified,
)
from agentool_otel.model.times import from_ns
from agentool_otel.reading.rebuild import residue
from agentool_otel.reading.rebuild.answer_ends import (
    UNKNOWN_ENDS,
    AnswerEnd,
    answer_ends,
    unknown_ends,
)
from agentool_otel.reading.rebuild.failures import failure_of
from agentool_otel.reading.rebuild.inputs_outputs import FieldValue, input_of, output_of
from agentool_otel.reading.rebuild.labels import labels_of
from agentool_otel.reading.rebuild.metrics import metrics_of, uncounted
from agentool_otel.reading.rebuild.report.gaps import Gaps, with_hidden
from agentool_otel.reading.rebuild.run_spans import RunSpans
from agentool_otel.reading.rebuild.status import Status, status_of
from agentool_otel.reading.rebuild.steps.builder import StepBuilder
from agentool_otel.reading.rebuild.steps.delegation import delegate, may_delegate, tool_around
from agentool_otel.reading.rebuild.steps.model_calls import leaf_inferences
from agentool_otel.reading.rebuild.tree import Node, is_adopted, is_open, is_record
from agentool_otel.reading.rebuild.values import json_or, plain, put, set_known
from agentool_otel.reading.rebuild.wrappers import run_name
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["agent_id_of", "document_of", "has_error"]

_OF_TOOLS = (McpRequest, ToolExecution, Unclassified)


def document_of(run: RunSpans, subtraces: dict[Node, str]) -> dict[str, Any]:
    """Return the trace of a run as a JSON object, and keep the model calls of the run.

    Args:
        run: its spans, linked.
        subtraces: the trace id of every run of the same OTel trace, by its node.
    """
    root, nodes = run.root, run.nodes
    attributes = root.span.attributes if root is not None else {}
    inferences = run.inferences = leaf_inferences(nodes)
    document: dict[str, Any] = {"trace_id": run.trace_id}
    put(document, "agent_id", agent_id_of(run).value)
    set_known(document, "session_id", _session_id(run))
    start_ns, end_ns = times = _times(run)
    if start_ns is not None:
        document["started_at"] = from_ns(start_ns)
    if end_ns is not None:
        document["finished_at"] = from_ns(end_ns)
    put(document, "input", input_of(root, nodes, inferences).value)
    put(document, "output", output_of(root, nodes, inferences).value)
    builder = StepBuilder(root, nodes, inferences)
    document["status"] = ""  # its place; it depends on the steps
    steps = document["steps"] = builder.build()
    status = status_of(root, nodes, inferences, steps, document.get("output", UNSET))
    document["status"] = status.value
    document["metrics"] = metrics_of(root, nodes, inferences, steps, times)
    children = [subtraces[node] for node, _ in builder.subruns if node in subtraces]
    ends = answer_ends(inferences, document.get("output", UNSET))
    metadata = _metadata(run, status, inferences, children, ends, steps)
    if metadata is not None:
        document["metadata"] = metadata
    return residue.apply(document, json_or(attributes.get(agentool.EXTRA), None))


def _metadata(
    run: RunSpans,
    status: Status,
    inferences: list[Node],
    children: list[str],
    ends: list[AnswerEnd],
    steps: list[dict[str, Any]],
) -> dict[str, Any] | None:
    """Return the user's own metadata, the labels and further facts about the run; None if there are
    none.
    """
    root, nodes = run.root, run.nodes
    metadata = (
        json_or(root.span.attributes.get(agentool.METADATA), None) if root is not None else None
    )
    links = dict(run.link)
    if children:
        links["sub_traces"] = children
    if _unfinished(run):
        links["incomplete"] = True
    if status.value == "in_progress" and (why := _interruption(root)) is not None:
        links["interrupted"] = why
    failure = failure_of(status, root, nodes, inferences)
    if failure is not None and not has_error(metadata):
        links["error"] = failure.to_dict()
    if ends:
        links["unfinished"] = [end.to_dict() for end in ends]
    if unknown := unknown_ends(inferences):
        links[UNKNOWN_ENDS] = unknown
    if alike := [*_error_results(steps)]:
        links[LOOKS_LIKE_ERRORS] = alike
    labels = labels_of(root, nodes)
    gaps: Gaps = {(None, member): why for member, why in uncounted(root, nodes, inferences)}
    return with_hidden(_joined(metadata, labels, links), gaps)


def _error_results(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the steps whose results look like errors, although none was recorded."""
    for step in steps:
        result = step.get("tool_result")
        if result is None or result.get("error") is not None:
            continue
        output = result.get("output")
        # As text: most results are no errors, and are not parsed for this.
        rule = error_rule(output.text if isinstance(output, LazyJson) else output)
        if rule is not None:
            yield {"step_id": step.get("step_id"), "rule": rule}


def _joined(metadata: Any, labels: dict[str, Any], links: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(metadata, dict):
        return {
            **metadata,
            **{key: label for key, label in labels.items() if key not in metadata},
            **links,
        }
    return {**labels, **links} or None


def has_error(metadata: Any) -> bool:
    """Return whether the metadata of a run has an error: the user's own, or a replayed trace's."""
    return isinstance(metadata, dict) and "error" in metadata


def agent_id_of(run: RunSpans) -> FieldValue:
    if run.root is not None:
        agent_id = run.root.span.attributes.get(agentool.AGENT_ID)
        if isinstance(agent_id, str):
            return FieldValue(agent_id)
        operation, name = run.root.operation, run_name(run.root)
        if isinstance(operation, AgentInvocation):
            if name is None and (named := _agent_in_name(run.root, operation.agent_id)) is not None:
                return named
            name = name or operation.agent_id
            if name is None or may_delegate(name):
                delegated = _delegate(run.root, name)
                if delegated is not None:
                    return delegated
        if name is not None:
            return FieldValue(name)
    elif all(isinstance(node.operation, _OF_TOOLS) for node in run.nodes):
        return FieldValue()  # tools that are called outside any run are not the work of an agent
    if run.root is None:
        for node in run.nodes:
            if isinstance(named := node.operation.extra.get(gen_ai.AGENT_NAME), str):
                return FieldValue(named, node, "the agent that a call names")
    for node in run.all_nodes:
        service = node.span.resource.get("service.name")
        if isinstance(service, str) and not service.startswith("unknown_service"):
            return FieldValue(service)
    return FieldValue()


def _agent_in_name(root: Node, agent_id: str | None) -> FieldValue | None:
    """Return the agent in the name of a span (GenAI conventions: `invoke_agent {name}`), None if it
    has none or only the agent's id."""
    before, _, name = root.span.name.partition(" ")
    if before != "invoke_agent" or name in ("", agent_id):
        return None
    return FieldValue(name, root, "the agent in the name of the span")


def _delegate(root: Node, name: str | None) -> FieldValue | None:
    """Return the agent to which the tool around a run delegates, if the run has the tool's name, as
    with Claude's SDK, or none."""
    if (parent := tool_around(root)) is None:
        return None
    tool, call = parent
    if not may_delegate(call.name) or name not in (None, call.name):
        return None
    target = delegate(call.name, plain(call.arguments))
    rule = "the agent to which the tool around the run delegates"
    return None if target is None else FieldValue(target, tool, rule)


_OF_ANSWERS = ("resp_", "chatcmpl-", "msg_")
"""Beginnings of the ids that OpenAI and Anthropic give to one answer."""


def _links_in(run: RunSpans) -> set[str]:
    """Return the ids that name one answer or one request, which are no sessions."""
    links = {node.span.trace_id for node in run.nodes}
    for node in run.nodes:
        if isinstance(node.operation, Inference) and node.operation.response_id is not None:
            links.add(node.operation.response_id)
    return links


def _session_id(run: RunSpans) -> str | None:
    """Return the session of a run: what its sender keeps equal over turns."""
    sessions = [item for item in _session_ids(run) if not item.startswith(_OF_ANSWERS)]
    links = _links_in(run) if sessions else set[str]()
    return next((item for item in sessions if item not in links), run.session)


def _session_ids(run: RunSpans) -> Iterator[str]:
    """Yield the conversations that a run may be part of, the surest first: the one that its own
    span names, or one around it; that of any of its spans; that of the spans around it."""
    if run.root is not None:
        if _names_conversation(run.root):
            yield run.root.operation.conversation_id or ""
        named = run.root.nearest(_is_run_or_names)
        if named is not None and not named.is_run:
            yield named.operation.conversation_id or ""
    nodes = run.all_nodes
    for node in nodes:
        if node.operation.conversation_id is not None:
            yield node.operation.conversation_id
    for node in nodes:
        for key in (agentool.SESSION_ID, "session.id"):
            if isinstance(session := node.span.attributes.get(key), str):
                yield session
    for node in nodes:
        if isinstance(session := node.span.resource.get("session.id"), str):
            yield session
    run_above = run.root.nearest(_is_run_or_in_session) if run.root is not None else None
    if run_above is not None and not run_above.is_run:
        yield _session_around(run_above) or ""


def _names_conversation(node: Node) -> bool:
    """Return whether a span has its own conversation id, rather than one implied by its SDK."""
    conversation = node.operation.conversation_id
    return conversation is not None and conversation == node.span.attributes.get(
        gen_ai.CONVERSATION_ID
    )


def _is_run_or_names(node: Node) -> bool:
    return node.is_run or _names_conversation(node)


def _session_around(node: Node) -> str | None:
    session = node.operation.conversation_id or node.span.attributes.get("session.id")
    return session if isinstance(session, str) else None


def _is_run_or_in_session(node: Node) -> bool:
    return node.is_run or _session_around(node) is not None


def _times(run: RunSpans) -> tuple[int | None, int | None]:
    if run.root is not None and not is_record(run.root):
        start_ns, end_ns = run.root.start_ns, run.root.end_ns
        if end_ns is not None and run.root.span.attributes.get(agentool.INCOMPLETE):
            # Whoever closed it did not know when it ended: not before what it did.
            end_ns = max(end_ns, run.root.lineage.cached(_last_ends)[run.root.span.span_id])
        return start_ns, end_ns
    nodes = run.all_nodes  # the log record of a prompt starts the run and has no duration
    starts = [node.start_ns for node in nodes if node.start_ns is not None]
    return min(starts, default=None), max(_ends(nodes), default=None)


def _last_ends(nodes: Sequence[Node]) -> dict[str, int]:
    """Return when the last span at or below each one of a trace ended, by its id; 0 where that is
    not known."""
    ends = {node.span.span_id: node.end_ns or 0 for node in nodes}
    waiting = [node for node in nodes if node.parent is None]
    for node in waiting:  # grows: those around come before those inside
        waiting += node.children
    for node in reversed(waiting):
        if node.parent is not None:
            above = node.parent.span.span_id
            ends[above] = max(ends[above], ends[node.span.span_id])
    return ends


def _ends(nodes: Iterable[Node]) -> list[int]:
    return [node.end_ns for node in nodes if node.end_ns is not None]


def _unfinished(run: RunSpans) -> bool:
    if run.root is None:
        return any(
            is_open(node) or _lost_parent(node) or node.span.attributes.get(agentool.INCOMPLETE)
            for node in run.nodes
        )
    if is_open(run.root) or _lost_parent(run.root):
        return True
    if any(map(is_adopted, run.root.children)):
        return True
    return bool(run.root.span.attributes.get(agentool.INCOMPLETE))


def _interruption(root: Node | None) -> str | None:
    """Return why a run stopped before its end without having failed, as its own span has it."""
    why = None if root is None else root.span.attributes.get(agentool.INTERRUPTED)
    return why if isinstance(why, str) else None


def _lost_parent(node: Node) -> bool:
    return node.parent is None and node.span.parent_id is not None
