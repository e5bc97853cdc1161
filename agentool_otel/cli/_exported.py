"""What `export` writes: the spans of documents and of recordings, one trace after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from agentool_otel.cli._output import Reading
from agentool_otel.cli._text import known
from agentool_otel.dialects import writing_dialect
from agentool_otel.export.readable import Readable
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reconstruction.conversion import converted
from agentool_otel.reconstruction.runs import trace_ids_of
from agentool_otel.reconstruction.tree import has_summed_usage
from agentool_otel.replaying import replay
from agentool_otel.semconv import gen_ai
from agentool_otel.sources.contents import Contents
from agentool_otel.sources.files.streams import SpanFile
from agentool_otel.sources.grouping.by_trace import whole
from agentool_otel.sources.opening import open_spans
from agentool_otel.sources.source import files_of

__all__ = ["Exported"]

_UNSET = SpanLimits.UNSET
_NO_LIMITS = SpanLimits(_UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET)
_OF_THE_SDK = "telemetry.sdk."
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

    @property
    def files(self) -> Sequence[SpanFile]:
        """The files and streams that are read."""
        return files_of(self._source)

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems so far."""
        return self._source.problems

    def traces(self) -> Iterator[list[ReadableSpan]]:
        """Yield the spans of one trace after another. Memory holds one trace, or what grouping
        takes.

        Raises:
            AgentoolError: as reading them does.
        """
        contents = Contents(self._source)
        readable = Readable()
        with Reading(self._source, bar=self._bar) as reading:
            for trace in contents.leading():
                yield self._replayed(trace)
            for spans in map(whole, reading.groups(contents)):
                new = [contents.is_new(trace_id) for trace_id in trace_ids_of(spans)]
                if all(new) and spans:
                    if not self._agent_usage:
                        spans = [*map(_without_sums, spans)]
                    yield [readable(converted(span, self._dialect)) for span in spans]
        for trace in contents.documents():
            yield self._replayed(trace)

    def _replayed(self, trace: ReasoningTrace) -> list[ReadableSpan]:
        """Return the spans of a trace, complete whatever the environment says about limits."""
        kept = _Kept()
        provider = TracerProvider(
            ALWAYS_ON, _resource_of(trace), shutdown_on_exit=False, span_limits=_NO_LIMITS
        )
        provider.add_span_processor(kept)
        replay(trace, provider, dialect=self._dialect.name)
        return kept.spans


def _without_sums(span: SpanRecord) -> SpanRecord:
    """Return a span without the tokens that a run of ours sums up of the model calls below."""
    if not has_summed_usage(span):
        return span
    kept = {key: value for key, value in span.attributes.items() if key not in _SUMS}
    return replace(span, attributes=kept)


def _resource_of(trace: ReasoningTrace) -> Resource:
    """Return the resource of a live program that is named after the trace's agent."""
    of_the_sdk = {
        name: value
        for name, value in Resource.create().attributes.items()
        if name.startswith(_OF_THE_SDK)
    }
    service = known(trace.agent_id)
    return Resource({**of_the_sdk, "service.name": service} if service else of_the_sdk)


class _Kept(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)
