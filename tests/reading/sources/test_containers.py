"""Traits of each container that others lack."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.errors import AgentoolError, DecodeError
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.stores.shapes import containers
from tests.reading.sources.encoders import ENCODERS
from tests.reading.sources.encoders.printed import python_json
from tests.reading.sources.encoders.values import zstd

Json = Any

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("spelled", "size", "expected"),
    [
        (SPAN.upper(), 8, SPAN),
        ("0x" + SPAN, 8, SPAN),
        (SPAN.lstrip("0"), 8, SPAN),
        (int(SPAN, 16), 8, SPAN),
        (-1, 8, "f" * 16),
        ("12203920175536650289", 8, f"{12203920175536650289:016x}"),
        (base64.b64encode(bytes.fromhex(SPAN)).decode(), 8, SPAN),
        (base64.urlsafe_b64encode(bytes.fromhex(SPAN)).decode().rstrip("="), 8, SPAN),
        ("tr-" + TRACE, 16, TRACE),
        (TRACE[:8] + "-" + "-".join((TRACE[8:12], TRACE[12:16], TRACE[16:20], TRACE[20:])), 16,
         TRACE),
        ("8448eb211c80319c", 16, "0" * 16 + "8448eb211c80319c"),
    ],
)  # fmt: skip
def test_ids_are_understood_in_every_spelling(spelled: Json, size: int, expected: str) -> None:
    ids = {"traceId": TRACE, "spanId": SPAN} | {"traceId" if size == 16 else "spanId": spelled}
    for written in (
        {**ids, "name": "x"},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{**ids, "name": "x"}]}]}]},
    ):
        (span,) = read(written)
        assert (span.trace_id if size == 16 else span.span_id) == expected


def test_a_number_and_its_text_are_one_id() -> None:
    written = [{"trace_id": 1, "span_id": n, "name": "x"} for n in (10, "10", "a", "010")]
    ten, as_text, other, padded = (span.span_id for span in read(written))
    assert ten == as_text
    assert len({ten, other, padded}) == 3


def test_foreign_ids_stay_distinct_and_stable() -> None:
    written = [{"trace_id": "trace_1", "span_id": f"span_{n}", "name": "x"} for n in (1, 2, 1)]
    one, two, again = read(written)
    assert one.span_id == again.span_id != two.span_id
    assert len(one.trace_id) == 32


@pytest.mark.parametrize("value", [None, "", []])
def test_placeholders_for_no_parent_are_none(value: Json) -> None:
    (span,) = read({"traceId": TRACE, "spanId": SPAN, "name": "x", "parentSpanId": value})
    assert span.parent_id is None


@pytest.mark.parametrize(
    "value",
    [
        1_700_000_000_123_456_789,
        "1700000000123456789",
        "2023-11-14T22:13:20.123456789Z",
        "2023-11-14 22:13:20.123456789",
        "2023-11-14T23:13:20.123456789+01:00",
        [1_700_000_000, 123_456_789],
        "1700000000.123456789",
    ],
)
def test_times_are_understood_in_every_spelling(value: Json) -> None:
    (span,) = read({"traceId": TRACE, "spanId": SPAN, "name": "x", "startTime": value})
    assert span.start_ns == 1_700_000_000_123_456_789


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        (1_700_000_000, 1_700_000_000 * 10**9),
        (1_700_000_000_123, 1_700_000_000_123 * 10**6),
        (1_700_000_000_123_456, 1_700_000_000_123_456 * 10**3),
        (None, None),
        (0, None),
        (True, None),
        ("soon", None),
        ([0, 0], None),
        (1e300, None),
    ],
)
def test_the_unit_of_a_time_follows_from_its_magnitude(value: Json, ns: int | None) -> None:
    (span,) = read({"traceId": TRACE, "spanId": SPAN, "name": "x", "startTime": value})
    assert span.start_ns == ns


def test_a_span_printed_open_and_finished_is_kept_as_finished() -> None:
    span = SpanRecord(TRACE, SPAN, name="chat", start_ns=10**18, end_ns=2 * 10**18)
    printed = [python_json(span) | {"end_time": None}, python_json(span)]
    text = "\n".join(json.dumps(item, indent=4) for item in printed)
    ((result,),) = by_trace(SpanFiles([io.BytesIO(text.encode())]).spans())
    assert result.end_ns == 2 * 10**18


def test_attribute_names_split_into_objects_are_rejoined() -> None:
    nested = {
        "gen_ai": {"tool": {"name": "f", "call": {"arguments": {"city": "Rome"}}}},
        "llm": {"input_messages": [{"message": {"role": "user"}}, {"message": {"role": "x"}}]},
    }
    (span,) = read({"trace_id": TRACE, "span_id": SPAN, "attributes": nested})
    assert span.attributes == {
        "gen_ai.tool.name": "f",
        "gen_ai.tool.call.arguments": {"city": "Rome"},
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.1.message.role": "x",
    }


def test_an_attribute_map_is_a_span_with_ids_derived_from_its_content() -> None:
    one, again, second = read(
        [{"gen_ai.operation.name": "chat", "n": 1}, {"n": 1, "gen_ai.operation.name": "chat"},
         {"spanName": "s", "scopeName": "gemini-cli", "attributes": {"gen_ai.system": "x"}}]
    )  # fmt: skip
    assert one == again
    assert (second.name, second.scope) == ("s", "gemini-cli")


def test_jaeger_documents_of_elasticsearch_are_read() -> None:
    (span,) = read({
        "hits": {"hits": [{"_source": {
            "traceID": TRACE, "spanID": SPAN, "operationName": "chat", "startTime": 10**15,
            "duration": 5, "tag": {"gen_ai@system": "openai", "error": True},
            "process": {"serviceName": "bot", "tag": {"host@name": "h"}},
        }}]}
    })  # fmt: skip
    assert span.attributes == {"gen_ai.system": "openai"}
    assert (span.status, span.resource) == ("ERROR", {"service.name": "bot", "host.name": "h"})


def test_langsmith_runs_get_the_attributes_of_its_exporter() -> None:
    root, child = read({
        "id": "0198f3a4-0000-7000-8000-000000000001", "name": "graph", "run_type": "chain",
        "start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01.5",
        "inputs": {"q": "hi"}, "outputs": {"a": "ho"}, "session_name": "project",
        "extra": {"metadata": {"thread_id": "t"}}, "tags": ["x", "y"],
        "child_runs": [{
            "id": "0198f3a4-0000-7000-8000-000000000002",
            "parent_run_id": "0198f3a4-0000-7000-8000-000000000001",
            "name": "ChatOpenAI", "run_type": "llm", "error": "no",
            "start_time": "2026-01-01T00:00:00", "total_tokens": 7,
            "extra": {"metadata": {"ls_model_name": "gpt-5", "ls_provider": "openai"},
                      "invocation_params": {"temperature": 0, "tools": [{"name": "f"}]}},
        }],
    })  # fmt: skip
    assert root.attributes == {
        "langsmith.span.kind": "chain",
        "gen_ai.operation.name": "chain",
        "langsmith.trace.name": "graph",
        "langsmith.trace.session_name": "project",
        "gen_ai.prompt": '{"q":"hi"}',
        "gen_ai.completion": '{"a":"ho"}',
        "langsmith.span.tags": "x, y",
        "langsmith.metadata.thread_id": "t",
    }
    assert (child.trace_id, child.parent_id) == (root.trace_id, root.span_id)
    assert (child.status, child.status_message) == ("ERROR", "no")
    assert child.attributes["gen_ai.request.model"] == "gpt-5"
    assert child.attributes["gen_ai.usage.total_tokens"] == 7
    assert child.attributes["gen_ai.request.temperature"] == 0
    assert child.attributes["gen_ai.tool.definitions"] == '[{"name":"f"}]'


def test_langfuse_fields_get_the_names_of_its_sdk() -> None:
    root, tool = read({
        "id": TRACE, "sessionId": "s", "userId": "u", "name": "run", "input": "hi",
        "metadata": {"k": "v"},
        "observations": [
            {"id": "obs-1", "type": "GENERATION", "name": "llm", "model": "gpt-5",
             "startTime": "2026-01-01T00:00:00Z", "input": [{"role": "user"}], "output": "ho",
             "usageDetails": {"input": 3}, "costDetails": {"total": 0.5},
             "metadata": {"note": 1}},
            {"id": "obs-2", "type": "TOOL", "name": "f", "parentObservationId": "obs-1",
             "startTime": "2026-01-01T00:00:00Z", "level": "ERROR", "statusMessage": "no"},
        ],
    })  # fmt: skip
    assert root.attributes == {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": '[{"role":"user"}]',
        "langfuse.observation.output": "ho",
        "langfuse.observation.model.name": "gpt-5",
        "langfuse.observation.usage_details": '{"input":3}',
        "langfuse.observation.cost_details": '{"total":0.5}',
        "langfuse.observation.metadata.note": 1,
        "session.id": "s",
        "user.id": "u",
        "langfuse.trace.name": "run",
        "langfuse.trace.input": "hi",
        "langfuse.trace.metadata.k": "v",
    }
    assert tool.parent_id == root.span_id
    assert (tool.status, tool.status_message) == ("ERROR", "no")
    assert tool.attributes["session.id"] == "s"
    assert "langfuse.trace.name" not in tool.attributes


def test_usage_of_older_langfuse_servers_gets_the_newer_names() -> None:
    (call,) = read({
        "id": "obs-1", "traceId": TRACE, "type": "GENERATION", "name": "llm",
        "startTime": "2026-01-01T00:00:00Z", "usage": {"input": 3, "unit": "TOKENS"},
        "promptTokens": 3, "completionTokens": 4, "totalTokens": 7, "calculatedTotalCost": 0.5,
    })  # fmt: skip
    assert call.attributes["langfuse.observation.usage_details"] == (
        '{"input":3,"output":4,"total":7}'
    )
    assert call.attributes["langfuse.observation.cost_details"] == '{"total":0.5}'


def test_mlflow_metadata_goes_to_its_spans() -> None:
    spans = [
        {"trace_id": TRACE, "span_id": SPAN, "name": "a", "attributes": {"mlflow.spanType": "1"}},
        {"trace_id": TRACE, "span_id": "1" * 16, "parent_span_id": SPAN, "name": "b"},
    ]
    metadata = {"mlflow.trace.session": "s", "mlflow.trace.tokenUsage": "{}", "other": "x"}
    root, child = read({"info": {"trace_metadata": metadata}, "data": {"spans": spans}})
    assert child.attributes == {"mlflow.trace.session": "s"}
    assert root.attributes == {
        "mlflow.spanType": "1",
        "mlflow.trace.session": "s",
        "mlflow.trace.tokenUsage": "{}",
    }


@pytest.mark.parametrize("name", ["Jaeger UI", "Langfuse", "Zipkin", "JavaScript", "Phoenix"])
def test_a_damaged_tail_loses_only_the_tail(name: str) -> None:
    (encoder,) = (encoder for encoder in ENCODERS if encoder.name == name)
    spans = [
        SpanRecord(TRACE, f"{n:016x}", name=f"s{n}", start_ns=10**18, attributes={"gen_ai.x": "y"})
        for n in (1, 2, 3)
    ]
    source = SpanFiles([io.BytesIO(encoder.encode(spans)[:-10])])
    assert [span.name for span in source.spans()][:2] == ["s1", "s2"]
    assert len(source.problems) == 1


def test_text_between_documents_is_reported_and_skipped() -> None:
    span = {"traceId": TRACE, "spanId": SPAN, "name": "x"}
    text = f"Starting up...\n{json.dumps(span, indent=2)}\nwarning: {{odd\n{json.dumps(span)}\n"
    source = SpanFiles([io.BytesIO(text.encode())])
    assert [span.name for span in source.spans()] == ["x", "x"]
    assert "Starting up" in source.problems[0].message


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ({"cases": [], "name": "x"}, "an object with 'cases', 'name'"),
        ([1, 2], "a list of int"),
        ({"editor.fontSize": 12}, "an object with 'editor.fontSize'"),
        ("text", "str"),
    ],
)
def test_an_unrecognised_value_is_described(value: Json, seen: str) -> None:
    with pytest.raises(DecodeError, match=r"expected spans or trace documents") as error:
        read(value)
    assert seen in str(error.value)


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"SQLite format 3\x00\x10\x00", "export spans from the program"),
        (b"PK\x03\x04\n\x00\x00", "unpack it"),
        (b"2026-01-01T00:00:00.000Z\tinfo\tResourceSpans #0\n", "its file exporter"),
    ],
)
def test_common_mistakes_are_named_with_what_to_do(data: bytes, hint: str) -> None:
    with pytest.raises(DecodeError, match=hint):
        list(SpanFiles([io.BytesIO(data)]).spans())


def test_deep_json_is_refused_with_a_message() -> None:
    for deep in ('{"a":' * 5000 + "1" + "}" * 5000, "[" * 5000):
        source = SpanFiles([io.BytesIO(deep.encode())])
        with pytest.raises(DecodeError):
            list(source.spans())


def test_a_deep_attribute_becomes_json_text() -> None:
    value: Json = "leaf"
    for _ in range(200):
        value = [value]
    (span,) = read({"traceId": TRACE, "spanId": SPAN, "name": "x", "attributes": {"deep.x": value}})
    assert json.loads(span.attributes["deep.x"]) == value


def test_a_zstd_file_in_a_folder_is_read(tmp_path: Path) -> None:
    span = {"traceId": TRACE, "spanId": SPAN, "name": "x"}
    (tmp_path / "traces.jsonl.zst").write_bytes(zstd(json.dumps(span).encode()))
    assert len(list(open_source(tmp_path).spans())) == 1


def test_a_source_declares_what_its_store_loses() -> None:
    source = SpanFiles([io.BytesIO(b'{"traceId":"1","id":"2","tags":{},"name":"x"}')])
    assert source.loses == ()
    list(source.spans())
    assert "links are not kept" in source.loses


def test_every_container_is_described() -> None:
    assert all(container.name and container.shape for container in containers())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def altered(draw: st.DrawFn) -> Json:
    """A document of a container with some of its values replaced by anything."""
    encoder = draw(st.sampled_from([e for e in ENCODERS if e.encode([FULL])[:1] in b"{["]))
    document, _ = json.JSONDecoder().raw_decode(encoder.encode([FULL]).decode())

    def walk(node: Json) -> Json:
        if draw(st.integers(0, 12)) == 0:
            return draw(json_values)
        if isinstance(node, dict):
            return {key: walk(inner) for key, inner in node.items()}
        return [walk(inner) for inner in node] if isinstance(node, list) else node

    return walk(document)


FULL = SpanRecord(
    TRACE, SPAN, name="chat", start_ns=10**18, end_ns=10**18 + 1, resource={"service.name": "x"},
    attributes={"gen_ai.x": "y", "llm.z": [1]},
)  # fmt: skip


@given(altered())
def test_altered_documents_give_spans_or_an_error(value: Json) -> None:
    try:
        spans = read(value)
    except AgentoolError:
        return
    for trace in by_trace(spans):
        for span in trace:
            assert len(span.trace_id) == 32
            assert len(span.span_id) == 16


def read(value: Json) -> list[SpanRecord]:
    return list(SpanFiles([io.BytesIO(json.dumps(value).encode())]).spans())
