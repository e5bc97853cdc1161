"""Output of `export`: the spans of documents and recordings, trace by trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from msgspec.structs import replace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from agentool_otel.cli._reading import Reading
from agentool_otel.cli._text import or_none
from agentool_otel.dialects import writing_dialect
from agentool_otel.errors import DecodeError
from agentool_otel.evaluation.write_back import Written, spans_and_events
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Document, EvalResult, ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.span_ids import place_of
from agentool_otel.model.spans import SpanRecord, is_fragment
from agentool_otel.model.spec_documents import document_class
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.reading.rebuild.conversion import converted
from agentool_otel.reading.rebuild.declared import declaration
from agentool_otel.reading.rebuild.evaluation_spans import Anchor
from agentool_otel.reading.rebuild.runs import trace_ids_of
from agentool_otel.reading.rebuild.tree import Node, has_summed_usage
from agentool_otel.reading.sources.contents import Contents
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.files.streams import SpanFile
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.grouping.by_trace import complete_spans
from agentool_otel.reading.sources.offloaded import put_back
from agentool_otel.reading.sources.opening import open_spans
from agentool_otel.reading.sources.source import inputs_of
from agentool_otel.replaying import replay
from agentool_otel.semconv import core, gen_ai
from agentool_otel.tracing.export.readable_spans import Readable

__all__ = ["Exported", "records_of"]

_UNSET = SpanLimits.UNSET
_NO_LIMITS = SpanLimits(_UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET)
_OF_THE_SDK = "telemetry.sdk."
_ANCHORS = 100_000
"""Traces whose place is kept for results that come later."""
_SUMS = frozenset({gen_ai.USAGE_INPUT_TOKENS, gen_ai.USAGE_OUTPUT_TOKENS})


class Exported:
    """The spans of some places in one vocabulary.

    Args:
        places: files and folders of documents, of recordings or of both, or URLs.
        dialect: the vocabulary.
        bar: whether reading recordings may show how far it is.
        agent_usage: whether agents keep the tokens of the model calls below, which receivers may
            add to those of the model calls.

    Raises:
        ConfigurationError: there is no such vocabulary.
        SourceError: a place cannot be read, or there is nothing in it.
    """

    def __init__(self, places: Sequence[str], dialect: str, bar: bool, agent_usage: bool = True):
        self._dialect = writing_dialect(dialect)
        self._agent_usage = agent_usage
        self._bar = bar
        self._source = open_spans(places)
        self._source.other = self._take
        self._results: list[EvalResult] = []
        self._declared: list[Document] = []
        self.services: set[str] = set()
        """Names of the services that the spans so far are of."""
        self._anchors: dict[str, Anchor] = {}
        """Of the documents that came last, by the ids of their traces."""

    @property
    def files(self) -> Sequence[SpanFile]:
        """The files, streams and folders that are read."""
        return inputs_of(self._source)

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems so far."""
        return self._source.problems

    def traces(self) -> Iterator[list[ReadableSpan]]:
        """Yield the spans of one trace after another. Memory holds one trace, or the grouping's
        budget.

        Raises:
            AgentoolError: as reading them does.
        """
        contents = Contents(self._source)
        readable = Readable()
        with Reading(self._source, bar=self._bar) as reading:
            groups = filter(None, map(complete_spans, reading.groups(contents)))
            for item in contents.merged(groups, trace_ids_of):
                if isinstance(item, ReasoningTrace):
                    self._note_service(or_none(item.agent_id))
                    yield self._spans_of(item)
                    continue
                self._note_recorded(item)
                self._note_service(item[0].resource.get(core.SERVICE_NAME))
                spans = item if self._agent_usage else [*map(_without_sums, item)]
                yield [readable(converted(span, self._dialect)) for span in spans]

    def recorded(self) -> Iterator[list[SpanRecord]]:
        """Yield the spans of one trace after another as they were recorded, copies included, with
        the texts that were stored apart from them. Those of documents are in the dialect.

        Raises:
            AgentoolError: as reading them does.
        """
        contents = Contents(self._source)
        with Reading(self._source, bar=self._bar) as reading:
            groups = filter(None, map(_decoded, reading.groups(contents)))
            for item in contents.merged(groups, trace_ids_of):
                if isinstance(item, ReasoningTrace):
                    yield records_of(encode_spans(self._spans_of(item)))
                    continue
                self._note_recorded(item)
                put_back(item)
                yield item

    def _take(self, value: Any) -> None:
        """Keep a document that is no trace until the traces are written."""
        cls = document_class(value)
        if cls is None:
            return
        try:
            document = decode(cls, value)
        except DecodeError as error:
            self._source.problems.append(Problem(self._source.name, f"{cls.__name__}: {error}"))
            return
        if isinstance(document, EvalResult) and isinstance(document.trace_id, str):
            self._results.append(document)
        else:
            self._declared.append(document)

    def other_documents(self) -> Iterator[Written]:
        """Yield the spans and events of the documents that are no traces, when all traces have been
        taken: results in the traces that they name, and each other document in one of its own."""
        resource = _resource(None)
        for result in self._results:
            place = place_of(str(result.trace_id))
            anchor = self._anchors.get(str(result.trace_id))
            anchor = anchor or Anchor(place.trace_id, place.span_id, None)
            output = spans_and_events(result, anchor, resource, content=True)
            yield output._replace(spans=[converted(span, self._dialect) for span in output.spans])
        for document in self._declared:
            yield Written([declaration(document, dict(resource.attributes))], [])

    def _spans_of(self, trace: ReasoningTrace) -> list[ReadableSpan]:
        """Return the spans of a trace, without the limits of the environment."""
        collected = _Kept()
        provider = TracerProvider(
            ALWAYS_ON, _resource_of(trace), shutdown_on_exit=False, span_limits=_NO_LIMITS
        )
        provider.add_span_processor(collected)
        replay(trace, provider, dialect=self._dialect.name)
        self._note_replayed(trace, collected.spans)
        return collected.spans

    def _note_service(self, name: object) -> None:
        if isinstance(name, str) and name:
            self.services.add(name)

    def _note_replayed(self, trace: ReasoningTrace, spans: list[ReadableSpan]) -> None:
        root = next((span for span in spans if span.parent is None), None)
        if root is not None and root.context is not None:
            ids = f"{root.context.trace_id:032x}", f"{root.context.span_id:016x}"
            self._note(trace.trace_id, Anchor(*ids, root.end_time))

    def _note_recorded(self, spans: Sequence[SpanRecord]) -> None:
        """Keep the place of a recorded trace that is one run with a span of its own. Of others a
        result names the run itself, by trace and span id."""
        roots = [span for span in spans if not span.parent_id and not is_fragment(span)]
        if len(roots) == 1 and Node(roots[0]).is_run:
            for trace_id in trace_ids_of(roots):
                self._note(trace_id, Anchor(roots[0].trace_id, roots[0].span_id, roots[0].end_ns))

    def _note(self, trace_id: str, anchor: Anchor) -> None:
        """Keep the place of a trace for results that name it."""
        if len(self._anchors) >= _ANCHORS:
            self._anchors.pop(next(iter(self._anchors)))
        self._anchors[trace_id] = anchor


def records_of(lines: bytes) -> list[SpanRecord]:
    """Return the spans in lines of OTLP/JSON."""
    return list(SpanFiles([BytesIO(lines)]).spans())


def _decoded(group: Sequence[SpanRecord | UndecodedSpan]) -> list[SpanRecord]:
    spans = (span.decode() if isinstance(span, UndecodedSpan) else span for span in group)
    return [span for span in spans if span is not None]


def _without_sums(span: SpanRecord) -> SpanRecord:
    """Remove the token counts that one of our agent spans sums up from the model calls below it."""
    if not has_summed_usage(span):
        return span
    attributes = {key: value for key, value in span.attributes.items() if key not in _SUMS}
    return replace(span, attributes=attributes)


def _resource_of(trace: ReasoningTrace) -> Resource:
    """Return the resource of a live program that is named after the trace's agent."""
    return _resource(or_none(trace.agent_id))


def _resource(service: str | None) -> Resource:
    of_the_sdk = {
        name: value
        for name, value in Resource.create().attributes.items()
        if name.startswith(_OF_THE_SDK)
    }
    return Resource({**of_the_sdk, "service.name": service} if service else of_the_sdk)


class _Kept(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)
