"""Documents of the spec as spans and events in a recording, and read back from it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from agentool_otel import EvalResult, ReasoningTrace, rebuild
from agentool_otel.cli import main
from agentool_otel.evaluation.write_back import anchor_of_document, spans_and_events
from agentool_otel.model.documents import Document
from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp.json_encoder import encode_log, encode_spans
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.replaying import replay
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.readable_spans import Readable
from tests.click_runner import CliRunner

__all__ = ["Exported", "exported", "through_commands"]

_JUDGE = Resource({"service.name": "judge"})


class Exported(NamedTuple):
    """Contents of a recording."""

    spans: list[SpanRecord]
    rebuilt: list[Rebuilt]

    @property
    def documents(self) -> list[Document]:
        """The documents again: each trace with its results."""
        return [
            item
            for rebuilt_trace in self.rebuilt
            for item in (rebuilt_trace.trace, *rebuilt_trace.results)
        ]

    @property
    def judgements(self) -> list[SpanRecord]:
        """The spans of evaluations."""
        return [span for span in self.spans if "gen_ai.evaluation.name" in span.attributes]


def through_commands(*documents: Document) -> list[dict[str, Any]]:
    """Return documents as `rebuild` reads them from the output of `export`: traces, their results,
    then others.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = "\n".join(document.to_json() for document in documents)
        (folder / "documents.jsonl").write_bytes(lines.encode())
        spans, *files = (
            folder / f"{name}.jsonl" for name in ("spans", "traces", "results", "others")
        )
        _command("export", folder / "documents.jsonl", "-o", spans)
        options = zip(("-o", "--results", "--documents"), files, strict=True)
        _command("rebuild", spans, *(item for option in options for item in option))
        return [
            json.loads(line) for file in files for line in file.read_bytes().split(b"\n") if line
        ]


def _command(*arguments: str | Path) -> None:
    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code == 0, done.stderr


def exported(documents: Iterable[Document], *, as_events: bool = False) -> Exported:
    """Write traces as spans and their results as spans, or as log records, and read them again."""
    documents = [*documents]
    traces = {
        document.trace_id: document
        for document in documents
        if isinstance(document, ReasoningTrace)
    }
    with tempfile.TemporaryDirectory() as folder:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(Path(folder))))
        replay(traces.values(), provider)
        provider.shutdown()
        lines: list[bytes] = []
        for result in documents:
            if isinstance(result, EvalResult):
                anchor = anchor_of_document(traces[str(result.trace_id)])
                judged = spans_and_events(result, anchor, _JUDGE, content=True)
                if as_events:
                    lines += map(encode_log, judged.events)
                else:
                    lines.append(encode_spans([*map(Readable(), judged.spans)]))
        Path(folder, "evaluations.jsonl").write_bytes(b"\n".join(lines))
        spans = list(open_source(folder).spans())
        return Exported(spans, list(rebuild(spans)))
