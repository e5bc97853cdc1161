"""`export`: ReasoningTrace documents to spans, in a file or at an OTLP endpoint."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path

import click
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from agentool_otel.cli import _text
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._output import collected, report, say
from agentool_otel.cli._reading import TraceFiles, paths
from agentool_otel.cli._text import known
from agentool_otel.dialects import writing_dialect
from agentool_otel.emit.content import Policy
from agentool_otel.emit.session import copies_wanted
from agentool_otel.errors import ConfigurationError
from agentool_otel.export._otlp_json import encode_spans
from agentool_otel.export.copies import without_copies
from agentool_otel.export.masking import Masking
from agentool_otel.export.otlp import OtlpExporter, OtlpTarget
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.rebuild.replay import replay

__all__ = ["command"]

_BASELINE = "gen_ai"
_BATCH = 512
_UNSET = SpanLimits.UNSET
_NO_LIMITS = SpanLimits(_UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET)


@click.command()
@click.argument("traces", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File for the spans."
)
@click.option("--endpoint", help="OTLP endpoint: http://host:4318 or grpc://host:4317.")
@click.option(
    "--dialect",
    default=_BASELINE,
    metavar="NAME",
    help="Vocabulary of the spans: gen_ai (default), openinference or traceloop.",
)
@click.option("--exact", is_flag=True, help="Send credentials to the endpoint as they are.")
def command(
    traces: tuple[str, ...], output: Path | None, endpoint: str | None, dialect: str, exact: bool
) -> int:
    """Turn ReasoningTrace documents into spans with their original times.

    TRACES are files of JSON or JSON Lines, folders of them, or `-`. The spans are OTLP/JSON Lines
    unless they go to an endpoint; there, credentials are masked. Ids follow from the trace's own:
    sent again, it has the same.
    """
    if output is not None and endpoint is not None:
        raise ConfigurationError("name either --output or --endpoint")
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        raise ConfigurationError("OTEL_SDK_DISABLED=true: no spans are made; hint: unset it")
    losses = () if dialect == _BASELINE else writing_dialect(dialect).cannot_carry
    files = TraceFiles(list(chain.from_iterable(paths(place) for place in traces)))
    if endpoint is not None:
        policy = Policy(capture=True)
        masking = None if exact else Masking(lambda: policy)
        code = _send(files, OtlpTarget.at(endpoint, os.environ), dialect, masking)
        _say_losses(dialect, losses)
        return code
    count = spans = 0
    with data_files({"--output": output or STDOUT}, files.files) as data:
        out = data["--output"]
        for trace in files.traces():
            made = _spans_of(trace, dialect)
            out.write(encode_spans(made) + b"\n")
            count += 1
            spans += len(made)
    report(files.problems)
    where = f" in {output}" if output is not None else ""
    say(f"{_text.count(count, 'trace')}, {_text.count(spans, 'span')}{where}")
    _say_losses(dialect, losses)
    return 1 if files.problems else 0


def _say_losses(dialect: str, losses: tuple[str, ...]) -> None:
    """Say what readers of the other vocabulary do not get; this package gets it all back."""
    if losses:
        say(f"what {dialect} cannot carry:")
    for loss in losses:
        say(f" - {loss}")


def _send(files: TraceFiles, target: OtlpTarget, dialect: str, masking: Masking | None) -> int:
    exporter = OtlpExporter(target)
    traces = sent = 0
    waiting: list[ReadableSpan] = []
    counted = 0
    with collected("agentool_otel.export.otlp"):
        documents = files.traces()
        for trace in documents:
            made = _spans_of(trace, dialect)
            if not copies_wanted(os.environ):
                made = [*map(without_copies, made)]
            waiting += made if masking is None else map(masking, made)
            counted += 1
            if len(waiting) >= _BATCH:
                if not _delivered(exporter, waiting):
                    break
                waiting, traces, sent = [], counted, sent + len(waiting)
        if waiting and _delivered(exporter, waiting):
            waiting, traces, sent = [], counted, sent + len(waiting)
        left = counted - traces + (sum(1 for _ in documents) if waiting else 0)
    report(files.problems)
    say(f"delivered to {target}: {_text.count(traces, 'trace')}, {_text.count(sent, 'span')}")
    if left:
        label = click.style("error:", fg="red", bold=True)
        say(f"{label} {target} did not take the spans: {exporter.reason}")
        say(f"{_text.count(left, 'trace')} not delivered")
        say(
            " hint: is a collector listening there? Run this again when it is: a trace gets the "
            "same ids every time. Or write the spans to a file with -o FILE"
        )
    return 1 if left or files.problems else 0


def _delivered(exporter: OtlpExporter, spans: list[ReadableSpan]) -> bool:
    failed = exporter.failed
    exporter.export(spans)
    return exporter.failed == failed


def _spans_of(trace: ReasoningTrace, dialect: str) -> list[ReadableSpan]:
    """Return the spans of a trace, complete whatever the environment says about limits."""
    kept = _Kept()
    service = known(trace.agent_id)
    resource = Resource({"service.name": service} if service else {})
    provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, span_limits=_NO_LIMITS)
    provider.add_span_processor(kept)
    replay(trace, provider, dialect=dialect)
    return kept.spans


class _Kept(SpanProcessor):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)
