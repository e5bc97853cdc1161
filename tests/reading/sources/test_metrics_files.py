"""Saved requests with metrics in a folder of spans, as protobuf and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from agentool_otel.cli import main
from agentool_otel.model import operations as ops
from tests.click_runner import CliRunner
from tests.laws import many
from tests.programs import WRITERS, spans_of
from tests.reading.sources.encoders.otlp import proto

texts = st.text("abcdefgh ", max_size=20)
points = [{"asDouble": 1.5, "timeUnixNano": "1790000000000000000", "startTimeUnixNano": "17"}]
buckets = [{"count": "3", "bucketCounts": ["1", "2"], "explicitBounds": [5.0]}]
kinds = st.sampled_from([
    {"sum": {"dataPoints": points, "isMonotonic": True}},
    {"gauge": {"dataPoints": points}},
    {"histogram": {"dataPoints": buckets}},
    {"sum": {"dataPoints": []}},
])  # fmt: skip
metrics = st.builds(
    lambda name, description, unit, kind: {
        "name": name, "description": description, "unit": unit, **kind,
    },
    texts.filter(bool) | st.just("sixteen-letters!"), texts | st.just("requests"), texts, kinds,
)  # fmt: skip


@pytest.mark.parametrize("binary", [True, False], ids=["protobuf", "JSON"])
@settings(max_examples=many(50))
@given(drawn=st.lists(metrics, min_size=1, max_size=3))
def test_metrics_beside_spans_are_skipped(
    tmp_path_factory: pytest.TempPathFactory, binary: bool, drawn: list[dict[str, object]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("requests")
    document = {"resourceMetrics": [{"scopeMetrics": [{"scope": {"name": "m"}, "metrics": drawn}]}]}
    data = json.dumps(document).encode()
    if binary:
        message = MetricsData()
        json_format.ParseDict(document, message)
        data = message.SerializeToString()
    (folder / ("metrics.pb" if binary else "metrics.json")).write_bytes(data)
    spans = spans_of([ops.AgentInvocation(agent_name="a")], WRITERS["GenAI 2026-10"])
    (folder / "spans.pb").write_bytes(proto(spans))
    result = CliRunner().invoke(main, ["rebuild", str(folder)])
    assert len(result.stdout.splitlines()) == 1
    assert "1 span, no problems" in result.stderr
    assert result.exit_code == 0
