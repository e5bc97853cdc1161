"""One run to one ReasoningTrace: the members around the steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from agentool_otel.dialects import LazyJson, match_dialect
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reconstruction import residue
from agentool_otel.reconstruction.cost import Prices, add_cost
from agentool_otel.reconstruction.failures import Failure, failure_of, notes_on
from agentool_otel.reconstruction.inputs_outputs import Found, input_of, output_of
from agentool_otel.reconstruction.judgements import Anchor, Judgement, anchor_of
from agentool_otel.reconstruction.labels import labels_of
from agentool_otel.reconstruction.report.content_marks import marks_in, shortened_on
from agentool_otel.reconstruction.report.fidelity import Fidelity, Note, Outcome
from agentool_otel.reconstruction.report.span_notes import (
    OF_COLLECTORS,
    cut_or_hidden,
    damaged,
    masked_on_the_way,
    may_hide,
    reading_of,
    repeated,
)
from agentool_otel.reconstruction.status import status_of
from agentool_otel.reconstruction.steps.builder import StepBuilder
from agentool_otel.reconstruction.steps.delegation import delegate, may_delegate, tool_around
from agentool_otel.reconstruction.steps.model_calls import leaf_inferences
from agentool_otel.reconstruction.steps.order import notes_of
from agentool_otel.reconstruction.tree import Node, is_adopted, is_record
from agentool_otel.reconstruction.values import json_or, number, plain, put, set_known
from agentool_otel.semconv import agentool, gen_ai

if TYPE_CHECKING:
    from agentool_otel.reconstruction.results import Verdicts

__all__ = ["Rebuilt", "RunSpans"]


class RunSpans:
    """The nodes of one run: its root, if it has one, and everything inside, in order of start."""

    __slots__ = ("copies", "judgements", "link", "nodes", "root", "trace_id")

    def __init__(self, trace_id: str, root: Node | None, nodes: list[Node]):
        self.trace_id = trace_id
        """The rebuilt trace's id."""
        self.root = root
        self.nodes = nodes
        self.link: dict[str, Any] = {}
        """What ties it to other traces, for its metadata."""
        self.copies = 0
        """Of spans of its OTel traces, left out because another copy says more; for the report."""
        self.judgements: list[Judgement] = []
        """What is said of it in its OTel trace; no part of it."""


class Rebuilt:
    """A rebuilt trace and, when asked for, the report on where each field came from."""

    __slots__ = (
        "_cost",
        "_document",
        "_fidelity",
        "_judgements",
        "_report",
        "_settled",
        "_spans",
        "_trace",
        "anchor",
    )

    def __init__(
        self,
        run: RunSpans,
        subtraces: dict[int, str],
        report: Callable[[], RunSpans],
        prices: Prices | None = None,
        spans: Sequence[SpanRecord] = (),
    ):
        """Rebuild a run.

        Args:
            run: its spans, linked; not kept.
            subtraces: the trace id of every run of the same OTel trace, by the id() of its node.
            report: makes the run's spans again, linked, for the fidelity report.
            prices: computes the cost that the spans do not say.
            spans: those that `report` links, which may be of other runs too.
        """
        self._report = report
        self._spans = spans
        self._fidelity: Fidelity | None = None
        self._trace: ReasoningTrace | None = None
        self._settled = False
        self._judgements = run.judgements
        self.anchor: Anchor | None = anchor_of(run.root, run.nodes)
        """The span that a judgement of the run is about; None where there is none."""
        self._document = _document(run, subtraces)
        self._cost = add_cost(run.nodes, self._document, prices) if prices is not None else []

    @property
    def document(self) -> dict[str, Any]:
        """The trace as a JSON object: what `trace.to_dict()` gives, without making the document."""
        if not self._settled:
            _settle(self._document["steps"])
            self._settled = True
        return self._document

    @property
    def trace(self) -> ReasoningTrace:
        """The trace; made from `document` when first asked for."""
        if self._trace is None:
            self._trace = ReasoningTrace.from_dict(self.document)
        return self._trace

    @property
    def fidelity(self) -> Fidelity:
        """The fidelity report; made when first asked for."""
        if self._fidelity is None:
            self._fidelity = _report(self._report(), self.document)
            self._fidelity.notes += self._cost
        return self._fidelity

    @property
    def results(self) -> list[EvalResult]:
        """The results of evaluations that are in the trace, in order of time; read when asked for.

        They are no part of what the run did: the trace is the same without them.
        """
        return self._verdicts().results

    @property
    def scores(self) -> list[AssertionResult]:
        """The other judgements in the trace, in order of time: feedback of people, scores of other
        evaluators. The type is the name of the score; a `label`, the `span_id` that is judged and
        `evaluated_at` stand beside the members of the spec."""
        return self._verdicts().scores

    def _verdicts(self) -> Verdicts:
        from agentool_otel.reconstruction.results import verdicts_in  # few traces are judged

        return verdicts_in(self._judgements)

    def may_hide(self) -> bool:
        """Whether the fidelity report could say that something was masked, cut or damaged in the
        spans. Made in a fraction of the time the report takes."""
        return any(map(may_hide, self._spans))

    def models(self) -> list[str]:
        """Return the names of the models that were called, the most often called first.

        Those that answered, or where a span does not say, those that were asked for. Links the
        spans of the run once more.
        """
        calls = leaf_inferences(self._report().nodes)
        operations = [it.operation for it in calls if isinstance(it.operation, Inference)]
        names = [it.response_model or it.request_model for it in operations]
        return [name for name, _ in Counter(name for name in names if name).most_common()]

    def to_json(self) -> str:
        """Return the trace as one line of JSON."""
        return self.to_bytes().decode()

    def to_bytes(self) -> bytes:
        """Return the trace as one line of JSON in UTF-8, as a file takes it.

        Payloads that nobody looked at are copied, and need not become text again for that.
        """
        try:
            line = orjson.dumps(self._document, default=_spliced)
            if b"\n" in line or b"\r" in line:  # a payload that was written on several lines
                line = orjson.dumps(self.document)
            return line
        except TypeError:  # what orjson has no form for: integers above 64 bits, deep nesting
            return dumps(self.document).encode()


def _spliced(value: Any) -> orjson.Fragment:
    """Put a payload nobody has parsed into the output as the text it came as."""
    if isinstance(value, LazyJson):
        return orjson.Fragment(value.text)
    raise TypeError


def _settle(steps: list[dict[str, Any]]) -> None:
    """Parse the payloads of steps, in place."""
    for step in steps:
        for body in (step.get("tool_call"), step.get("tool_result"), step):
            if isinstance(body, dict):
                for key, value in body.items():
                    if isinstance(value, LazyJson):
                        body[key] = value.value


def _document(run: RunSpans, subtraces: dict[int, str]) -> dict[str, Any]:
    root, nodes = run.root, run.nodes
    said = root.span.attributes if root is not None else {}
    inferences = leaf_inferences(nodes)
    made: dict[str, Any] = {"trace_id": run.trace_id}
    put(made, "agent_id", _agent_id(run).value)
    set_known(made, "session_id", _session_id(run))
    start_ns, end_ns = _times(run)
    if start_ns is not None:
        made["started_at"] = from_ns(start_ns)
    if end_ns is not None:
        made["finished_at"] = from_ns(end_ns)
    put(made, "input", input_of(root, nodes, inferences).value)
    put(made, "output", output_of(root, nodes, inferences).value)
    builder = StepBuilder(root, nodes, inferences)
    made["status"] = ""  # its place; the steps have a say in it
    made["steps"] = builder.build()
    status = status_of(root, nodes, inferences, made["steps"])
    made["status"] = status.value
    made["metrics"] = _metrics(said, nodes, inferences, made["steps"], start_ns, end_ns, root)
    metadata = json_or(said.get(agentool.METADATA), None)
    links = dict(run.link)
    children = [subtraces[id(node)] for node, _ in builder.subruns if id(node) in subtraces]
    if children:
        links["sub_traces"] = children
    if _unfinished(run):
        links["incomplete"] = True
    failure = failure_of(status, root, nodes, inferences)
    if failure is not None and not _has_error(metadata):
        links["error"] = failure.to_dict()
    told = metadata if isinstance(metadata, dict) else {}
    labels = {key: it for key, it in labels_of(root, nodes).items() if key not in told}
    if isinstance(metadata, dict) or labels or links:
        made["metadata"] = {**told, **labels, **links}
    return residue.apply(made, json_or(said.get(agentool.EXTRA), None))


def _has_error(metadata: Any) -> bool:
    """Whether the metadata of a run names an error: the user's own, or that of a replayed trace."""
    return isinstance(metadata, dict) and "error" in metadata


def _agent_id(run: RunSpans) -> Found:
    if run.root is not None:
        said = run.root.span.attributes.get(agentool.AGENT_ID)
        if isinstance(said, str):
            return Found(said)
        operation = run.root.operation
        if isinstance(operation, AgentInvocation):
            found = operation.agent_id or operation.agent_name
            if found is None or may_delegate(found):
                named = _delegate(run.root, found)
                if named is not None:
                    return named
        else:
            found = operation.workflow_name if isinstance(operation, WorkflowInvocation) else None
        if found is not None:
            return Found(found)
    for node in (run.root, *run.nodes) if run.root is not None else run.nodes:
        service = node.span.resource.get("service.name")
        if isinstance(service, str) and not service.startswith("unknown_service"):
            return Found(service)
    return Found()


def _delegate(root: Node, name: str | None) -> Found | None:
    """Return the agent whom the tool around a run gives the task to, where the run is called like
    the tool, as Claude's SDK does, or not at all."""
    if (around := tool_around(root)) is None:
        return None
    tool, call = around
    if not may_delegate(call.name) or name not in (None, call.name):
        return None
    target = delegate(call.name, plain(call.arguments))
    rule = "whom the tool around the run gives the task to"
    return None if target is None else Found(target, tool, rule)


def _session_id(run: RunSpans) -> str | None:
    """Return the conversation that the run's span or one around it names itself, else what the
    run's spans are read to be part of."""
    around = run.root
    while around is not None and (around is run.root or not around.is_run):
        said = around.operation.conversation_id
        if said is not None and around.span.attributes.get(gen_ai.CONVERSATION_ID) == said:
            return said
        around = around.parent
    for node in ([run.root] if run.root is not None else []) + run.nodes:
        if node.operation.conversation_id is not None:
            return node.operation.conversation_id
    for node in ([run.root] if run.root is not None else []) + run.nodes:
        for key in (agentool.SESSION_ID, "session.id"):
            value = node.span.attributes.get(key)
            if isinstance(value, str):
                return value
    for up in run.root.ancestors() if run.root is not None else ():
        if up.is_run:
            break
        said = up.operation.conversation_id or up.span.attributes.get("session.id")
        if isinstance(said, str):
            return said
    return None


def _times(run: RunSpans) -> tuple[int | None, int | None]:
    nodes = run.nodes
    if run.root is not None:
        if not is_record(run.root):
            return run.root.start_ns, run.root.end_ns
        nodes = [run.root, *nodes]  # a prompt begins the run and does not last
    starts = [node.start_ns for node in nodes if node.start_ns is not None]
    ends = [node.end_ns for node in nodes if node.end_ns is not None]
    return min(starts, default=None), max(ends, default=None)


def _unfinished(run: RunSpans) -> bool:
    if run.root is None:
        return any(node.end_ns is None or _lost_parent(node) for node in run.nodes)
    if run.root.end_ns is None or _lost_parent(run.root):
        return True
    if any(map(is_adopted, run.root.children)):
        return True
    return bool(run.root.span.attributes.get(agentool.INCOMPLETE))


def _metrics(
    said: dict[str, Any],
    nodes: list[Node],
    inferences: list[Node],
    steps: list[Any],
    start_ns: int | None,
    end_ns: int | None,
    root: Node | None,
) -> dict[str, Any]:
    """Totals of the run: from its leaves where they say anything, else from its roll-ups."""
    made: dict[str, Any] = {}
    leaves = _metered(nodes, inferences)
    tokens: int | float | None = _tokens(leaves)
    if tokens is None:
        tokens = number(said.get(agentool.METRICS_TOTAL_TOKENS))
    if tokens is None and root is not None and isinstance(root.operation, AgentInvocation):
        usage = root.operation.usage
        tokens = usage.total if usage is not None else None
    set_known(made, "total_tokens", tokens)
    cost = _sum([it.cost_usd for it in leaves])
    if cost is None:
        cost = number(said.get(agentool.METRICS_TOTAL_COST_USD))
    if cost is None and root is not None:  # no model call says its own
        cost = number(root.operation.extra.get(agentool.COST_USD))
    set_known(made, "total_cost_usd", cost)
    duration = number(said.get(agentool.METRICS_TOTAL_DURATION_MS))
    if duration is None and start_ns is not None and end_ns is not None:
        ns = end_ns - start_ns
        duration = ns // 1_000_000 if ns % 1_000_000 == 0 else ns / 1e6
    set_known(made, "total_duration_ms", duration)
    made["step_count"] = len(steps)
    made["tool_call_count"] = [step.get("type") for step in steps].count("tool_call")
    return made


def _tokens(operations: list[Inference | Embeddings]) -> int | None:
    found: int | None = _sum([usage.total for it in operations if (usage := it.usage) is not None])
    return found


def _sum(values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _report(run: RunSpans, document: dict[str, Any]) -> Fidelity:
    root, nodes = run.root, run.nodes
    everything = ([root] if root is not None else []) + nodes
    report = Fidelity(
        document["trace_id"],
        sorted({node.dialect for node in everything if node.dialect is not None}),
        len(everything),
        [reading_of(node) for node in everything],
    )
    root_id = root.span.span_id if root is not None else None
    inferences = leaf_inferences(nodes)
    builder = StepBuilder(root, nodes, inferences)
    drafts = builder.ordered()
    report.model_calls = len(inferences)
    if root is not None and not inferences and _answered_by_model(root, nodes):
        report.model_calls = 1
        why = "the run has a model's reason to stop, and no call inside: there was one at least"
        report.notes.append(Note("inferred", "model_calls", None, root_id, None, why))
    found = {
        "input": input_of(root, nodes, inferences),
        "output": output_of(root, nodes, inferences),
    }
    if (agent := _agent_id(run)).rule is not None:
        found["agent_id"] = agent
    for field in document:
        if field in ("steps", "trace_id", "status"):
            continue
        node, rule = root, None if root is not None else "the calls of the run"
        if field in found:
            node, rule = found[field].node, found[field].rule
        report.notes.append(
            Note("kept" if rule is None else "inferred", field, None, _span_id(node), None, rule)
        )
    for field in found:
        if field not in document:
            report.notes.append(Note("not_captured", field, None, root_id))
    report.notes += marks_in(document)
    report.notes += repeated(nodes, inferences)
    if run.copies:
        rule = f"{run.copies} more copies in the OTel trace: the most complete one of each counts"
        report.notes.append(Note("duplicate", "spans", None, None, None, rule))
    status = status_of(root, nodes, inferences, document["steps"])
    outcome: Outcome = "kept" if status.signal is None else "inferred"
    report.notes.append(
        Note(outcome, "status", None, _span_id(status.node), status.attribute, status.signal)
    )
    if _has_error(document.get("metadata")):
        report.notes += _notes_on_error(root, failure_of(status, root, nodes, inferences))
    report.notes += _usage_notes(root, nodes, inferences)
    report.notes += notes_of(drafts)
    for node in filter(is_adopted, nodes):
        rule = "its parent is missing: below the only root of its OTel trace"
        report.notes.append(Note("inferred", "parent", None, node.span.span_id, None, rule))
    for node in everything:
        tie = match_dialect(node.span).tie
        if tie is not None:
            report.ties.append(str(tie))
    report.notes += damaged(everything)
    for node in everything:
        report.notes += shortened_on(node)
        report.notes += cut_or_hidden(node)
        report.notes += masked_on_the_way(node)
        for key in node.operation.extra:
            if not key.startswith("agentool.") and key not in OF_COLLECTORS:
                report.unread[key] = report.unread.get(key, 0) + 1
    return report


def _notes_on_error(root: Node | None, failure: Failure | None) -> Iterable[Note]:
    """Return where the error in a trace's metadata came from."""
    said = root.span.attributes.get(agentool.METADATA) if root is not None else None
    if _has_error(json_or(said, None)):
        return [Note("kept", "metadata.error", None, _span_id(root), agentool.METADATA)]
    return notes_on(failure) if failure is not None else []


def _answered_by_model(root: Node, nodes: list[Node]) -> bool:
    """Whether the span of a run tells of a model's answer itself, and no run inside does."""
    operation = root.operation
    told = isinstance(operation, AgentInvocation) and operation.finish_reasons
    return bool(told) and not any(node.is_run for node in nodes)


def _lost_parent(node: Node) -> bool:
    return node.parent is None and node.span.parent_id is not None


def _span_id(node: Node | None) -> str | None:
    return node.span.span_id if node is not None else None


def _usage_notes(root: Node | None, nodes: list[Node], inferences: list[Node]) -> list[Note]:
    """Check the total of the leaves against the roll-ups around them; the leaves count."""
    leaves = _tokens(_metered(nodes, inferences))
    operation = root.operation if root is not None else None
    usage = operation.usage if isinstance(operation, AgentInvocation) else None
    rolled = usage.total if usage is not None else None
    if rolled is None:
        return []
    span_id = _span_id(root)
    if leaves is None:
        rule = "roll-up of the run: no model call says its own"
        return [Note("inferred", "metrics.total_tokens", None, span_id, None, rule)]
    if leaves != rolled:
        rule = f"the model calls add up to {leaves}, the run says {rolled}"
        return [Note("inferred", "metrics.total_tokens", None, span_id, None, rule)]
    return []


def _metered(nodes: list[Node], inferences: list[Node]) -> list[Inference | Embeddings]:
    """Return the operations whose tokens and cost add up to those of the run."""
    leaves: list[Inference | Embeddings] = []
    for node in inferences:
        if isinstance(node.operation, Inference):
            leaves.append(node.operation)
    for node in nodes:
        if type(node.operation) is Embeddings:
            leaves.append(node.operation)
    return leaves
