"""One run as the exports of stores have it: an input, a failed tool call and an answer.

Each function gives the JSON of one API or file, reduced to the data of the run. Those of products
are in `tests/integrations/<product>/exports.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "ANSWERED",
    "ARGUMENTS",
    "ASKED",
    "BEGIN",
    "EXPORTS",
    "FAILED",
    "GOT",
    "GOT_THEN",
    "RUN",
    "SENT",
    "SENT_THEN",
    "TRACE",
    "Act",
    "Json",
    "as_csv",
    "iso",
    "ns",
    "row_of",
    "usage",
]

Json = Any

TRACE = "0af7651916cd43dd8448eb211c80319c"
ASKED, ANSWERED = "Weather in Rome?", "I do not know."
ARGUMENTS, FAILED = {"city": "Rome"}, "no station"
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather"}}
CALL["function"]["arguments"] = json.dumps(ARGUMENTS)  # type: ignore[index]
SENT = [{"role": "user", "content": ASKED}]
GOT = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
SENT_THEN = [*SENT, GOT, {"role": "tool", "tool_call_id": "c1", "content": FAILED}]
GOT_THEN = {"role": "assistant", "content": ANSWERED}
BEGIN = 1_763_771_400


class Act(NamedTuple):
    number: int
    kind: str
    name: str
    given: Json
    gave: Json
    begins: int
    ends: int

    @property
    def span_id(self) -> str:
        return f"00f067aa0ba902b{self.number}"

    @property
    def parent(self) -> str | None:
        return None if self.number == 1 else RUN[0].span_id

    @property
    def failed(self) -> bool:
        return self.kind == "tool"

    @property
    def asks_model(self) -> bool:
        return self.kind == "llm"

    def uuid(self) -> str:
        return f"00000000-0000-4000-8000-00000000000{self.number}"

    def parent_uuid(self) -> str | None:
        return None if self.number == 1 else RUN[0].uuid()

    def attributes(self) -> dict[str, Json]:
        """Return its attributes by the conventions, as stores keep them: all text but the
        counts.
        """
        if self.kind == "agent":
            return {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": self.name,
                "gen_ai.conversation.id": "s1",
                "gen_ai.input.messages": json.dumps(SENT),
                "gen_ai.output.messages": json.dumps([GOT_THEN]),
            }
        if self.failed:
            return {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": self.name,
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": json.dumps(self.given),
            }
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.input.messages": json.dumps(self.given),
            "gen_ai.output.messages": json.dumps([self.gave]),
            "gen_ai.usage.input_tokens": 4,
            "gen_ai.usage.output_tokens": 3,
        }


RUN = (
    Act(1, "agent", "weather", ASKED, ANSWERED, 0, 9),
    Act(2, "llm", "call", SENT, GOT, 1, 2),
    Act(3, "tool", "get_weather", ARGUMENTS, None, 3, 4),
    Act(4, "llm", "call", SENT_THEN, GOT_THEN, 5, 8),
)


def iso(second: int) -> str:
    return f"2025-11-22T00:30:0{second}.000Z"


def ns(second: int) -> int:
    return (BEGIN + second) * 10**9


def usage(act: Act, *names: str) -> Json:
    return dict(zip(names, (4, 3), strict=True)) if act.asks_model else {}


def row_of(act: Act) -> dict[str, Json]:
    """A row of a column store."""
    return {
        "trace_id": TRACE, "span_id": act.span_id, "parent_span_id": act.parent, "name": act.name,
        "start_time": iso(act.begins), "end_time": iso(act.ends),
        "attributes": json.dumps(act.attributes()),
        "status_code": "ERROR" if act.failed else "UNSET",
        "status_message": FAILED if act.failed else None,
    }  # fmt: skip


def as_csv() -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, row_of(RUN[0]))
    writer.writeheader()
    writer.writerows(map(row_of, RUN))
    return text.getvalue()


def _rows_and_columns() -> Json:
    rows = list(map(row_of, RUN))
    return {
        "columns": [{"name": name} for name in rows[0]],
        "rows": [[*row.values()] for row in rows],
    }


def _clickhouse_compact() -> Json:
    rows = list(map(row_of, RUN))
    names = [{"name": name, "type": "String"} for name in rows[0]]
    return {"meta": names, "data": [[*row.values()] for row in rows], "rows": len(rows)}


def _bigquery() -> Json:
    rows = list(map(row_of, RUN))
    cells = [{"f": [{"v": value} for value in row.values()]} for row in rows]
    return {"schema": {"fields": [{"name": name} for name in rows[0]]}, "rows": cells}


def _columns_of_values() -> Json:
    rows = list(map(row_of, RUN))
    return {"columns": [{"name": name, "values": [row[name] for row in rows]} for name in rows[0]]}


def _fields_and_columns() -> Json:
    rows = list(map(row_of, RUN))
    columns = [[row[name] for row in rows] for name in rows[0]]
    return {"tables": [{"fields": [{"name": name} for name in rows[0]], "columns": columns}]}


def _data_frame() -> Json:
    rows = list(map(row_of, RUN))
    return {name: {str(at): row[name] for at, row in enumerate(rows)} for name in rows[0]}


def _data_frame_split() -> Json:
    rows = list(map(row_of, RUN))
    return {"columns": [*rows[0]], "index": [0, 1, 2, 3], "data": [[*row.values()] for row in rows]}


def _honeycomb() -> Json:
    return {"data": {"results": [{"data": {
        "timestamp": iso(act.begins), "trace.trace_id": TRACE, "trace.span_id": act.span_id,
        "trace.parent_id": act.parent, "name": act.name,
        "duration_ms": (act.ends - act.begins) * 1000,
        "error": act.failed, "status_message": FAILED if act.failed else None, **act.attributes(),
    }} for act in RUN]}}  # fmt: skip


def _new_relic() -> Json:
    return {"results": [{
        "timestamp": ns(act.begins) // 10**6, "trace.id": TRACE, "guid": act.span_id,
        "name": act.name, "id": act.span_id, "parent.id": act.parent,
        "duration.ms": (act.ends - act.begins) * 1000,
        "otel.status_code": "ERROR" if act.failed else None,
        "otel.status_description": FAILED if act.failed else None, **act.attributes(),
    } for act in RUN]}  # fmt: skip


def _opensearch() -> Json:
    return {"hits": {"hits": [{"_source": {
        "traceId": TRACE, "spanId": act.span_id, "parentSpanId": act.parent or "", "name": act.name,
        "startTime": iso(act.begins), "durationInNanos": (act.ends - act.begins) * 10**9,
        "status.code": 2 if act.failed else 0, "status.message": FAILED if act.failed else "",
        **{f"span.attributes.{k.replace('.', '@')}": v for k, v in act.attributes().items()},
    }} for act in RUN]}}  # fmt: skip


def _axiom() -> Json:
    return {"matches": [{"_time": iso(act.begins), "data": {
        "trace_id": TRACE, "span_id": act.span_id, "parent_span_id": act.parent, "name": act.name,
        "duration": f"{act.ends - act.begins}s", "status.code": "ERROR" if act.failed else None,
        "status.message": FAILED if act.failed else None,
        **{f"attributes.{k}": v for k, v in act.attributes().items()},
    }} for act in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "rows under columns": _rows_and_columns,
    "ClickHouse JSONCompact": _clickhouse_compact,
    "BigQuery rows": _bigquery,
    "columns of values": _columns_of_values,
    "fields and columns": _fields_and_columns,
    "a data frame": _data_frame,
    "a split data frame": _data_frame_split,
    "Honeycomb": _honeycomb,
    "New Relic": _new_relic,
    "OpenSearch": _opensearch,
    "Axiom": _axiom,
}
