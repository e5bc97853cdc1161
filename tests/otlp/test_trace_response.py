"""Answers of Tempo's second API, in protobuf and JSON: the trace, and whether it is all of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import Damage, SpanRecord
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.encoders.otlp import proto, tempo, varint

STORES = Path(__file__).parents[1] / "fixtures" / "stores"
RESULT = "gen_ai.tool.call.result"
SPANS = [
    SpanRecord("6a" * 16, f"{n + 1:016x}", name=f"span {n}", resource={"service.name": "x"})
    for n in range(3)
]
METRICS = b"\x12\x04\x08\x92\x8c\x02"
PARTIAL = b"\x18\x01\x22" + varint(len(b"too large")) + b"too large"


def answer(*trailing: bytes) -> bytes:
    trace = proto(SPANS)
    return b"\n" + varint(len(trace)) + trace + b"".join(trailing)


def read(data: bytes) -> tuple[list[SpanRecord], list[str]]:
    source = SpanFiles([io.BytesIO(data)])
    spans = list(source.spans())
    return spans, [problem.message for problem in source.problems]


@pytest.mark.parametrize("suffix", ["pb", "json"])
def test_a_recorded_answer_is_read_with_its_truncated_value(suffix: str) -> None:
    source = open_source(STORES / f"tempo-3.1-defaults.v2.{suffix}")
    run, tool = sorted(source.spans(), key=lambda span: span.parent_id or "")
    assert source.problems == []
    assert (tool.parent_id, run.damaged) == (run.span_id, ())
    value = tool.attributes[RESULT]
    assert value.endswith("\ufffd")
    assert len(value[:-1].encode()) in range(2045, 2049)
    (result,) = rebuild([run, tool])
    notes = [note.outcome for note in result.fidelity.notes if note.attribute == RESULT]
    assert notes == ["truncated"]


def test_protobuf_and_json_give_the_same_spans() -> None:
    one, second = (
        list(open_source(STORES / f"tempo-3.1-defaults.v2.{suffix}").spans())
        for suffix in ("pb", "json")
    )
    (damaged,) = (span for span in one if span.damaged)
    assert damaged.damaged == (Damage(f"attributes.{RESULT}", cut=True),)
    damaged.damaged = ()
    assert [repr(span) for span in one] == [repr(span) for span in second]


@pytest.mark.parametrize("trailing", [(), (METRICS,), (METRICS, b"\x18\x00")])
def test_a_complete_answer_is_read(trailing: tuple[bytes, ...]) -> None:
    spans, problems = read(answer(*trailing))
    assert [span.name for span in spans] == [span.name for span in SPANS]
    assert problems == []


def test_a_partial_answer_is_reported_with_the_reason() -> None:
    spans, (problem,) = read(answer(METRICS, PARTIAL))
    assert len(spans) == 3
    assert "Tempo returned only a part of the trace: too large; hint: " in problem


def test_a_partial_answer_in_json_is_reported_with_the_reason() -> None:
    complete: dict[str, Any] = {"trace": tempo(SPANS), "metrics": {}}
    for more in ({"status": "COMPLETE"}, {}):
        assert read(json.dumps({**complete, **more}).encode())[1] == []
    data = json.dumps({**complete, "status": "PARTIAL", "message": "too large"}, indent=1).encode()
    spans, (problem,) = read(data)
    assert len(spans) == 3
    assert "Tempo returned only a part of the trace: too large; hint: " in problem


@pytest.mark.parametrize("more", [0, 20])
def test_complete_parts_of_a_truncated_answer_are_read(more: int) -> None:
    trace = proto(SPANS)
    missing = len(trace) // 3 - more
    spans, (problem,) = read(answer()[:-missing])
    assert [span.name for span in spans] == ["span 0", "span 1"]
    assert "cut short" in problem


def test_an_answer_without_a_trace_is_not_damage() -> None:
    assert read(b"\n\x00" + METRICS) == ([], [])


def test_data_after_an_answer_is_a_problem() -> None:
    spans, (problem,) = read(answer(b"\x07\x07"))
    assert len(spans) == 3
    assert "the data after a trace is not readable as OTLP protobuf" in problem


def test_a_trace_whose_parts_have_no_resource_is_read() -> None:
    span = SpanRecord("6a" * 16, "6b" * 8, name="bare")
    trace = proto([span])
    assert read(b"\n" + varint(len(trace)) + trace)[0][0].name == "bare"


def test_a_plain_message_is_not_mistaken_for_an_answer() -> None:
    resource = {f"key {n}": "value" for n in range(50)}
    spans, problems = read(proto([SpanRecord("6a" * 16, "6b" * 8, resource=resource)]))
    assert (spans[0].resource, problems) == (resource, [])
