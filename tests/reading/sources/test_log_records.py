"""Log records beside spans: joined by ids, or spans of their own."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.reading.sources.files import span_files
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.files.undecoded import undecoded_spans
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.encoders.values import lines, pairs, value_of

Json = Any

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "00f067aa0ba902b7"


def test_a_record_is_an_event_of_the_span_it_names() -> None:
    (span,) = joined(spans_of(chat()), logs(record("gen_ai.choice", body={"index": 0})))
    assert span.name == "chat"
    assert span.events == [
        SpanEvent("gen_ai.choice", 5, {"index": 0, "otel.scope.name": "some.logger"})
    ]


def test_a_record_may_come_before_its_span_and_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "a-logs.jsonl").write_bytes(lines([logs(record("gen_ai.choice"))]))
    (tmp_path / "b-spans.jsonl").write_bytes(lines([spans_of(chat())]))
    (trace,) = by_trace(open_source(tmp_path).spans())
    assert [(result.name, len(result.events)) for result in trace] == [("chat", 1)]


def test_a_record_that_was_written_twice_is_one_event() -> None:
    (span_found,) = joined(logs(record("e")), spans_of(chat()), logs(record("e")))
    assert len(span_found.events) == 1


def test_records_of_a_missing_span_are_spans_in_its_trace() -> None:
    one, other = joined(logs(record("e", time=7)), logs(record("e", time=5)))
    assert (one.trace_id, one.name, one.scope) == (TRACE, "e", "some.logger")
    assert [(span.start_ns, span.end_ns, span.parent_id) for span in (one, other)] == [
        (5, 5, None),
        (7, 7, None),
    ]


def test_events_of_the_conventions_stay_on_their_missing_span() -> None:
    (result,) = joined(logs(record("gen_ai.choice", time=7)), logs(record("", time=5)))
    assert (result.trace_id, result.span_id, result.start_ns) == (TRACE, SPAN, None)
    assert [event.name for event in result.events] == ["", "gen_ai.choice"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ({"eventName": "gen_ai.user.message"}, "gen_ai.user.message"),
        ({"attributes": pairs({"event.name": "codex.user_prompt"})}, "codex.user_prompt"),
        ({"attributes": pairs({"otel.event.name": "x"})}, "x"),
        ({"body": value_of("Chat Model Prompt Content: hello")}, ""),
    ],
)
def test_the_name_of_an_event_is_found(written: Json, name: str) -> None:
    (result,) = joined(spans_of(chat()), logs({**record(""), **written}))
    assert result.events[0].name == name


@pytest.mark.parametrize(
    ("attributes", "body", "found"),
    [
        ({"a": 1}, {"content": "hi", "n": 2}, {"a": 1, "content": "hi", "n": 2}),
        ({"a": 1}, {"a": 2}, {"a": 1, "body.a": 2}),
        ({"a": 1}, "text", {"a": 1, "body": "text"}),
        ({"a": 1}, ["x"], {"a": 1, "body": ["x"]}),
        ({"a": 1}, None, {"a": 1}),
        ({"a": 1}, "", {"a": 1}),
        ({"a": None, "b": [None, {"c": None}]}, None, {"a": None, "b": [None, {"c": None}]}),
    ],
)
def test_attributes_and_body_are_merged(attributes: Json, body: Json, found: Json) -> None:
    (span_found,) = joined(spans_of(chat()), logs(record("e", attributes=attributes, body=body)))
    event = span_found.events[0].attributes
    assert {key: value for key, value in event.items() if key != "otel.scope.name"} == found


def test_an_event_without_a_span_is_a_span_in_the_session_it_names() -> None:
    first, second, another = joined(
        logs(
            event("codex.user_prompt", {"conversation.id": "c1"}, time=1),
            event("codex.tool_result", {"conversation.id": "c1"}, time=2),
            event("codex.user_prompt", {"conversation.id": "c2"}, time=3),
        )
    )
    assert first.trace_id == second.trace_id != another.trace_id
    assert (first.name, first.scope, first.start_ns) == ("codex.user_prompt", "some.logger", 1)
    assert first.attributes["conversation.id"] == "c1"


def test_an_event_without_a_span_becomes_the_same_span_on_every_reading() -> None:
    one = event("claude_code.user_prompt", {"session.id": "s", "prompt": "hi"})
    assert len(joined(logs(one), logs(one))) == 1


def test_ordinary_log_lines_are_skipped_and_counted() -> None:
    line = {"timeUnixNano": "5", "body": {"stringValue": "Started server"}}
    source = SpanFiles([io.BytesIO(lines([logs(line), spans_of(chat())]))])
    assert [span.name for span in source.spans()] == ["chat"]
    assert source.skipped == 1


def test_a_single_record_is_read_as_adot_writes_it() -> None:
    written: dict[str, Json] = {
        "resource": {"attributes": {"service.name": "bot"}},
        "scope": {"name": "strands.telemetry.tracer"},
        "timeUnixNano": 5,
        "observedTimeUnixNano": 6,
        "severityNumber": 9,
        "body": {"input": {"messages": [{"role": "user", "content": "hi"}]}},
        "attributes": {"event.name": "strands.telemetry.tracer"},
        "traceId": TRACE,
        "spanId": SPAN,
    }
    (result,) = SpanFiles([io.BytesIO(json.dumps(written).encode())]).spans()
    assert result.resource == {"service.name": "bot"}
    assert result.events[0].attributes["input"] == written["body"]["input"]


def test_a_record_is_read_as_go_prints_it() -> None:
    printed = {
        "Timestamp": "0001-01-01T00:00:00Z",  # not given
        "ObservedTimestamp": "2026-11-22T05:42:48.885555548Z",
        "EventName": "gen_ai.choice",
        "Severity": 0,
        "SeverityText": "",
        "Body": {
            "Type": "MAP",
            "Value": [
                {"Key": "index", "Value": {"Type": "INT64", "Value": 0}},
                {
                    "Key": "parts",
                    "Value": {"Type": "SLICE", "Value": [{"Type": "STRING", "Value": "Hi"}]},
                },
            ],
        },
        "Attributes": [{"Key": "gen_ai.system", "Value": {"Type": "STRING", "Value": "openai"}}],
        "TraceID": TRACE,
        "SpanID": SPAN,
        "Resource": [{"Key": "service.name", "Value": {"Type": "STRING", "Value": "bot"}}],
        "Scope": {"Name": "some.logger"},
    }
    (fragment,) = read(json.dumps(printed).encode())
    assert (fragment.trace_id, fragment.span_id) == (TRACE, SPAN)
    assert fragment.resource == {"service.name": "bot"}
    assert fragment.events == [
        SpanEvent(
            "gen_ai.choice",
            1795326168885555548,
            {
                "gen_ai.system": "openai",
                "index": 0,
                "parts": ["Hi"],
                "otel.scope.name": "some.logger",
            },
        )
    ]


def test_protobuf_logs_give_the_same_as_json() -> None:
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

    message = LogsData()
    group = message.resource_logs.add()
    group.resource.attributes.add(key="service.name").value.string_value = "bot"
    scoped = group.scope_logs.add()
    scoped.scope.name = "some.logger"
    written = scoped.log_records.add(
        time_unix_nano=5, trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN)
    )
    written.attributes.add(key="event.name").value.string_value = "e"
    written.body.string_value = "hello"
    json_form = logs(record("", attributes={"event.name": "e"}, body="hello"))
    data: bytes = message.SerializeToString()
    assert read(data) == read(lines([json_form]))


@pytest.mark.parametrize("in_protobuf", [True, False])
def test_damage_in_a_log_record_is_noted_on_the_event_it_becomes(in_protobuf: bool) -> None:
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

    message = LogsData()
    scoped = message.resource_logs.add().scope_logs.add()
    data: bytes = lines([spans_of(chat() | {"endTimeUnixNano": "9"})])
    for time in (6, 5):
        written = scoped.log_records.add(
            time_unix_nano=time, trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN)
        )
        written.attributes.add(key="event.name").value.string_value = "e"
        written.body.string_value = "Qzz" if time == 6 else "hello"
        if not in_protobuf:
            json_form = record("", attributes={"event.name": "e"}, body=written.body.string_value)
            data += lines([logs(json_form | {"timeUnixNano": str(time)})])
    parts = [data, message.SerializeToString()] if in_protobuf else [data]
    source = SpanFiles([io.BytesIO(part.replace(b"Qzz", b"a\xe4\xbd")) for part in parts])
    ((span,),) = by_trace(source.spans())
    where, second = (event.attributes for event in span.events)
    assert "a\ufffd" in repr(second)
    assert "hello" in repr(where)
    (damage,) = span.damaged
    assert damage.where.startswith("events[1].attributes.")


@pytest.mark.parametrize("first", [True, False])
def test_reading_a_large_file_again_keeps_its_log_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    """A record far from its span is still of the same trace."""
    monkeypatch.setattr(span_files, "_LARGE", 0)
    others = [spans_of(chat() | {"traceId": f"{n:032x}"}) for n in range(1, 40)]
    extra = [logs(record("e")), logs(record("f"))]
    documents = [*extra, *others, spans_of(chat())]
    (file := tmp_path / "a.jsonl").write_bytes(lines(documents if first else documents[::-1]))
    source = SpanFiles([file])
    result = sorted(by_trace(undecoded_spans(source)), key=repr)
    assert result == sorted(by_trace(SpanFiles([file]).spans()), key=repr)
    assert sum(len(span.events) for trace in result for span in trace) == 2
    assert not source.problems


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3)), max_size=6),
    st.booleans(),
    st.integers(0, 4000),
    st.integers(),
)
def test_order_split_and_copies_do_not_matter(
    events: list[tuple[str, int]], finished: bool, budget: int, seed: int
) -> None:
    documents = [spans_of(chat())] * 2 + [logs(record(name, time=time)) for name, time in events]
    if finished:
        documents.append(spans_of(chat() | {"endTimeUnixNano": "9"}))
    rng = random.Random(seed)
    shuffled = documents + rng.choices(documents, k=3)
    rng.shuffle(shuffled)
    at = rng.randrange(len(shuffled))
    parts = [lines(shuffled[:at]), lines(shuffled[at:])]
    one = list(by_trace(SpanFiles([*map(io.BytesIO, parts)]).spans(), budget))
    assert one == list(by_trace(SpanFiles([io.BytesIO(lines(documents))]).spans()))
    ((result,),) = one
    assert (result.name, result.end_ns) == ("chat", 9 if finished else None)
    assert [(e.name, e.time_ns) for e in result.events] == sorted(
        set(events), key=lambda e: (e[1], e[0])
    )


def chat() -> Json:
    return {"traceId": TRACE, "spanId": SPAN, "name": "chat", "startTimeUnixNano": "3"}


def spans_of(*spans: Json) -> Json:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def record(name: str, *, time: int = 5, attributes: Json = None, body: Json = None) -> Json:
    return {
        "timeUnixNano": str(time),
        "traceId": TRACE,
        "spanId": SPAN,
        **({"eventName": name} if name else {}),
        **({"attributes": pairs(attributes)} if attributes else {}),
        **({"body": value_of(body)} if body is not None else {}),
    }


def event(name: str, attributes: Json, time: int = 5) -> Json:
    return {"timeUnixNano": str(time), "eventName": name, "attributes": pairs(attributes)}


def logs(*records: Json) -> Json:
    resource = {"attributes": pairs({"service.name": "bot"})}
    scoped = {"scope": {"name": "some.logger"}, "logRecords": list(records)}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scoped]}]}


def read(data: bytes) -> list[SpanRecord]:
    return list(SpanFiles([io.BytesIO(data)]).spans())


def joined(*documents: Json) -> list[SpanRecord]:
    """The spans of all traces, by start."""
    traces = by_trace(read(lines(documents)))
    return sorted((span for trace in traces for span in trace), key=lambda s: s.start_ns or 0)
