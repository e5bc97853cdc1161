"""The law of distinct ids: two different ids never become one, in any container.

Texts of every length are drawn with their neighbours, which differ at the end only: there base64
has loose bits. Texts that spell one number in two ways (hex in capitals, a 64-bit trace id filled
up with zeros) are the same id, and are not drawn beside each other.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import string
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentool_otel.model import operations as ops
from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp import base64_text
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.stores import values
from tests.laws import many
from tests.programs import WRITERS, spans_of
from tests.reading.sources.encoders import Encoder
from tests.reading.sources.test_ids_law import TEXTS, with_ids

_ALPHABETS = (
    string.ascii_lowercase + string.digits + "-_",
    string.ascii_letters + string.digits + "+/",
    string.digits,
    "0123456789abcdef",
    "xyz:#é漢 ",
)
_SIZES = (8, 16)


@st.composite
def neighbours(draw: st.DrawFn) -> list[str]:
    """Draw five texts of one length, which often differ in the last character only."""
    alphabet = st.sampled_from(draw(st.sampled_from(_ALPHABETS)))
    size = draw(st.one_of(st.integers(1, 45), st.sampled_from([11, 12, 16, 22, 24, 32])))
    front = draw(st.text(alphabet, min_size=size - 1, max_size=size - 1))
    last = draw(st.lists(alphabet, min_size=5, max_size=5, unique=True))
    texts = [front + letter for letter in last]
    assume(all(text.strip() == text for text in texts))
    return texts


_COUNTED = [f"step-no-00{n}" for n in range(1, 6)]
_ANSWERED = [f"conversation-number-{n:02}" for n in range(1, 6)]


@pytest.mark.parametrize("encoder", TEXTS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(50, fewer=2))
@given(drawn=neighbours())
@example(drawn=_COUNTED)
@example(drawn=_ANSWERED)
def test_different_texts_are_different_ids(encoder: Encoder, drawn: list[str]) -> None:
    program = [ops.ToolExecution(name=name, call_id=name) for name in "abcd"]
    spans = spans_of([ops.AgentInvocation(agent_name="x"), *program], WRITERS["OpenInference"])
    for span in spans:
        span.trace_id = span.span_id * 2  # a trace each
        span.parent_id = None
    data = encoder.encode(spans)
    for span, new in zip(spans, drawn, strict=True):
        data = with_ids(data, [span], [new, new])
    read = _read(data)
    assert len({span.span_id for span in read}) == len({span.trace_id for span in read}) == 5


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    pq.write_table(pa.Table.from_pylist(list(rows)), sink := io.BytesIO())
    return sink.getvalue()


def _arrow(rows: Sequence[dict[str, Any]]) -> bytes:
    feather.write_feather(pa.Table.from_pylist(list(rows)), sink := io.BytesIO())
    return sink.getvalue()


def _csv(rows: Sequence[dict[str, Any]]) -> bytes:
    writer = csv.DictWriter(sink := io.StringIO(), [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def _any_json(rows: Sequence[dict[str, Any]]) -> bytes:
    return json.dumps({"steps": list(rows)}).encode()


_TABLES = (_parquet, _arrow, _csv, _any_json)


@pytest.mark.parametrize("write", _TABLES, ids=lambda write: write.__name__)
@settings(max_examples=many(200, fewer=4))
@given(drawn=neighbours())
@example(drawn=_COUNTED)
@example(drawn=_ANSWERED)
def test_different_cells_are_different_ids(
    write: Callable[[Sequence[dict[str, Any]]], bytes], drawn: list[str]
) -> None:
    read = _read(
        write(
            [
                {
                    "trace_id": text,
                    "span_id": text,
                    "name": "execute_tool x",
                    "start_time": "2026-01-01T00:00:00Z",
                    "end_time": "2026-01-01T00:00:01Z",
                    "attributes": '{"gen_ai.tool.name": "x"}',
                }
                for text in drawn
            ]
        )
    )
    assert len({span.span_id for span in read}) == len({span.trace_id for span in read}) == 5


byte_ids = st.lists(st.binary(min_size=1, max_size=20), min_size=5, max_size=5, unique=True)


@settings(max_examples=many(500))
@given(drawn=byte_ids)
@example(drawn=[b"\0" * n + b"a" for n in range(5)])
def test_different_bytes_are_different_ids(drawn: list[bytes]) -> None:
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    for raw in drawn:
        scoped.spans.add(trace_id=raw, span_id=raw, name="x", start_time_unix_nano=10**18)
    read = _read(request.SerializeToString())
    filled = len({raw.rjust(16, b"\0") if len(raw) == 8 else raw for raw in drawn})
    assert len({span.span_id for span in read}) == 5
    assert len({span.trace_id for span in read}) == filled


@pytest.mark.parametrize("size", [1, 4, 8, 20])
def test_a_log_record_has_the_id_of_its_span(size: int) -> None:
    raw = b"\x01" * size
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add(
        trace_id=raw,
        span_id=raw,
        time_unix_nano=10**18,
        event_name="gen_ai.client.inference.operation.details",
    )
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(
        trace_id=raw, span_id=raw, name="x", start_time_unix_nano=10**18
    )
    (span,) = _read(request.SerializeToString())
    (event,) = _read(logs.SerializeToString())
    assert (event.trace_id, event.span_id) == (span.trace_id, span.span_id)


@settings(max_examples=many(2000, fewer=4))
@given(drawn=neighbours(), size=st.sampled_from(_SIZES), decimal=st.booleans())
@example(drawn=["0" * n + "1" for n in range(20)], size=8, decimal=False)
@example(drawn=["0" * n + "1" for n in range(15)], size=8, decimal=True)
@example(drawn=["12", "\u0661\u0662", "\uff11\uff12"], size=8, decimal=True)
@example(drawn=["0", "00", "000"], size=8, decimal=False)
@example(drawn=["\ud800", "\udfff", "?"], size=8, decimal=False)
def test_identifiers_of_different_texts_differ(drawn: list[str], size: int, decimal: bool) -> None:
    found = {values.identifier(text, size, decimal=decimal) for text in drawn}
    assert len(found) == len(drawn)


@given(raw=st.one_of(*(st.binary(min_size=size, max_size=size) for size in _SIZES)))
def test_base64_of_either_alphabet_is_the_id_of_its_bytes(raw: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(raw).decode()
        for spelled in (text, text.rstrip("=")):
            assert base64_text.id_bytes(spelled, len(raw)) == raw


@settings(max_examples=many(1000))
@given(text=st.text(string.ascii_letters + string.digits + "+/-_=", max_size=26))
@example(text="step-no-001")
@example(text="AAAAAAAAAAA===")
@example(text="A-AAAAAAA+A")
def test_text_that_no_encoder_writes_is_not_base64(text: str) -> None:
    for size in _SIZES:
        raw = base64_text.id_bytes(text, size)
        if raw is not None:
            encoded = (base64.b64encode(raw), base64.urlsafe_b64encode(raw))
            assert text.encode() in (*encoded, *(item.rstrip(b"=") for item in encoded))


def _read(data: bytes) -> list[SpanRecord]:
    return list(SpanFiles([io.BytesIO(data)]).spans())
