"""`export`: documents and recordings to spans, in a file or at an OTLP endpoint."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.cli import _text
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._exported import Exported, records_of
from agentool_otel.cli._output import collect_warnings, report, say
from agentool_otel.cli._sent_to import say_next_steps
from agentool_otel.cli._write_back import Endpoint
from agentool_otel.content.policy import Policy
from agentool_otel.dialects import writing_dialect
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment
from agentool_otel.otlp.json_encoder import encode_log, encode_spans
from agentool_otel.tables import require
from agentool_otel.tracing.export.duplicate_attributes import without_copies
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.readable_spans import Readable
from agentool_otel.tracing.export.send.otlp import OtlpExporter, OtlpTarget

__all__ = ["command", "send"]

_BASELINE = "gen_ai"
_FORMATS = ("otlp-json", "parquet")
_BATCH = 512


@click.command()
@click.argument("traces", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File for the spans."
)
@click.option("--endpoint", help="OTLP endpoint: http://host:4318 or grpc://host:4317.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    default=_FORMATS[0],
    show_default=True,
    help="Shape of the spans in a file: OTLP/JSON Lines, or a table of them, with the extra "
    "`arrow`.",
)
@click.option(
    "--dialect",
    metavar="NAME",
    help="Vocabulary of the spans: gen_ai, openinference or traceloop.  [default: gen_ai; of "
    "recorded spans in a table, their own]",
)
@click.option("--exact", is_flag=True, help="Send credentials to the endpoint as they are.")
def command(
    traces: tuple[str, ...],
    output: Path | None,
    endpoint: str | None,
    format_name: str,
    dialect: str | None,
    exact: bool,
) -> int:
    """Turn recordings and documents of the spec into spans of one vocabulary.

    TRACES are files of JSON or JSON Lines, folders of them, or `-`; what a file holds is told by
    its content. A document becomes spans with its original times, whose ids follow from its own:
    sent again, it has the same. EvalResults become evaluations of the traces that they name, as
    spans and events; ToolSpecs, registries and EvalCases are spans of their own. A recorded span
    keeps its ids, times, status, events, links and resource, whoever wrote it, and is written in
    the dialect's words; one that is no operation passes unchanged. The spans are OTLP/JSON Lines or
    Parquet unless they go to an endpoint; there, credentials are masked.
    """
    if output is not None and endpoint is not None:
        raise ConfigurationError("name either --output or --endpoint")
    if endpoint is not None and format_name != _FORMATS[0]:
        raise ConfigurationError("--format is for files; an endpoint takes OTLP")
    if environment.sdk_disabled():
        raise ConfigurationError(f"{environment.DISABLED}=true: no spans are made; hint: unset it")
    named, dialect = dialect, dialect or _BASELINE
    losses = () if dialect == _BASELINE else writing_dialect(dialect).cannot_carry
    to_terminal = output is None and endpoint is None and sys.stdout.isatty()
    recording = endpoint is None and dialect == _BASELINE
    usage = environment.agent_usage_wanted(default=recording)
    exported = Exported(traces, dialect, bar=not to_terminal, agent_usage=usage)
    if endpoint is not None:
        policy = Policy(capture=True)
        masking = None if exact else Masking(policy)
        code = send(exported, OtlpTarget.at(endpoint, os.environ), masking)
        _say_losses(dialect, losses)
        return code
    if format_name == "parquet":
        if to_terminal:
            raise ConfigurationError("Parquet is not for a terminal; hint: name a file with -o")
        count, spans, documents = _write_table(exported, output, as_recorded=named is None)
    else:
        count, spans, documents = _write_lines(exported, output)
    report(exported.problems)
    where = f" in {output}" if output is not None else ""
    say(f"{_counts(count, documents)}, {_text.count(spans, 'span')}{where}")
    _say_losses(dialect, losses)
    return 1 if exported.problems else 0


def _write_lines(exported: Exported, output: Path | None) -> tuple[int, int, int]:
    """Write OTLP/JSON Lines; return the number of traces, spans and other documents."""
    count = spans = documents = 0
    with data_files({"--output": output or STDOUT}, exported.files) as data:
        out = data["--output"]
        for trace_spans in exported.traces():
            out.write(encode_spans(trace_spans) + b"\n")
            count += 1
            spans += len(trace_spans)
        readable = Readable()
        for document in exported.other_documents():
            lines = [
                encode_spans([*map(readable, document.spans)]),
                *map(encode_log, document.events),
            ]
            out.write(b"\n".join([*lines, b""]))
            documents += 1
            spans += len(document.spans)
    return count, spans, documents


def _write_table(
    exported: Exported, output: Path | None, *, as_recorded: bool
) -> tuple[int, int, int]:
    """Write a Parquet file; return the number of traces, spans and other documents.

    Args:
        exported: the spans.
        output: the file; None for standard output.
        as_recorded: whether recorded spans stay in their own vocabulary.
    """
    require("--format parquet")
    from agentool_otel.cli._span_table import SpanTable

    count = documents = 0
    with data_files({"--output": output or STDOUT}, exported.files) as data:
        table = SpanTable(data["--output"])
        of_dialect = (records_of(encode_spans(spans)) for spans in exported.traces())
        for trace_spans in exported.recorded() if as_recorded else of_dialect:
            table.add(trace_spans)
            count += 1
        readable = Readable()
        for document in exported.other_documents():
            spans = encode_spans([*map(readable, document.spans)])
            table.add(records_of(b"\n".join([spans, *map(encode_log, document.events)])))
            documents += 1
        table.finish()
    return count, table.spans, documents


def _counts(traces: int, documents: int) -> str:
    others = f", {_text.count(documents, 'other document')}" if documents else ""
    return f"{_text.count(traces, 'trace')}{others}"


def _say_losses(dialect: str, losses: tuple[str, ...]) -> None:
    """Print the losses for readers of the other vocabulary; this package reads all of it back."""
    if losses:
        say(f"losses of {dialect}:")
    for loss in losses:
        say(f" - {loss}")


_SEND_AGAIN = (
    "is a collector listening there? Run this again when it is: a trace gets the same ids every "
    "time. Or write the spans to a file with -o FILE"
)


def send(
    exported: Exported, target: OtlpTarget, masking: Masking | None, hint: str = _SEND_AGAIN
) -> int:
    """Send spans to an endpoint, print the outcome, and return the exit code.

    Args:
        exported: the spans.
        target: the endpoint.
        masking: masks credentials; None sends the spans as they are.
        hint: what to do where the endpoint does not take them.
    """
    exporter = OtlpExporter(target)
    try:
        return _send_with(exporter, exported, target, masking, hint)
    finally:
        exporter.shutdown()


def _send_with(
    exporter: OtlpExporter,
    exported: Exported,
    target: OtlpTarget,
    masking: Masking | None,
    hint: str,
) -> int:
    traces = sent = 0
    waiting: list[ReadableSpan] = []
    counted = 0
    with collect_warnings("agentool_otel.tracing.export.send.otlp"):
        remaining = exported.traces()
        for spans in remaining:
            if not environment.copies_wanted():
                spans = [*map(without_copies, spans)]
            waiting += spans if masking is None else map(masking, spans)
            counted += 1
            if len(waiting) >= _BATCH:
                if not _send_all(exporter, waiting):
                    break
                waiting, traces, sent = [], counted, sent + len(waiting)
        if waiting and _send_all(exporter, waiting):
            waiting, traces, sent = [], counted, sent + len(waiting)
        undelivered = counted - traces + (sum(1 for _ in remaining) if waiting else 0)
    report(exported.problems)
    if sent or not undelivered:
        say(f"delivered to {target}: {_text.count(traces, 'trace')}, {_text.count(sent, 'span')}")
    if sent:
        say_next_steps(str(target), exported.services)
    if undelivered:
        amount = _text.count(undelivered, "trace")
        say(f"{target} did not take {amount}: {exporter.reason}", label="error:")
        say(f" hint: {hint}")
    failed = _send_others(exported, target, masking) if not undelivered else False
    return 1 if undelivered or failed or exported.problems else 0


def _send_others(exported: Exported, target: OtlpTarget, masking: Masking | None) -> bool:
    """Send the documents that are no traces; return whether some were not delivered."""
    sink = Endpoint(target, masking)
    readable = Readable()
    count = 0
    with collect_warnings("agentool_otel.tracing.export.send.otlp"):
        for document in exported.other_documents():
            sink.put([*map(readable, document.spans)], document.events)
            count += 1
        sink.close()
    if sink.reason is not None:
        say(f"{target} did not take the other documents: {sink.reason}", label="error:")
    elif count:
        say(f"delivered to {target}: {_text.count(count, 'other document')}")
    return sink.reason is not None


def _send_all(exporter: OtlpExporter, spans: list[ReadableSpan]) -> bool:
    failed = exporter.failed
    exporter.export(spans)
    return exporter.failed == failed
