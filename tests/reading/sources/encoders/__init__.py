"""Spans written as every SDK, store and exporter writes them: the other side of `reading/sources/`.

Each encoder takes spans and gives the bytes of a file; its `kept` returns the part of a span that
the store keeps, as the span that should come back.
"""

from __future__ import annotations

import gzip
import json

import msgspec

from tests.reading.sources.encoders.columns import (
    clickhouse,
    clickhouse_kept,
    columns,
    columns_kept,
    signoz,
    signoz_kept,
    victoria,
    victoria_kept,
)
from tests.reading.sources.encoders.otlp import (
    bare,
    each_after_its_length,
    every_arm,
    otlp,
    otlp_span,
    proto,
    protos,
    snake_fields,
    tempo,
    varint,
    with_maps,
    with_snake_names,
)
from tests.reading.sources.encoders.printed import (
    any_agent,
    console,
    go,
    javascript,
    javascript_console,
    nested_python,
    python_json,
    python_kept,
    spread,
    strands,
    strands_kept,
)
from tests.reading.sources.encoders.stores import (
    adot,
    cloudwatch_events,
    cloudwatch_insights,
    jaeger,
    jaeger_kept,
    langfuse,
    langfuse_kept,
    mlflow,
    mlflow_kept,
    phoenix,
    phoenix_kept,
    phoenix_row,
    phoenix_row_kept,
    trulens,
    trulens_kept,
    zipkin,
    zipkin_kept,
)
from tests.reading.sources.encoders.values import (
    Encoder,
    dumps,
    lines,
    rounded,
    unchanged,
    without_resource,
    zstd,
)

__all__ = ["ENCODERS", "Encoder"]

ENCODERS = [
    Encoder("OTLP lines", lambda s: lines([otlp([span]) for span in s]), unchanged),
    Encoder("OTLP pretty", lambda s: json.dumps(otlp(s), indent=2).encode(), unchanged),
    Encoder("OTLP in a row", lambda s: b"".join(dumps(otlp([x])) for x in s), unchanged),
    Encoder("OTLP list", lambda s: dumps([otlp([span]) for span in s]), unchanged),
    Encoder("OTLP snake", lambda s: dumps(with_snake_names(otlp(s))), unchanged),
    Encoder("OTLP with maps", lambda s: dumps(with_maps(otlp(s))), unchanged),
    Encoder("OTLP snake with maps", lambda s: dumps(snake_fields(with_maps(otlp(s)))), unchanged),
    Encoder("OTLP beside a trace",
            lambda s: lines([{"trace": {"id": x.trace_id}, "scope": {"name": x.scope},
                              "resource": {"attributes": x.resource},
                              "spans": [snake_fields(with_maps(otlp_span(x)))]} for x in s]),
            unchanged),
    Encoder("OTLP gzip", lambda s: gzip.compress(lines([otlp(s)])), unchanged),
    Encoder("OTLP zstd", lambda s: b"".join(zstd(lines([otlp([x])])) for x in s), unchanged),
    Encoder("protobuf", proto, unchanged),
    Encoder("protobuf with varints", lambda s: b"".join(varint(len(m)) + m for m in protos(s)),
            unchanged),
    Encoder("protobuf with lengths", lambda s: each_after_its_length(protos(s)), unchanged),
    Encoder("protobuf, each zstd", lambda s: each_after_its_length([*map(zstd, protos(s))]),
            unchanged),
    Encoder("protobuf, all zstd", lambda s: zstd(each_after_its_length(protos(s))), unchanged),
    Encoder("JSON, each zstd",
            lambda s: each_after_its_length([zstd(dumps(otlp([span]))) for span in s]), unchanged),
    Encoder("bare spans", lambda s: lines([*map(bare, s)]), unchanged),
    Encoder("bare spans, no resource", lambda s: lines([*map(otlp_span, s)]), without_resource),
    Encoder("Jaeger API v3", lambda s: dumps({"result": otlp(s)}), unchanged),
    Encoder("Tempo API v1", lambda s: dumps(tempo(s)), unchanged),
    Encoder("Tempo API v2", lambda s: dumps({"trace": tempo(s), "metrics": {}}), unchanged),
    Encoder("Phoenix otlpv1",
            lambda s: dumps({"data": every_arm(with_snake_names([*map(otlp_span, s)]))}),
            without_resource),
    Encoder("Python to_json", lambda s: json.dumps([*map(python_json, s)]).encode(), python_kept),
    Encoder("Python console", console, python_kept),
    Encoder("nested names", lambda s: lines([*map(nested_python, s)]), spread),
    Encoder("JavaScript", lambda s: dumps([*map(javascript, s)]), unchanged),
    Encoder("JavaScript without a list",
            lambda s: ",\n".join(json.dumps(javascript(x), indent=2) for x in s).encode(),
            unchanged),
    Encoder("Go stdout", lambda s: lines([*map(go, s)]), unchanged),
    Encoder("JavaScript console", lambda s: lines([*map(javascript_console, s)]),
            lambda span: msgspec.structs.replace(
                span, start_ns=rounded(span, 1000).start_ns, end_ns=rounded(span, 1000).end_ns)),
    Encoder("any-agent", lambda s: dumps({"spans": [*map(any_agent, s)], "final_output": None}),
            lambda span: msgspec.structs.replace(span, scope="")),
    Encoder("strands-evals", lambda s: dumps({"session_id": None, "spans": [*map(strands, s)]}),
            strands_kept),
    Encoder("ADOT", lambda s: lines([*map(adot, s)]), unchanged),
    Encoder("CloudWatch events", cloudwatch_events, unchanged),
    Encoder("CloudWatch Insights", cloudwatch_insights, unchanged),
    Encoder("CloudWatch S3", lambda s: b"".join(
            b"2026-11-21T10:00:00.000Z " + dumps(adot(span)) + b"\n" for span in s), unchanged),
    Encoder("Jaeger UI", lambda s: dumps(jaeger(s)), jaeger_kept),
    Encoder("Zipkin", lambda s: dumps([*map(zipkin, s)]), zipkin_kept),
    Encoder("Phoenix", lambda s: dumps({"data": [*map(phoenix, s)], "next_cursor": None}),
            phoenix_kept),
    Encoder("Phoenix data frame", lambda s: lines([*map(phoenix_row, s)]), phoenix_row_kept),
    Encoder("Langfuse", lambda s: dumps(langfuse(s)), langfuse_kept),
    Encoder("MLflow", lambda s: dumps(mlflow(s)), mlflow_kept),
    Encoder("TruLens", lambda s: lines([*map(trulens, s)]), trulens_kept),
    Encoder("ClickHouse", lambda s: lines([*map(clickhouse, s)]), clickhouse_kept),
    Encoder("VictoriaTraces", lambda s: lines([*map(victoria, s)]), victoria_kept),
    Encoder("SigNoz", lambda s: dumps({"data": [*map(signoz, s)]}), signoz_kept),
    Encoder("columns", lambda s: lines([*map(columns, s)]), columns_kept),
]  # fmt: skip
