"""A rebuilt run: its ReasoningTrace, its fidelity report and the judgements of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from agentool_otel.dialects import LazyJson
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.reading.rebuild.cost import Prices, add_cost
from agentool_otel.reading.rebuild.evaluation_spans import Anchor, anchor_of
from agentool_otel.reading.rebuild.frameworks import framework_of
from agentool_otel.reading.rebuild.report.fidelity import Fidelity
from agentool_otel.reading.rebuild.report.gaps import everything_in, gaps_of, with_hidden
from agentool_otel.reading.rebuild.report.span_notes import may_hide
from agentool_otel.reading.rebuild.report.trace_report import report_on
from agentool_otel.reading.rebuild.run_spans import RunSpans
from agentool_otel.reading.rebuild.steps.model_calls import leaf_inferences
from agentool_otel.reading.rebuild.trace_fields import document_of
from agentool_otel.reading.rebuild.tree import Node, is_guessed
from agentool_otel.semconv import agentool

if TYPE_CHECKING:
    from agentool_otel.reading.rebuild.result_spans import Verdicts

__all__ = ["Batch", "Rebuilt"]


class Batch:
    """The runs that are rebuilt from the same spans, known by identity.

    Args:
        size: the number of runs.
    """

    __slots__ = ("size",)

    def __init__(self, size: int):
        self.size = size


class Rebuilt:
    """A rebuilt trace and, on demand, the report on the origin of each field."""

    __slots__ = (
        "_cost",
        "_document",
        "_fidelity",
        "_judgements",
        "_may_hide",
        "_models",
        "_relink",
        "_settled",
        "_trace",
        "anchor",
        "batch",
        "guessed",
        "is_inferred",
    )

    def __init__(
        self,
        run: RunSpans,
        subtraces: dict[Node, str],
        relink: Callable[[], RunSpans],
        prices: Prices | None = None,
        batch: Batch | None = None,
    ):
        """Rebuild a run.

        Args:
            run: its spans, linked; not kept.
            subtraces: the trace id of every run of the same OTel trace, by its node.
            relink: links the run's spans once more, for the fidelity report.
            prices: computes the cost that the spans do not have.
            batch: the runs that are rebuilt together with it; None if it is rebuilt alone.
        """
        self._relink = relink
        self._fidelity: Fidelity | None = None
        self._trace: ReasoningTrace | None = None
        self._settled = False
        self._judgements = run.judgements
        self.batch = batch or Batch(1)
        """The runs of the same spans, among which the runs around it and inside it are."""
        self.anchor: Anchor | None = anchor_of(run.root, run.nodes)
        """The span that a judgement of the run is about; None if there is none."""
        self._document = document_of(run, subtraces)
        self._models = [*filter(None, map(_model_of, run.inferences))]
        self.is_inferred = run.root is not None and _inferred(run.root) == "run"
        """Whether the run is a plain loop around a client, which no span of its own reports."""
        self.guessed = sum(map(is_guessed, run.all_nodes))
        """Number of spans of no known vocabulary, read by the names of their attributes alone."""
        self._may_hide = any(may_hide(node.span) for node in run.all_nodes)
        if self._may_hide:
            self._add_hidden(run)
        self._cost = add_cost(run.nodes, self._document, prices) if prices is not None else []

    def _add_hidden(self, run: RunSpans) -> None:
        """Note missing data of its spans in the document."""
        try:
            gaps = gaps_of(report_on(run, self._document))
        except Exception:  # the trace is good without its report, but nothing of it counts as whole
            gaps = everything_in(self._document)
        metadata = with_hidden(self._document.get("metadata"), gaps)
        if metadata is not None:
            self._document["metadata"] = metadata

    @property
    def trace_id(self) -> str:
        """The id of the trace."""
        trace_id: str = self._document["trace_id"]
        return trace_id

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
            self._fidelity = report_on(self._relink(), self.document)
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
        from agentool_otel.reading.rebuild.result_spans import verdicts_in  # few traces are judged

        return verdicts_in(self._judgements)

    def may_hide(self) -> bool:
        """Return whether the fidelity report could note a masked, cut or damaged value in the
        spans."""
        return self._may_hide

    def models(self) -> list[str]:
        """Return the names of the models that were called, the most often called first.

        The name is that of the response, else that of the request.
        """
        return [name for name, _ in Counter(self._models).most_common()]

    def calls(self) -> list[Node]:
        """Return the model calls, each once, in order of start. Links the spans of the run once
        more.
        """
        return leaf_inferences(self._relink().nodes)

    def calls_of_unknown_length(self) -> set[str]:
        """Return the ids of the tool calls whose times are those of the messages around them: none
        lasted longer. Links the spans of the run once more.
        """
        operations = (node.operation for node in self._relink().nodes if _inferred(node) == "times")
        return {
            operation.call_id
            for operation in operations
            if isinstance(operation, ToolExecution) and operation.call_id is not None
        }

    def span_ids(self) -> set[tuple[str, str]]:
        """Return the trace id and span id of each of its spans as they were recorded, without those
        of the runs inside it. Links the spans of the run once more.
        """
        return {(node.span.trace_id, node.span.span_id) for node in self._relink().all_nodes}

    def framework(self) -> str | None:
        """Return the framework it was made in; None if the spans do not show it. Links the spans of
        the run once more.
        """
        return framework_of(self._relink().all_nodes)

    def __repr__(self) -> str:
        return f"<Rebuilt {self.trace}>"

    def _repr_html_(self) -> str | None:
        return self.trace._repr_html_()

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


def _inferred(node: Node) -> object:
    return node.span.attributes.get(agentool.INFERRED)


def _model_of(call: Node) -> str | None:
    operation = call.operation
    if not isinstance(operation, Inference):
        return None
    return operation.response_model or operation.request_model


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
