"""Spans to rebuild on Spark: agents, loops of bare calls, and what is wrong with them."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from agentool_otel.ground.json_codec import canonical, dumps
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tables import spans as table
from agentool_otel.tables.parquet_file import ParquetFile
from benchmarks.data import write_recording

__all__ = [
    "agents",
    "batches",
    "canonical_lines",
    "loops",
    "shuffled",
    "skewed",
    "with_session",
    "write_lines",
    "write_parquet",
]


def agents(count: int = 84) -> list[SpanRecord]:
    """Return the spans of agent runs of 28 spans, in any order."""
    return [*_recorded(count, True)]


def loops(count: int = 30) -> list[SpanRecord]:
    """Return the spans of loops of ten bare calls, each call a trace of its own."""
    return [*_recorded(count, False)]


@cache
def _recorded(count: int, of_agents: bool) -> tuple[SpanRecord, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording.jsonl")
        write_recording(path, count, seed=int(of_agents), agents=of_agents)
        return tuple(open_source(path).spans())


def with_session(spans: Sequence[SpanRecord], session: str) -> list[SpanRecord]:
    """Return spans with the id of a session."""
    return [
        SpanRecord(
            span.trace_id, span.span_id, span.parent_id, span.name, span.kind, span.start_ns,
            span.end_ns, {**span.attributes, "session.id": session}, span.events, span.links,
            span.status, span.status_message, span.scope, span.resource,
        )
        for span in spans
    ]  # fmt: skip


def skewed(count: int) -> Iterator[SpanRecord]:
    """Yield the spans of one trace: an agent and so many tool calls."""
    trace_id = "5" * 32
    yield SpanRecord(
        trace_id, "f" * 16, None, "invoke_agent busy", start_ns=1, end_ns=10**12,
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "busy"},
    )  # fmt: skip
    for number in range(1, count):
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.id": f"call_{number}",
        }
        yield SpanRecord(
            trace_id, f"{number:016x}", "f" * 16, "execute_tool look", start_ns=1000 * number,
            end_ns=1000 * number + 500, attributes=attributes,
        )  # fmt: skip


def batches(
    spans: Sequence[SpanRecord], sizes: Sequence[int] = (), key: str | None = None
) -> list[pa.RecordBatch]:
    """Return spans as a partition: sorted by trace, in batches.

    Args:
        spans: in any order.
        sizes: rows of each batch, the last for all further ones; one batch by default.
        key: their key; by default that of each trace.
    """
    ordered = sorted(spans, key=lambda span: (span.trace_id, span.start_ns or 0, span.span_id))
    rows = table.batch_of_spans(ordered)
    keys = rows.column("trace_id") if key is None else pa.array([key] * rows.num_rows)
    rows = rows.append_column("partition_key", keys)
    pieces: list[pa.RecordBatch] = []
    at = 0
    for number in range(rows.num_rows):
        size = sizes[min(number, len(sizes) - 1)] if sizes else rows.num_rows
        if at >= rows.num_rows:
            break
        pieces.append(rows.slice(at, size))
        at += size
    return pieces


def canonical_lines(documents: Iterator[Any]) -> list[str]:
    """Return JSON values in one spelling, sorted."""
    return sorted(map(canonical, documents))


def shuffled(spans: Sequence[SpanRecord], seed: int = 0) -> list[SpanRecord]:
    """Return spans in another order, a tenth of them twice."""
    rng = random.Random(seed)
    several = [*spans, *rng.sample([*spans], len(spans) // 10)]
    rng.shuffle(several)
    return several


def write_lines(path: Path, spans: Sequence[SpanRecord], batch: int = 100) -> None:
    """Write spans as lines of OTLP/JSON."""
    with path.open("w") as file:
        for at in range(0, len(spans), batch):
            groups = [
                {
                    "resource": {"attributes": _attributes(span.resource)},
                    "scopeSpans": [{"scope": {"name": span.scope}, "spans": [_object(span)]}],
                }
                for span in spans[at : at + batch]
            ]
            file.write(dumps({"resourceSpans": groups}) + "\n")


def _object(span: SpanRecord) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id or "",
        "name": span.name,
        "kind": {"INTERNAL": 1, "CLIENT": 3}[span.kind],
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.attributes),
        "status": {},
    }


def _attributes(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}


def write_parquet(path: Path, spans: Sequence[SpanRecord]) -> None:
    """Write spans as a table in several row groups."""
    with path.open("wb") as out:
        file = ParquetFile(out, table.SCHEMA)
        for at in range(0, len(spans), 5000):
            file.add_batch(table.batch_of_spans(spans[at : at + 5000]))
        file.finish()
