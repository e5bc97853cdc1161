"""One run to one ReasoningTrace: the members around the steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import orjson

from agentool_otel.dialects import LazyJson, match_dialect
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reconstruction import residue
from agentool_otel.reconstruction.cost import Prices, add_cost
from agentool_otel.reconstruction.failures import Failure, failure_of, notes_on
from agentool_otel.reconstruction.inputs_outputs import FieldValue, input_of, output_of
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
from agentool_otel.reconstruction.status import Status, status_of
from agentool_otel.reconstruction.steps.builder import StepBuilder
from agentool_otel.reconstruction.steps.delegation import delegate, may_delegate, tool_around
from agentool_otel.reconstruction.steps.model_calls import leaf_inferences
from agentool_otel.reconstruction.steps.order import notes_of
from agentool_otel.reconstruction.tree import Node, is_adopted, is_record
from agentool_otel.reconstruction.values import json_or, millis, number, plain, put, set_known
from agentool_otel.reconstruction.wrappers import run_name
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
        """References to other traces, for its metadata."""
        self.copies = 0
        """How many less complete copies of spans its OTel traces had; for the report."""
        self.judgements: list[Judgement] = []
        """The judgements of it in its OTel trace; not part of it."""


class Rebuilt:
    """A rebuilt trace and, when asked for, the report on where each field came from."""

    __slots__ = (
        "_cost",
        "_document",
        "_fidelity",
        "_judgements",
        "_relink",
        "_settled",
        "_spans",
        "_trace",
        "anchor",
    )

    def __init__(
        self,
        run: RunSpans,
        subtraces: dict[Node, str],
        relink: Callable[[], RunSpans],
        prices: Prices | None = None,
        spans: Sequence[SpanRecord] = (),
    ):
        """Rebuild a run.

        Args:
            run: its spans, linked; not kept.
            subtraces: the trace id of every run of the same OTel trace, by its node.
            relink: links the run's spans once more, for the fidelity report.
            prices: computes the cost that the spans do not have.
            spans: those that `relink` links, which may be of other runs too.
        """
        self._relink = relink
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
        """The trace as a JSON object, equal to `trace.to_dict()` without building the document."""
        if not self._settled:
            _settle(self._document["steps"])
            self._settled = True
        return self._document

    @property
    def trace(self) -> ReasoningTrace:
        """The trace; built from `document` on first use."""
        if self._trace is None:
            self._trace = ReasoningTrace.from_dict(self.document)
        return self._trace

    @property
    def fidelity(self) -> Fidelity:
        """The fidelity report; built on first use."""
        if self._fidelity is None:
            self._fidelity = _report(self._relink(), self.document)
            self._fidelity.notes += self._cost
        return self._fidelity

    @property
    def results(self) -> list[EvalResult]:
        """The results of evaluations in the OTel trace, in order of time; read on each use.

        They are not part of what the run did: the trace is the same without them.
        """
        return self._verdicts().results

    @property
    def scores(self) -> list[AssertionResult]:
        """The other judgements in the OTel trace, in order of time: feedback of people, scores of
        other evaluators. The type is the name of the score; beside the members of the spec there
        are a `label`, the `span_id` that is judged and `evaluated_at`."""
        return self._verdicts().scores

    def _verdicts(self) -> Verdicts:
        from agentool_otel.reconstruction.results import verdicts_in  # few traces are judged

        return verdicts_in(self._judgements)

    def may_hide(self) -> bool:
        """Whether the fidelity report could note a masked, cut or damaged value in the spans. Takes
        a fraction of the report's time."""
        return any(map(may_hide, self._spans))

    def models(self) -> list[str]:
        """Return the names of the models that were called, the most often called first.

        The name is that of the response, else that of the request. Links the spans of the run once
        more.
        """
        calls = leaf_inferences(self._relink().nodes)
        operations = [it.operation for it in calls if isinstance(it.operation, Inference)]
        names = [it.response_model or it.request_model for it in operations]
        return [name for name, _ in Counter(name for name in names if name).most_common()]

    def to_json(self) -> str:
        """Return the trace as one line of JSON."""
        return self.to_bytes().decode()

    def to_bytes(self) -> bytes:
        """Return the trace as one line of JSON in UTF-8, ready for a file.

        Payloads that were never parsed are copied as they came.
        """
        try:
            line = orjson.dumps(self._document, default=_spliced)
            if b"\n" in line or b"\r" in line:  # a payload that was written on several lines
                line = orjson.dumps(self.document)
            return line
        except TypeError:  # what orjson cannot write: integers above 64 bits, deep nesting
            return dumps(self.document).encode()


def _spliced(value: Any) -> orjson.Fragment:
    """Copy the text of a payload that was never parsed into the output."""
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


def _document(run: RunSpans, subtraces: dict[Node, str]) -> dict[str, Any]:
    root, nodes = run.root, run.nodes
    attributes = root.span.attributes if root is not None else {}
    inferences = leaf_inferences(nodes)
    document: dict[str, Any] = {"trace_id": run.trace_id}
    put(document, "agent_id", _agent_id(run).value)
    set_known(document, "session_id", _session_id(run))
    start_ns, end_ns = _times(run)
    if start_ns is not None:
        document["started_at"] = from_ns(start_ns)
    if end_ns is not None:
        document["finished_at"] = from_ns(end_ns)
    put(document, "input", input_of(root, nodes, inferences).value)
    put(document, "output", output_of(root, nodes, inferences).value)
    builder = StepBuilder(root, nodes, inferences)
    document["status"] = ""  # its place; it depends on the steps
    steps = document["steps"] = builder.build()
    status = status_of(root, nodes, inferences, steps)
    document["status"] = status.value
    document["metrics"] = _metrics(attributes, nodes, inferences, steps, start_ns, end_ns, root)
    links = dict(run.link)
    children = [subtraces[node] for node, _ in builder.subruns if node in subtraces]
    if children:
        links["sub_traces"] = children
    if _unfinished(run):
        links["incomplete"] = True
    failure = failure_of(status, root, nodes, inferences)
    metadata = json_or(attributes.get(agentool.METADATA), None)
    if failure is not None and not _has_error(metadata):
        links["error"] = failure.to_dict()
    own = metadata if isinstance(metadata, dict) else {}
    labels = {key: label for key, label in labels_of(root, nodes).items() if key not in own}
    if isinstance(metadata, dict) or labels or links:
        document["metadata"] = {**own, **labels, **links}
    return residue.apply(document, json_or(attributes.get(agentool.EXTRA), None))


def _has_error(metadata: Any) -> bool:
    """Whether the metadata of a run names an error: the user's own, or that of a replayed trace."""
    return isinstance(metadata, dict) and "error" in metadata


def _agent_id(run: RunSpans) -> FieldValue:
    if run.root is not None:
        agent_id = run.root.span.attributes.get(agentool.AGENT_ID)
        if isinstance(agent_id, str):
            return FieldValue(agent_id)
        operation, name = run.root.operation, run_name(run.root)
        if isinstance(operation, AgentInvocation):
            name = operation.agent_id or name
            if name is None or may_delegate(name):
                delegated = _delegate(run.root, name)
                if delegated is not None:
                    return delegated
        if name is not None:
            return FieldValue(name)
    for node in _with_root(run):
        service = node.span.resource.get("service.name")
        if isinstance(service, str) and not service.startswith("unknown_service"):
            return FieldValue(service)
    return FieldValue()


def _delegate(root: Node, name: str | None) -> FieldValue | None:
    """Return the agent to which the tool around a run delegates, if the run has the tool's name, as
    with Claude's SDK, or none."""
    if (around := tool_around(root)) is None:
        return None
    tool, call = around
    if not may_delegate(call.name) or name not in (None, call.name):
        return None
    target = delegate(call.name, plain(call.arguments))
    rule = "the agent to which the tool around the run delegates"
    return None if target is None else FieldValue(target, tool, rule)


def _session_id(run: RunSpans) -> str | None:
    return next(_session_ids(run), None)


def _session_ids(run: RunSpans) -> Iterator[str]:
    """Yield the conversations that a run may be part of, the surest first: the one that its own
    span names, or one around it; that of any of its spans; that of the spans around it."""
    around: list[Node] = []
    if run.root is not None:
        around = list(takewhile(lambda up: not up.is_run, run.root.ancestors()))
        for node in (run.root, *around):
            conversation = node.operation.conversation_id
            named = node.span.attributes.get(gen_ai.CONVERSATION_ID)
            if conversation is not None and conversation == named:
                yield conversation
    nodes = _with_root(run)
    for node in nodes:
        if node.operation.conversation_id is not None:
            yield node.operation.conversation_id
    for node in nodes:
        for key in (agentool.SESSION_ID, "session.id"):
            if isinstance(session := node.span.attributes.get(key), str):
                yield session
    for node in around:
        session = node.operation.conversation_id or node.span.attributes.get("session.id")
        if isinstance(session, str):
            yield session


def _with_root(run: RunSpans) -> list[Node]:
    return run.nodes if run.root is None else [run.root, *run.nodes]


def _times(run: RunSpans) -> tuple[int | None, int | None]:
    if run.root is not None and not is_record(run.root):
        return run.root.start_ns, run.root.end_ns
    nodes = _with_root(run)  # the log record of a prompt starts the run and has no duration
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
    attributes: dict[str, Any],
    nodes: list[Node],
    inferences: list[Node],
    steps: list[Any],
    start_ns: int | None,
    end_ns: int | None,
    root: Node | None,
) -> dict[str, Any]:
    """Return the totals of a run: the sums of its leaves where known, else its own roll-ups."""
    leaves = _metered(nodes, inferences)
    tokens: int | float | None = _tokens(leaves)
    if tokens is None:
        tokens = number(attributes.get(agentool.METRICS_TOTAL_TOKENS))
    if tokens is None:
        tokens = _rolled_up_tokens(root)
    cost = _sum([it.cost_usd for it in leaves])
    if cost is None:
        cost = number(attributes.get(agentool.METRICS_TOTAL_COST_USD))
    if cost is None and root is not None:
        cost = number(root.operation.extra.get(agentool.COST_USD))
    duration = number(attributes.get(agentool.METRICS_TOTAL_DURATION_MS))
    if duration is None and start_ns is not None and end_ns is not None:
        duration = millis(end_ns - start_ns)
    metrics: dict[str, Any] = {}
    set_known(metrics, "total_tokens", tokens)
    set_known(metrics, "total_cost_usd", cost)
    set_known(metrics, "total_duration_ms", duration)
    metrics["step_count"] = len(steps)
    metrics["tool_call_count"] = [step.get("type") for step in steps].count("tool_call")
    return metrics


def _tokens(operations: list[Inference | Embeddings]) -> int | None:
    total: int | None = _sum([usage.total for it in operations if (usage := it.usage) is not None])
    return total


def _rolled_up_tokens(root: Node | None) -> int | None:
    """Return the total that the span of a run has itself."""
    operation = root.operation if root is not None else None
    usage = operation.usage if isinstance(operation, AgentInvocation) else None
    return usage.total if usage is not None else None


def _sum(values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _report(run: RunSpans, document: dict[str, Any]) -> Fidelity:
    root, nodes, everything = run.root, run.nodes, _with_root(run)
    inferences = leaf_inferences(nodes)
    steps = StepBuilder(root, nodes, inferences).ordered()
    status = status_of(root, nodes, inferences, document["steps"])
    report = Fidelity(
        document["trace_id"],
        sorted({node.dialect for node in everything if node.dialect is not None}),
        len(everything),
        [reading_of(node) for node in everything],
        len(inferences),
        unread=dict(Counter(key for node in everything for key in _unread_keys(node))),
        ties=[str(tie) for node in everything if (tie := match_dialect(node.span).tie) is not None],
    )
    notes = report.notes
    if root is not None and not inferences and _answered_by_model(root, nodes):
        report.model_calls = 1
        rule = "the run has a model's finish reason and no call inside: there was at least one"
        notes.append(Note("inferred", "model_calls", None, _span_id(root), None, rule))
    notes += _member_notes(run, document, inferences)
    notes += marks_in(document)
    notes += repeated(nodes, inferences)
    if run.copies:
        rule = f"{run.copies} more copies in the OTel trace: the most complete one of each counts"
        notes.append(Note("duplicate", "spans", None, None, None, rule))
    notes.append(_status_note(status))
    if _has_error(document.get("metadata")):
        notes += _error_notes(root, failure_of(status, root, nodes, inferences))
    notes += _usage_notes(root, nodes, inferences)
    notes += notes_of(steps)
    for node in filter(is_adopted, nodes):
        rule = "its parent is missing: below the only root of its OTel trace"
        notes.append(Note("inferred", "parent", None, _span_id(node), None, rule))
    notes += damaged(everything)
    for node in everything:
        notes += shortened_on(node)
        notes += cut_or_hidden(node)
        notes += masked_on_the_way(node)
    return report


def _unread_keys(node: Node) -> Iterator[str]:
    for key in node.operation.extra:
        if not key.startswith("agentool.") and key not in OF_COLLECTORS:
            yield key


def _member_notes(
    run: RunSpans, document: dict[str, Any], inferences: list[Node]
) -> Iterator[Note]:
    """Yield where the members of a trace came from, except its steps and its status."""
    root = run.root
    values = {
        "input": input_of(root, run.nodes, inferences),
        "output": output_of(root, run.nodes, inferences),
    }
    if (agent := _agent_id(run)).rule is not None:
        values["agent_id"] = agent
    of_run = FieldValue(None, root, None if root is not None else "the calls of the run")
    for field in document:
        if field not in ("steps", "trace_id", "status"):
            value = values.get(field, of_run)
            outcome: Outcome = "kept" if value.rule is None else "inferred"
            yield Note(outcome, field, None, _span_id(value.node), None, value.rule)
    for field in values:
        if field not in document:
            yield Note("not_captured", field, None, _span_id(root))


def _status_note(status: Status) -> Note:
    outcome: Outcome = "kept" if status.signal is None else "inferred"
    node, attribute = status.node, status.attribute
    return Note(outcome, "status", None, _span_id(node), attribute, status.signal)


def _error_notes(root: Node | None, failure: Failure | None) -> Iterable[Note]:
    """Return where the error in a trace's metadata came from."""
    metadata = root.span.attributes.get(agentool.METADATA) if root is not None else None
    if _has_error(json_or(metadata, None)):
        return [Note("kept", "metadata.error", None, _span_id(root), agentool.METADATA)]
    return notes_on(failure) if failure is not None else []


def _answered_by_model(root: Node, nodes: list[Node]) -> bool:
    """Whether the span of a run has a model's finish reason, and no run inside explains it."""
    operation = root.operation
    answered = isinstance(operation, AgentInvocation) and bool(operation.finish_reasons)
    return answered and not any(node.is_run for node in nodes)


def _lost_parent(node: Node) -> bool:
    return node.parent is None and node.span.parent_id is not None


def _span_id(node: Node | None) -> str | None:
    return node.span.span_id if node is not None else None


def _usage_notes(root: Node | None, nodes: list[Node], inferences: list[Node]) -> list[Note]:
    """Compare the total of the leaves, which counts, with the roll-up of the run."""
    leaves, rolled_up = _tokens(_metered(nodes, inferences)), _rolled_up_tokens(root)
    if rolled_up is None or leaves == rolled_up:
        return []
    rule = f"the model calls add up to {leaves}, the run's own total is {rolled_up}"
    if leaves is None:
        rule = "roll-up of the run: no model call has its tokens"
    return [Note("inferred", "metrics.total_tokens", None, _span_id(root), None, rule)]


def _metered(nodes: list[Node], inferences: list[Node]) -> list[Inference | Embeddings]:
    """Return the operations whose tokens and cost add up to those of the run."""
    leaves: list[Inference | Embeddings] = []
    leaves += [it.operation for it in inferences if isinstance(it.operation, Inference)]
    leaves += [it.operation for it in nodes if type(it.operation) is Embeddings]
    return leaves
