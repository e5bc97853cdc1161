"""The law of ids: an id is opaque text, of which only equality counts.

A program is written with ids of OpenTelemetry's size and with other ones, in each container and
vocabulary; `rebuild` gives the same documents but for the ids.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentool_otel.model import operations as ops
from agentool_otel.model.spans import SpanRecord
from tests.laws import many
from tests.programs import WRITERS, numbered, programs, read_file, rebuilt, spans_of
from tests.reading.sources.encoders import ENCODERS, Encoder
from tests.reading.sources.encoders.otlp import proto

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BINARY = ("protobuf", "zstd", "varint")
"""Parts of the names of encoders whose ids are no text."""
TEXTS = [encoder for encoder in ENCODERS if not any(part in encoder.name for part in _BINARY)]
WITH_ZEROS = [encoder for encoder in ENCODERS if encoder.name != "Go stdout"]
"""Encoders that do not print zeros for the parent of a root."""
ids = st.one_of(
    st.integers(1, 99).map("trace_3_{}".format),
    st.sampled_from(["root", "my-trace-7", "span é", "a b", "tool:1/x", "x" * 80, "run #1"]),
    st.sampled_from(["A", "a", "1", "01", "10", "abc", "0abc", "ABC"]),
    st.uuids().map(str),
    st.from_regex(r"[g-z]{3,20}", fullmatch=True),
)


@pytest.mark.parametrize("encoder", TEXTS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    drawn=st.lists(ids, min_size=5, max_size=5, unique=True),
)
def test_ids_of_any_text_are_ids(
    encoder: Encoder, program: list[ops.Operation], writer: str, drawn: list[str]
) -> None:
    spans = spans_of(program, WRITERS[writer])
    ordinary = encoder.encode(spans)
    renamed = with_ids(ordinary, spans, drawn)
    assert numbered(rebuilt(renamed)) == numbered(rebuilt(ordinary))


def with_ids(data: bytes, spans: list[SpanRecord], new: list[str]) -> bytes:
    """Return a file with other ids."""
    if data.startswith(_GZIP):
        return gzip.compress(with_ids(gzip.decompress(data), spans, new))
    old = [spans[0].trace_id, *(span.span_id for span in spans)]
    for one, other in zip(old, new, strict=False):
        for spelled, quoted in spellings(one, other):
            data = data.replace(spelled.encode(), quoted.encode())
    assert not any(one.encode() in data for one in old)
    return data


def spellings(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield each spelling of an id with the JSON text that replaces it, inside JSON text too."""
    quoted = json.dumps(new)
    number = int(old, 16)
    encoded = base64.b64encode(bytes.fromhex(old)).decode()
    for text in (old, f"0x{old}", f"tr-{old}", encoded, str(number)):
        yield f'"{text}"', quoted
        yield f'\\"{text}\\"', json.dumps(quoted)[1:-1]
    yield str(number), quoted


@settings(max_examples=many(50))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    drawn=st.lists(st.binary(min_size=1, max_size=30), min_size=5, max_size=5, unique=True),
)
def test_ids_of_any_bytes_are_ids(
    program: list[ops.Operation], writer: str, drawn: list[bytes]
) -> None:
    assume(len({item.lstrip(b"\0") for item in drawn}) == len(drawn))
    spans = spans_of(program, WRITERS[writer])
    data = proto(spans)
    request = ExportTraceServiceRequest.FromString(data)
    new = dict(zip([spans[0].trace_id, *(span.span_id for span in spans)], drawn, strict=False))
    for group in request.resource_spans:
        for scoped in group.scope_spans:
            for span in scoped.spans:
                span.trace_id = new[span.trace_id.hex()]
                span.span_id = new[span.span_id.hex()]
                span.parent_span_id = new.get(span.parent_span_id.hex(), b"")
    assert numbered(rebuilt(request.SerializeToString())) == numbered(rebuilt(data))


@pytest.mark.parametrize("encoder", WITH_ZEROS, ids=lambda encoder: encoder.name)
@pytest.mark.parametrize("zero", ["trace", "root", "child"])
@settings(max_examples=many(5, fewer=1))
@given(program=programs(), writer=st.sampled_from([*WRITERS]))
def test_an_id_of_zeros_is_an_id(
    encoder: Encoder, zero: str, program: list[ops.Operation], writer: str
) -> None:
    spans = spans_of(program, WRITERS[writer])
    ordinary = rebuilt(encoder.encode(spans))
    changed = [msgspec.structs.replace(span) for span in spans]
    for span in changed:
        if zero == "trace":
            span.trace_id = "0" * 32
        elif zero == "root":
            span.parent_id = span.parent_id and "0" * 16
    if zero == "root":
        changed[0].span_id = "0" * 16
    elif zero == "child":
        changed[1].span_id = "0" * 16
    assert numbered(rebuilt(encoder.encode(changed))) == numbered(ordinary)


def test_spans_without_ids_of_their_own_are_all_kept() -> None:
    spans = [
        {
            "traceId": "0" * 32,
            "spanId": "0" * 16,
            "name": f"execute_tool t{n}",
            "startTimeUnixNano": str(10**18 + n),
            "endTimeUnixNano": str(10**18 + n + 1),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": f"t{n}"}},
            ],
        }
        for n in range(3)
    ]
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    names = [
        step["tool_call"]["name"]
        for document in rebuilt(data)
        for step in document["steps"]
        if step["type"] == "tool_call"
    ]
    assert sorted(names) == ["t0", "t1", "t2"]


@pytest.mark.parametrize("binary", [False, True])
def test_the_fidelity_report_names_hashed_ids(tmp_path: Path, binary: bool) -> None:
    (operation,) = [ops.AgentInvocation(agent_name="a")]
    spans = spans_of([operation], WRITERS["OpenInference"])
    if binary:
        request = ExportTraceServiceRequest.FromString(proto(spans))
        request.resource_spans[0].scope_spans[0].spans[0].span_id = b"a longer id"
        data = request.SerializeToString()
    else:
        data = ENCODERS[0].encode(spans).replace(spans[0].span_id.encode(), b"my span")
    report = tmp_path / "fidelity.jsonl"
    assert read_file(data, "rebuild", "--fidelity", str(report)).code == 0
    rules = [note.get("rule") or "" for note in json.loads(report.read_text())["notes"]]
    assert len([rule for rule in rules if rule.startswith("hashes of the ids")]) == 1
