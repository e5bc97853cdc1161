"""Our protobuf equals the official encoder's for the same spans."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import (
    encode_spans as official_encode_spans,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext

from agentool_otel.otlp.protobuf_encoder import encode_span, merged, span_of
from tests.tracing.export.samples import finished, links, span_with, values

parse = ExportTraceServiceRequest.FromString


def test_a_full_span_is_encoded_like_the_official_encoder_does() -> None:
    for span in finished():
        ours, official = parse(encode_span(span)), official_encode_spans([span])
        for link in links(official):
            link.trace_state = "vendor=a,other=b"  # which the official encoder drops
        assert ours == official


def test_an_empty_span_is_encoded_like_the_official_encoder_does() -> None:
    span = ReadableSpan("", context=SpanContext(1, 2, False), start_time=3)
    assert parse(encode_span(span)) == official_encode_spans([span])


def test_requests_are_merged_by_resource_and_scope() -> None:
    resources = Resource({"service.name": "one"}, "url"), Resource({"service.name": "x" * 9000})
    scopes = InstrumentationScope("scope", "1", "url"), None
    spans = [
        ReadableSpan("s" * number, SpanContext(1, number, False), resource=resources[number % 2],
                     start_time=1, instrumentation_scope=scopes[number % 3 % 2])
        for number in range(1, 9)
    ]  # fmt: skip
    assert parse(merged(map(encode_span, spans))) == official_encode_spans(spans)


def test_the_span_inside_a_request_can_be_read_alone() -> None:
    span = finished()[0]
    assert Span.FromString(span_of(encode_span(span))).name == "chat gpt-5"


@given(
    st.dictionaries(st.text(min_size=1), values).filter(lambda result: "nan" not in repr(result))
)
def test_any_attributes_are_encoded_like_the_official_encoder_does(
    attributes: dict[str, Any],
) -> None:
    span = span_with(attributes)
    assert parse(encode_span(span)) == official_encode_spans([span])


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("\ud83d\ude00", "\U0001f600"),
        (2**70, str(2**70)),
        (object(), "<object>"),
    ],
)
def test_values_that_otlp_cannot_hold_are_replaced(value: Any, read: str) -> None:
    span = ReadableSpan("\ud83d", SpanContext(1, 2, False), attributes={"key": value})
    message = parse(encode_span(span)).resource_spans[0].scope_spans[0].spans[0]
    assert (message.name, message.attributes[0].value.string_value) == ("\ufffd", read)
