"""Log records as OTLP equal the official encoder's, in JSON and in protobuf."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import _logs
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk._logs import ReadableLogRecord

from agentool_otel.otlp.json_encoder import encode_log as encode_json
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.otlp.protobuf_encoder import encode_log, is_whole, merged
from agentool_otel.tracing.export.incomplete import _with_base64_ids
from tests.tracing.export.logged import RESOURCE, SCOPE, everything, record
from tests.tracing.export.samples import values

parse = ExportLogsServiceRequest.FromString


def official(*records: LogRecord) -> ExportLogsServiceRequest:
    """Return the request of the official encoder for the same records."""

    def one(ours: LogRecord) -> ReadableLogRecord:
        log_record: Any = _logs.LogRecord(
            timestamp=ours.time_ns,
            observed_timestamp=ours.observed_ns,
            severity_text=ours.severity_text,
            severity_number=_logs.SeverityNumber(ours.severity_number),
            body=ours.body,
            attributes=ours.attributes,
            event_name=ours.event_name,
        )
        log_record.trace_id, log_record.span_id, log_record.trace_flags = (
            ours.trace_id,
            ours.span_id,
            ours.flags,
        )
        return ReadableLogRecord(log_record, ours.resource, ours.scope)

    request = encode_logs([one(ours) for ours in records])
    for group in request.resource_logs:
        for scope in group.scope_logs:
            for written in scope.log_records:
                if written.body.WhichOneof("value") is None:
                    written.ClearField("body")  # it writes an empty one where there is none
    return request


def from_json(document: bytes) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    json_format.ParseDict(_with_base64_ids(json.loads(document)), request)
    return request


def test_a_full_record_is_encoded_like_the_official_encoder_does() -> None:
    assert parse(encode_log(everything())) == official(everything())


def test_an_empty_record_is_encoded_like_the_official_encoder_does() -> None:
    bare = LogRecord(resource=RESOURCE, scope=SCOPE, attributes={}, observed_ns=3)
    assert parse(encode_log(bare)) == official(bare)


@pytest.mark.parametrize("log_record", [everything(), record(body="text", timestamp=5)])
def test_json_and_protobuf_hold_the_same(log_record: LogRecord) -> None:
    assert from_json(encode_json(log_record)) == parse(encode_log(log_record))


def test_records_are_merged_into_one_request() -> None:
    records = everything(), record(body="one"), record(body="two")
    assert parse(merged(map(encode_log, records))) == official(*records)


@given(st.binary(max_size=60))
def test_bytes_that_are_not_a_request_are_recognised(data: bytes) -> None:
    log = encode_log(everything())
    assert is_whole(log)
    assert not is_whole(log[:-1])
    assert not is_whole(b"\x00" + data)


@given(values)
def test_any_body_is_encoded_like_the_official_encoder_does(body: Any) -> None:
    result = record(body=body)
    if "nan" not in repr(result.body):
        assert parse(encode_log(result)) == official(result)
        assert from_json(encode_json(result)) == parse(encode_log(result))
