"""Reading recordings: every framing gives the same spans, and damage costs only what it touches."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from agentool_otel.errors import (
    AgentoolError,
    DecodeError,
    MissingDependencyError,
)
from agentool_otel.model.spans import SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.files import compression
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.encoders.otlp import each_after_its_length, varint
from tests.reading.sources.encoders.values import zstd

Json = Any

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_a_line_gives_its_spans(tmp_path: Path) -> None:
    assert read(lines(document(full_span()))) == [full_record()]


def test_a_process_without_spans_leaves_an_empty_recording() -> None:
    assert read(b"") == read(b"\n\n") == read(b'{"resourceSpans":[]}\n') == []


two = [{"traceId": TRACE, "spanId": f"{n:016x}", "name": f"span {n}"} for n in (1, 2)]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": two}]}]}), id="line"),
        pytest.param("\n".join(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]})
                               for s in two), id="lines"),
        pytest.param("".join(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]})
                             for s in two), id="in a row"),
        pytest.param("\n".join(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]},
                                          indent=2) for s in two), id="pretty in a row"),
        pytest.param("".join(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]},
                                        indent=0) for s in two), id="pretty without indent"),
        pytest.param(json.dumps([{"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]}
                                 for s in two]), id="list"),
        pytest.param(json.dumps([{"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]}
                                 for s in two], indent=4), id="pretty list"),
        pytest.param("[\n" + ",\n".join(json.dumps({"resourceSpans": [{"scopeSpans": [
            {"spans": [s]}]}]}) for s in two) + "\n]", id="list of lines"),
        pytest.param("\ufeff \r\n" + json.dumps({"resourceSpans": [{"scopeSpans": [
            {"spans": two}]}]}, indent="\t").replace("\n", "\r\n"), id="BOM and CRLF"),
        pytest.param(json.dumps({"resource_spans": [{"scope_spans": [{"spans": [
            {"trace_id": s["traceId"], "span_id": s["spanId"], "name": s["name"],
             "parent_span_id": None, "attributes": None} for s in two]}]}]}), id="snake_case"),
        pytest.param(json.dumps({"resourceSpans": [{"instrumentationLibrarySpans": [
            {"spans": two}]}]}), id="before 2022"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_every_form_of_json_gives_the_same_spans(data: str, pack: Any) -> None:
    source = SpanFiles([io.BytesIO(pack(data.encode()))])
    assert [span.name for span in source.spans()] == ["span 1", "span 2"]
    assert source.problems == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_protobuf_gives_the_same_spans_as_json(pack: Any) -> None:
    message = protobuf(full_span())
    framed = b"".join(len(m).to_bytes(4, "big") + m for m in (message, b"", message))
    assert read(pack(message)) == [full_record()]
    assert read(pack(framed)) == [full_record(), full_record()]


ATTRIBUTE_VALUES: list[tuple[Json, Any]] = [
    ({"stringValue": ""}, ""),
    ({"boolValue": False}, False),
    ({"intValue": "9223372036854775807"}, 2**63 - 1),
    ({"intValue": -5}, -5),
    ({"doubleValue": 0.1}, 0.1),
    ({"doubleValue": 1}, 1.0),
    ({"doubleValue": "-Infinity"}, float("-inf")),
    ({"bytesValue": "AP8="}, b"\x00\xff"),
    ({"bytesValue": "AP8"}, b"\x00\xff"),
    ({"arrayValue": {"values": [{"intValue": "1"}, {}, {"arrayValue": {}}]}}, [1, None, []]),
    ({"arrayValue": {}}, []),
    (
        {"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": True}}]}},
        {"a": True},
    ),
    ({}, None),
    ({"int_value": 7}, 7),
    ({"string_value": None, "intValue": 7, "doubleValue": None}, 7),
    ({"stringValue": "lone \ud83d surrogate"}, "lone \ufffd surrogate"),
]


@pytest.mark.parametrize(("value", "plain"), ATTRIBUTE_VALUES)
def test_attribute_values_become_plain_values(value: Json, plain: Any) -> None:
    snake = any("_" in key for key in value)
    (span,) = read(lines(document({
        "trace_id" if snake else "traceId": TRACE,
        "spanId": "00f067aa0ba902b7",
        "attributes": [{"key": "key", "value": value}],
    })))  # fmt: skip
    assert span.attributes == {"key": plain}
    assert type(span.attributes["key"]) is type(plain)


@pytest.mark.parametrize(
    ("field", "given_value", "attribute", "expected"),
    [
        ("traceId", TRACE.upper(), "trace_id", TRACE),
        ("traceId", base64.b64encode(bytes.fromhex(TRACE)).decode(), "trace_id", TRACE),
        ("traceId", "8448eb211c80319c", "trace_id", "0" * 16 + "8448eb211c80319c"),
        ("spanId", "APBnqgupArc=", "span_id", "00f067aa0ba902b7"),
        ("parentSpanId", "", "parent_id", None),
        ("parentSpanId", "AAAAAAAAAAA=", "parent_id", "0000000000000000"),
        ("parentSpanId", "00F067AA0BA902B7", "parent_id", "00f067aa0ba902b7"),
        ("startTimeUnixNano", 17, "start_ns", 17),
        ("endTimeUnixNano", "0", "end_ns", None),
        ("endTimeUnixNano", None, "end_ns", None),
        ("kind", 3, "kind", "CLIENT"),
        ("kind", "SPAN_KIND_PRODUCER", "kind", "PRODUCER"),
        ("kind", 0, "kind", "INTERNAL"),
        ("kind", 99, "kind", "INTERNAL"),
        ("status", {"code": 2, "message": "no"}, "status", "ERROR"),
        ("status", {"code": "STATUS_CODE_OK"}, "status", "OK"),
        ("status", {}, "status_message", None),
    ],
)
def test_every_spelling_of_a_field_is_understood(
    field: str, given_value: Json, attribute: str, expected: Any
) -> None:
    span = {"traceId": TRACE, "spanId": "00f067aa0ba902b7", "unknownField": 1, field: given_value}
    (record,) = read(lines(document(span)))
    assert getattr(record, attribute) == expected


def test_the_spans_of_a_batch_share_one_resource() -> None:
    one, second = read(lines(document(*two, resource={"service.name": "bot"})))
    assert one.resource is second.resource
    assert one.resource == {"service.name": "bot"}


def test_metrics_are_skipped_and_counted() -> None:
    source = of(lines({"resourceMetrics": [{}]}, document(*two), {"resourceMetrics": []}))
    assert len(list(source.spans())) == 2
    assert (source.skipped, source.problems) == (2, [])


def test_a_damaged_line_is_named_and_loses_only_itself() -> None:
    source = of(lines(document(two[0])) + b'{"resourceSpans":[{\n' + lines(document(two[1])))
    assert [span.name for span in source.spans()] == ["span 1", "span 2"]
    (problem,) = source.problems
    assert problem.where == "input line 2"
    assert "cut short or damaged" in problem.message


def test_complete_spans_of_a_truncated_line_are_read() -> None:
    complete = lines(document(*two, resource={"service.name": "bot"}))
    source = of(complete + complete[:-20])
    spans = list(source.spans())
    assert [span.name for span in spans] == ["span 1", "span 2", "span 1"]
    assert (spans[2].resource, spans[2].scope) == ({"service.name": "bot"}, "scope")
    assert "1 spans of it could be read" in source.problems[0].message


def test_a_line_written_into_the_middle_of_another_is_read() -> None:
    complete = lines(document(*two))
    assert [span.name for span in of(complete[:-20] + complete).spans()] == [
        "span 1",
        "span 1",
        "span 2",
    ]


def test_a_recording_truncated_before_its_first_span_is_only_a_problem() -> None:
    source = of(b'{"resourceSpans":[{"resource":{"attri')
    assert list(source.spans()) == []
    assert len(source.problems) == 1


def test_a_bad_span_loses_only_itself() -> None:
    bad = {"traceId": "", "spanId": "00f067aa0ba902b7", "name": "odd one"}
    source = of(lines(document(two[0], bad, two[1])))
    assert [span.name for span in source.spans()] == ["span 1", "span 2"]
    assert "'odd one' left out" in source.problems[0].message


def test_a_truncated_gzip_is_read_as_far_as_it_goes() -> None:
    noise = random.Random(1).randbytes(60_000).hex()  # so that the cut is after the first line
    packed = gzip.compress(lines(document(two[0]), document(two[1] | {"name": noise})))
    source = of(packed[:-5000])
    assert [span.name for span in source.spans()] == ["span 1"]
    assert any("to its end" in problem.message for problem in source.problems)


def test_a_truncated_protobuf_is_read_as_far_as_it_goes() -> None:
    message = protobuf(full_span())
    frame = len(message).to_bytes(4, "big") + message
    for data in (message + message[:-9], frame + frame[:-9], frame + frame[:2]):
        source = of(data)
        assert list(source.spans()) == [full_record()]
        assert "cut short" in source.problems[0].message


@pytest.mark.parametrize(
    "data",
    [b"hello", b"\x00\x01\x02", b"\x0a\x05\x0a\x7fabc", b"%PDF-1.7"],
)
def test_a_file_of_something_else_is_refused_with_its_start(data: bytes) -> None:
    with pytest.raises(DecodeError, match=r"expected spans or .* at its start .* help source"):
        read(data)


@pytest.mark.parametrize(
    ("data", "seen", "hint"),
    [
        (b'{"a": 1}\n', "an object with 'a'", "agentool-otel help source"),
        (b"[1, 2]", "a list of int", "agentool-otel help source"),
        (b'{"a": [1, 2\n', "JSON that is cut short or damaged", "python -m json.tool FILE"),
        (b'[{"trace_id": "a" "steps": []}]', "JSON that is cut", "python -m json.tool FILE"),
        ('{"a": 1}'.encode("utf-16"), "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"),
        (b"PAR1aaaa", "a Parquet or Arrow file that cannot be read", "help source"),
        (b"PK\x03\x04aaaa", "a zip archive - in", "unpack it"),
    ],
)
def test_the_hint_follows_problem_and_place(data: bytes, seen: str, hint: str) -> None:
    with pytest.raises(DecodeError) as error:
        read(data)
    before, _, after = str(error.value).partition("; hint: ")
    assert f"got {seen}" in before
    assert before.endswith(" - in input")
    assert hint in after


def test_the_hint_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"a": [1, 2')
    with pytest.raises(DecodeError, match=r"hint: python -m json.tool \S*/a\.json names"):
        list(SpanFiles([tmp_path / "a.json"]).spans())


def test_zstd_without_a_library_is_refused_with_a_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compression, "_zstd", lambda: None)
    frame = b"\x28\xb5\x2f\xfd rest"
    for data in (frame, len(frame).to_bytes(4, "big") + frame):
        with pytest.raises(MissingDependencyError, match=r"pip install .*zstd.*zstd -d"):
            read(data)


def test_damaged_zstd_is_refused() -> None:
    with pytest.raises(DecodeError, match="at its start"):
        read(b"\x28\xb5\x2f\xfd rest")


def test_problems_are_listed_up_to_a_limit() -> None:
    source = of(lines(document(*two)) + b"x\n" * 3000)
    assert len(list(source.spans())) == 2
    assert len(source.problems) == 1001


def test_progress_reaches_the_total(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.json"):
        (tmp_path / name).write_bytes(lines(document(*two)))
    source = open_source(tmp_path)
    assert source.bytes_total == sum(file.stat().st_size for file in tmp_path.iterdir())
    for _ in range(2):  # a second reading starts over
        assert len(list(source.spans())) == 4
        assert source.bytes_read == source.bytes_total


def test_a_pipe_that_gives_a_byte_at_a_time_is_recognised() -> None:
    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(1)

    frame = protobuf(full_span())
    data = len(frame).to_bytes(4, "big") + frame
    assert list(SpanFiles([Slow(data)]).spans()) == [full_record()]


@given(st.binary(max_size=300))
def test_random_bytes_never_end_in_a_crash(data: bytes) -> None:
    read_or_refuse(data)


@given(
    st.sampled_from(["json", "proto", "framed", "varint", "gzip", "zstd", "zstd framed"]),
    st.lists(st.tuples(st.integers(0, 10_000), st.binary(max_size=4)), min_size=1, max_size=5),
)
def test_damage_never_ends_in_a_crash(form: str, damage: list[tuple[int, bytes]]) -> None:
    data = bytearray(form_of(form))
    for at, new in damage:
        data[at % len(data) : at % len(data) + len(new)] = new
    read_or_refuse(bytes(data))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
field_names = ["resourceSpans", "resource", "scopeSpans", "scope", "spans", "traceId", "spanId",
               "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "status",
               "attributes", "events", "links", "key", "value", "stringValue"]  # fmt: skip


@given(st.sampled_from(field_names), json_values)
def test_a_field_of_any_value_loses_at_most_its_line(field: str, value: Json) -> None:
    def altered(node: Json) -> Json:
        if node.__class__ is dict:
            return {k: value if k == field else altered(v) for k, v in node.items()}
        return [altered(item) for item in node] if node.__class__ is list else node

    good = document(*two)
    spans = read(lines(good, altered(document(full_span(), resource={"a": "b"})), good))
    assert [span.name for span in spans[:2] + spans[-2:]] == ["span 1", "span 2"] * 2


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")), max_size=5))
def test_intact_lines_among_garbage_are_read(garbage: list[bytes]) -> None:
    good = lines(document(*two))
    data = good + b"".join(line + b"\n" + good for line in garbage)
    assert [span.name for span in read(data)] == ["span 1", "span 2"] * (len(garbage) + 1)


def test_deep_nesting_is_only_a_problem() -> None:
    deep = b'{"resourceSpans":' + b"[" * 100_000 + b"\n"
    assert len(read(deep + lines(document(*two)))) == 2


def of(data: bytes) -> SpanFiles:
    return SpanFiles([io.BytesIO(data)])


def read(data: bytes) -> list[SpanRecord]:
    return list(of(data).spans())


def read_or_refuse(data: bytes) -> None:
    with suppress(AgentoolError):
        read(data)


def form_of(form: str) -> bytes:
    message = protobuf(full_span())
    return {
        "json": lines(document(full_span()), document(*two)),
        "proto": message,
        "framed": len(message).to_bytes(4, "big") + message,
        "varint": varint(len(message)) + message,
        "gzip": gzip.compress(lines(document(full_span()))),
        "zstd": zstd(lines(document(full_span()))),
        "zstd framed": each_after_its_length([zstd(message)]),
    }[form]


def lines(*documents: Json) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in documents)


def document(*spans: Json, resource: dict[str, str] | None = None) -> Json:
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in (resource or {}).items()]
    scope_spans = {"scope": {"name": "scope", "version": "1"}, "spans": list(spans)}
    return {
        "resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scope_spans]}]
    }


def full_span() -> Json:
    return {
        "traceId": TRACE,
        "spanId": "00f067aa0ba902b7",
        "parentSpanId": "b7ad6b7169203331",
        "traceState": "a=b",
        "flags": 257,
        "name": "chat gpt-5",
        "kind": 3,
        "startTimeUnixNano": "1790000000000000001",
        "endTimeUnixNano": "1790000000000000999",
        "attributes": [
            {"key": "gen_ai.request.model", "value": {"stringValue": "gpt-5 “é”"}},
            {"key": "count", "value": {"intValue": "12"}},
            {"key": "list", "value": {"arrayValue": {"values": [{"boolValue": True}]}}},
            {"key": "raw", "value": {"bytesValue": "AP8="}},
        ],
        "events": [
            {
                "name": "step",
                "timeUnixNano": "1790000000000000500",
                "attributes": [{"key": "index", "value": {"doubleValue": 0.5}}],
            }
        ],
        "links": [{"traceId": TRACE, "spanId": "b7ad6b7169203331"}],
        "status": {"code": 2, "message": "no luck"},
    }


def full_record() -> SpanRecord:
    return SpanRecord(
        trace_id=TRACE,
        span_id="00f067aa0ba902b7",
        parent_id="b7ad6b7169203331",
        name="chat gpt-5",
        kind="CLIENT",
        start_ns=1_790_000_000_000_000_001,
        end_ns=1_790_000_000_000_000_999,
        attributes={
            "gen_ai.request.model": "gpt-5 “é”",
            "count": 12,
            "list": [True],
            "raw": b"\x00\xff",
        },
        events=[SpanEvent("step", 1_790_000_000_000_000_500, {"index": 0.5})],
        links=[SpanLink(TRACE, "b7ad6b7169203331")],
        status="ERROR",
        status_message="no luck",
        scope="scope",
    )


def protobuf(span: Json) -> bytes:
    """The same through protobuf's own JSON reader, which wants ids in base64."""
    from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs

    def with_base64_ids(value: Json) -> Json:
        if value.__class__ is dict:
            return {
                k: base64.b64encode(bytes.fromhex(v)).decode()
                if k.lower().endswith(("traceid", "spanid"))
                else with_base64_ids(v)
                for k, v in value.items()
            }
        return [with_base64_ids(item) for item in value] if value.__class__ is list else value

    message = TracesData()
    json_format.ParseDict(with_base64_ids(document(span)), message)
    data: bytes = message.SerializeToString()
    return data
