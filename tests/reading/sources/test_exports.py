"""A run that a store gives back is the run that was: its own shape is all that differs."""

from __future__ import annotations

import csv
import io
import json
from collections import ChainMap
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.codec import encode
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.span_files import SpanFiles
from tests.frameworks import ROOT
from tests.reading.sources.encoders import exports as shapes
from tests.reading.sources.encoders.exports import as_csv

OF_PRODUCTS: list[dict[str, Callable[[], Any]]] = [
    import_module(f"tests.integrations.{file.parent.name}.exports").EXPORTS
    for file in sorted((ROOT / "tests" / "integrations").glob("*/exports.py"))
]
EXPORTS = dict(ChainMap(shapes.EXPORTS, *OF_PRODUCTS))

RUN = """\
weather s1 success 14 tokens
Weather in Rome? -> I do not know.
reasoning I look.
tool_call get_weather {"city": "Rome"}
tool_result no station"""
_ERROR = {"Sentry": "internal_error", "Application Insights": "ValueError: no station"}
"""By store, the error where it keeps no message of a failed span, or the class of the exception."""


@pytest.mark.parametrize("name", EXPORTS)
def test_the_export_of_a_store_gives_the_run(name: str) -> None:
    message = rebuilt(json.dumps(EXPORTS[name]()).encode())
    assert message == RUN.replace("no station", _ERROR.get(name, "no station"))


def test_a_csv_file_gives_the_run() -> None:
    assert rebuilt(as_csv().encode()) == RUN


def test_a_csv_file_with_a_byte_order_mark_and_long_cells_is_read() -> None:
    text = "\ufeffTraceId,SpanId,SpanName,Timestamp,SpanAttributes\r\n"
    text += f'1,2,x,2025-01-01 00:00:00,"{{""gen_ai.x"": ""{"y" * 200_000}""}}"\r\n'
    (span,) = SpanFiles([io.BytesIO(text.encode())]).spans()
    assert len(span.attributes["gen_ai.x"]) == 200_000


def test_the_programs_own_csv_cell_limit_stays_while_rows_are_read() -> None:
    before = csv.field_size_limit()
    spans = SpanFiles([io.BytesIO(as_csv().encode())]).spans()
    next(spans)
    assert csv.field_size_limit() == before
    assert list(spans)


def test_a_csv_row_is_recognised_independently_of_earlier_rows() -> None:
    """Only the values of few members count, in which rows of the same columns differ."""
    columns = ["id", "traceId", "type", "object", "span_kind", "spanId", "name", "startTime"]
    values: list[list[str]] = [
        [*("1", "2", kind, name, lifted, "3"), "n", "2025-01-01T00:00:00Z"]
        for kind in ("", "GENERATION", "x")
        for name in ("", "trace.span", "y")
        for lifted in ("", "LLM", "z")
    ]
    rows = [",".join(row) for row in values]

    def told(*rows: str) -> list[SpanRecord]:
        text = "\n".join([",".join(columns), *rows])
        return list(SpanFiles([io.BytesIO(text.encode())]).spans())

    assert told(*rows) == [span for row in rows for span in told(row)]


def test_what_pandas_prints_of_a_column_of_objects_is_read() -> None:
    """TruLens's events, `DataFrame.to_csv`."""
    row = {
        "record": {"name": "app", "kind": 1, "parent_span_id": "", "status": "STATUS_CODE_UNSET"},
        "event_id": 12,
        "record_attributes": {"ai.observability.span_type": "record_root", "a": None},
        "start_timestamp": "2025-11-14 12:14:36.5",
        "timestamp": "2025-11-14 12:14:37",
        "trace": {"trace_id": "34", "parent_id": "", "span_id": "12"},
    }
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([["", *row], ["0", *map(str, row.values())]])
    [span] = SpanFiles([io.BytesIO(text.getvalue().encode())]).spans()
    assert (span.trace_id, span.span_id, span.name) == (f"{34:032x}", f"{12:016x}", "app")
    assert span.attributes["ai.observability.span_type"] == "record_root"


def test_a_damaged_csv_row_loses_only_itself() -> None:
    text = "trace_id,span_id,name,start_time\n1,2,a,2025-01-01T00:00:00Z\n,,b\n1,3,c,\n"
    source = SpanFiles([io.BytesIO(text.encode())])
    assert [span.name for span in source.spans()] == ["a", "c"]
    assert len(source.problems) == 1


def test_opik_spans_without_their_trace_are_one_run() -> None:
    spans = EXPORTS["Opik"]()["spans"]
    message = rebuilt(json.dumps({"content": spans}).encode())
    assert message.splitlines()[2:] == RUN.splitlines()[2:]


def test_a_handoff_in_an_openai_agents_trace_is_one_step() -> None:
    document = EXPORTS["OpenAI Agents SDK"]()
    span = document["data"][3] | {"id": "span_5", "error": None}
    span["span_data"] = {"type": "handoff", "from_agent": "weather", "to_agent": "refunds"}
    message = rebuilt(json.dumps({"data": [*document["data"], span]}).encode())
    assert message.count("handoff refunds") == 1


def test_generations_of_the_javascript_openai_agents_sdk_are_read() -> None:
    document = EXPORTS["OpenAI Agents SDK"]()
    for span in document["data"][1:]:
        data = span["span_data"]
        if data["type"] == "generation":
            usage = {"prompt_tokens": 4, "completion_tokens": 3}
            del data["usage"]
            data["output"] = [{"choices": [{"message": data["output"][0]}], "usage": usage}]
    assert rebuilt(json.dumps(document).encode()) == RUN


def test_a_list_of_langfuse_traces_without_observations_is_reported() -> None:
    listed = {"data": [{"id": "t1", "name": "x", "observations": ["o1", "o2"]}]}
    source = SpanFiles([io.BytesIO(json.dumps(listed).encode())])
    assert list(source.spans()) == []
    (problem,) = source.problems
    assert "only the ids of its observations; hint: export the trace" in problem.message


def rebuilt(data: bytes) -> str:
    """The one run in a file, a line for what it was and for each of its steps."""
    source = SpanFiles([io.BytesIO(data)])
    (result,) = rebuild(source.spans())
    assert source.problems == []
    return shown(result.trace)


def shown(trace: ReasoningTrace) -> str:
    value = encode(trace)
    tokens = value["metrics"].get("total_tokens")
    lines = [f"{value.get('agent_id')} {value.get('session_id')} {value['status']} {tokens} tokens",
             f"{value['input']} -> {value['output']}"]  # fmt: skip
    for step in value["steps"]:
        content = step.get("content", step.get("to_agent"))
        if call := step.get("tool_call"):
            content = f"{call['name']} {json.dumps(call['arguments'])}"
        elif result := step.get("tool_result"):
            content = result["error"]
        lines.append(f"{step['type']} {content}")
    return "\n".join(lines)
