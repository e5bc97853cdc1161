"""One run as the exports of stores have it: asked, it called a tool that failed, and answered.

Each function gives the JSON of one store's API or file, reduced to what tells the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["EXPORTS", "TRACE", "as_csv", "row_of"]

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
_BEGIN = 1_763_771_400


class Did(NamedTuple):
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
        """What the conventions call it, as stores keep it: all text but the counts."""
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
    Did(1, "agent", "weather", ASKED, ANSWERED, 0, 9),
    Did(2, "llm", "call", SENT, GOT, 1, 2),
    Did(3, "tool", "get_weather", ARGUMENTS, None, 3, 4),
    Did(4, "llm", "call", SENT_THEN, GOT_THEN, 5, 8),
)


def iso(second: int) -> str:
    return f"2025-11-22T00:30:0{second}.000Z"


def ns(second: int) -> int:
    return (_BEGIN + second) * 10**9


def _usage(it: Did, *names: str) -> Json:
    return dict(zip(names, (4, 3), strict=True)) if it.asks_model else {}


def row_of(it: Did) -> dict[str, Json]:
    """A row of a column store."""
    return {
        "trace_id": TRACE, "span_id": it.span_id, "parent_span_id": it.parent, "name": it.name,
        "start_time": iso(it.begins), "end_time": iso(it.ends),
        "attributes": json.dumps(it.attributes()),
        "status_code": "ERROR" if it.failed else "UNSET",
        "status_message": FAILED if it.failed else None,
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
        "rows": [[*it.values()] for it in rows],
    }


def _clickhouse_compact() -> Json:
    rows = list(map(row_of, RUN))
    names = [{"name": name, "type": "String"} for name in rows[0]]
    return {"meta": names, "data": [[*it.values()] for it in rows], "rows": len(rows)}


def _bigquery() -> Json:
    rows = list(map(row_of, RUN))
    cells = [{"f": [{"v": value} for value in it.values()]} for it in rows]
    return {"schema": {"fields": [{"name": name} for name in rows[0]]}, "rows": cells}


def _columns_of_values() -> Json:
    rows = list(map(row_of, RUN))
    return {"columns": [{"name": name, "values": [it[name] for it in rows]} for name in rows[0]]}


def _fields_and_columns() -> Json:
    rows = list(map(row_of, RUN))
    columns = [[it[name] for it in rows] for name in rows[0]]
    return {"tables": [{"fields": [{"name": name} for name in rows[0]], "columns": columns}]}


def _data_frame() -> Json:
    rows = list(map(row_of, RUN))
    return {name: {str(at): it[name] for at, it in enumerate(rows)} for name in rows[0]}


def _data_frame_split() -> Json:
    rows = list(map(row_of, RUN))
    return {"columns": [*rows[0]], "index": [0, 1, 2, 3], "data": [[*it.values()] for it in rows]}


def _logfire() -> Json:
    return {"rows": [
        {"trace_id": TRACE, "span_id": it.span_id, "parent_span_id": it.parent, "kind": "span",
         "span_name": it.name, "start_timestamp": iso(it.begins), "end_timestamp": iso(it.ends),
         "otel_scope_name": "x", "otel_status_code": "ERROR" if it.failed else None,
         "otel_status_message": FAILED if it.failed else None, "attributes": it.attributes()}
        for it in RUN
    ]}  # fmt: skip


def _honeycomb() -> Json:
    return {"data": {"results": [{"data": {
        "timestamp": iso(it.begins), "trace.trace_id": TRACE, "trace.span_id": it.span_id,
        "trace.parent_id": it.parent, "name": it.name, "duration_ms": (it.ends - it.begins) * 1000,
        "error": it.failed, "status_message": FAILED if it.failed else None, **it.attributes(),
    }} for it in RUN]}}  # fmt: skip


def _new_relic() -> Json:
    return {"results": [{
        "timestamp": ns(it.begins) // 10**6, "trace.id": TRACE, "guid": it.span_id, "name": it.name,
        "id": it.span_id, "parent.id": it.parent, "duration.ms": (it.ends - it.begins) * 1000,
        "otel.status_code": "ERROR" if it.failed else None,
        "otel.status_description": FAILED if it.failed else None, **it.attributes(),
    } for it in RUN]}  # fmt: skip


def _opensearch() -> Json:
    return {"hits": {"hits": [{"_source": {
        "traceId": TRACE, "spanId": it.span_id, "parentSpanId": it.parent or "", "name": it.name,
        "startTime": iso(it.begins), "durationInNanos": (it.ends - it.begins) * 10**9,
        "status.code": 2 if it.failed else 0, "status.message": FAILED if it.failed else "",
        **{f"span.attributes.{k.replace('.', '@')}": v for k, v in it.attributes().items()},
    }} for it in RUN]}}  # fmt: skip


def _axiom() -> Json:
    return {"matches": [{"_time": iso(it.begins), "data": {
        "trace_id": TRACE, "span_id": it.span_id, "parent_span_id": it.parent, "name": it.name,
        "duration": f"{it.ends - it.begins}s", "status.code": "ERROR" if it.failed else None,
        "status.message": FAILED if it.failed else None,
        **{f"attributes.{k}": v for k, v in it.attributes().items()},
    }} for it in RUN]}  # fmt: skip


def _datadog_apm() -> Json:
    return {"data": [{"type": "spans", "attributes": {
        "trace_id": TRACE, "span_id": it.span_id, "parent_id": it.parent or "0",
        "resource_name": it.name, "start_timestamp": iso(it.begins), "end_timestamp": iso(it.ends),
        "status": "error" if it.failed else "ok", "status_message": FAILED,
        "custom": it.attributes(),
    }} for it in RUN]}  # fmt: skip


def _application_insights() -> Json:
    rows: list[Json] = [{
        "timestamp": iso(it.begins), "id": it.span_id, "operation_Id": TRACE, "type": "InProc",
        "operation_ParentId": it.parent or TRACE, "name": it.name, "itemType": "dependency",
        "duration": (it.ends - it.begins) * 1000, "success": str(not it.failed),
        "customDimensions": json.dumps(it.attributes()),
    } for it in RUN]  # fmt: skip
    raised = {
        "timestamp": iso(4), "operation_Id": TRACE, "operation_ParentId": RUN[2].span_id,
        "itemType": "exception", "outerMessage": FAILED, "problemId": "ValueError",
        "customDimensions": "{}",
    }  # fmt: skip
    return [*rows, raised]


def _log_analytics() -> Json:
    names = {"timestamp": "TimeGenerated", "id": "Id", "operation_Id": "OperationId",
             "operation_ParentId": "ParentId", "name": "Name", "type": "DependencyType",
             "duration": "DurationMs", "success": "Success", "customDimensions": "Properties",
             "outerMessage": "OuterMessage", "problemId": "ProblemId",
             "itemType": "Type"}  # fmt: skip
    kinds = {"dependency": "AppDependencies", "exception": "AppExceptions"}
    return [{names[k]: kinds.get(v, v) if k == "itemType" else v for k, v in row.items()}
            for row in _application_insights()]  # fmt: skip


def _google_cloud_1() -> Json:
    return {"traces": [{"projectId": "p", "traceId": TRACE, "spans": [
        {"spanId": str(int(it.span_id, 16)), "name": it.name, "startTime": iso(it.begins),
         "endTime": iso(it.ends), "labels": {
             **{k: str(v) for k, v in it.attributes().items()},
             **({"/error/message": FAILED} if it.failed else {})},
         **({"parentSpanId": str(int(it.parent, 16))} if it.parent else {})}
        for it in RUN
    ]}]}  # fmt: skip


def _google_cloud_2() -> Json:
    def value(given: Json) -> Json:
        return {"intValue": str(given)} if type(given) is int else {"stringValue": {"value": given}}

    return {"spans": [{
        "name": f"projects/p/traces/{TRACE}/spans/{it.span_id}", "spanId": it.span_id,
        "parentSpanId": it.parent, "displayName": {"value": it.name}, "startTime": iso(it.begins),
        "endTime": iso(it.ends), "status": {"code": 2, "message": FAILED} if it.failed else {},
        "attributes": {"attributeMap": {k: value(v) for k, v in it.attributes().items()}},
    } for it in RUN]}  # fmt: skip


def _sentry() -> Json:
    first, *others = RUN
    return {
        "type": "transaction", "transaction": "weather", "start_timestamp": _BEGIN,
        "timestamp": _BEGIN + 9,
        "contexts": {"trace": {"trace_id": TRACE, "span_id": first.span_id, "status": "ok",
                               "op": "gen_ai.invoke_agent", "data": first.attributes()}},
        "spans": [{
            "trace_id": TRACE, "span_id": it.span_id, "parent_span_id": it.parent,
            "op": "gen_ai.x", "description": it.name, "data": it.attributes(),
            "start_timestamp": _BEGIN + it.begins, "timestamp": _BEGIN + it.ends,
            "status": "internal_error" if it.failed else "ok",
        } for it in others],
    }  # fmt: skip


def _braintrust() -> Json:
    kinds = {"agent": "task"}
    return {"events": [{
        "id": it.uuid(), "span_id": it.uuid(), "root_span_id": RUN[0].uuid(),
        "span_parents": [RUN[0].uuid()] if it.parent else None,
        "span_attributes": {"name": it.name, "type": kinds.get(it.kind, it.kind)},
        "input": it.given, "output": [{"message": it.gave}] if it.asks_model else it.gave,
        "error": FAILED if it.failed else None,
        "metadata": {"model": "gpt-5"} if it.asks_model else {"session_id": "s1"},
        "metrics": {"start": _BEGIN + it.begins, "end": _BEGIN + it.ends,
                    **_usage(it, "prompt_tokens", "completion_tokens")},
    } for it in RUN]}  # fmt: skip


def _weave() -> Json:
    names = {"llm": "openai.chat.completions.create"}
    return [{
        "id": it.uuid(), "trace_id": TRACE, "parent_id": it.parent_uuid(), "thread_id": "s1",
        "op_name": f"weave:///e/p/op/{names.get(it.kind, it.name)}:abc",
        "started_at": iso(it.begins), "ended_at": iso(it.ends),
        "attributes": {"weave": {"kind": it.kind}},
        "inputs": {"model": "gpt-5", "messages": it.given} if it.asks_model else it.given,
        "output": {"choices": [{"message": it.gave}]} if it.asks_model else it.gave,
        "exception": f"Traceback:\n  x\n{FAILED}" if it.failed else None,
        "summary": {"usage": {"gpt-5": _usage(it, "prompt_tokens", "completion_tokens")}},
    } for it in RUN]  # fmt: skip


def _opik() -> Json:
    first, *others = RUN
    return {
        "trace": {"id": TRACE, "project_id": "p", "name": first.name, "thread_id": "s1",
                  "start_time": iso(0), "end_time": iso(9), "input": {"input": first.given},
                  "output": {"output": first.gave}, "usage": {"total_tokens": 14}},
        "spans": [{
            "id": it.uuid(), "trace_id": TRACE, "name": it.name, "type": it.kind,
            "start_time": iso(it.begins), "end_time": iso(it.ends),
            "input": {"messages": it.given} if it.asks_model else it.given,
            "output": {"choices": [{"message": it.gave}]} if it.asks_model else None,
            "usage": _usage(it, "prompt_tokens", "completion_tokens"),
            "error_info": {"exception_type": "E", "message": FAILED} if it.failed else None,
        } for it in others],
    }  # fmt: skip


def _datadog() -> list[Json]:
    def messages(said: list[Json]) -> Json:
        return {"messages": [{
            "role": one["role"], "content": one.get("content", ""),
            "tool_calls": [{"name": "get_weather", "arguments": ARGUMENTS, "tool_id": "c1"}
                           for _ in one.get("tool_calls", ())],
            "tool_results": [{"result": FAILED, "tool_id": "c1"}] if one["role"] == "tool" else [],
        } for one in said]}  # fmt: skip

    def value(said: Json) -> Json:
        return {} if said is None else {"value": said if type(said) is str else json.dumps(said)}

    return [{
        "trace_id": TRACE, "span_id": str(int(it.span_id, 16)), "name": it.name,
        "parent_id": str(int(it.parent, 16)) if it.parent else "undefined",
        "start_ns": ns(it.begins), "duration": (it.ends - it.begins) * 10**9,
        "status": "error" if it.failed else "ok",
        "metrics": _usage(it, "input_tokens", "output_tokens"),
        "meta": {
            "kind": it.kind, "error": {"message": FAILED} if it.failed else {},
            "input": messages(it.given) if it.asks_model else value(it.given),
            "output": messages([it.gave]) if it.asks_model else value(it.gave),
        },
    } for it in RUN]  # fmt: skip


def _datadog_intake() -> Json:
    around = {"ml_app": "bot", "session_id": "s1", "spans": _datadog()}
    return {"data": {"type": "span", "attributes": around}}


def _datadog_export() -> Json:
    return {"data": [
        {"type": "span", "attributes": {
            **{k: v for k, v in it.items() if k != "meta"}, "tags": ["env:x", "session_id:s1"],
            "span_kind": it["meta"]["kind"], "input": it["meta"]["input"],
            "output": it["meta"]["output"], "error": it["meta"]["error"]}}
        for it in _datadog()
    ]}  # fmt: skip


def _openai_agents() -> Json:
    kinds = {"llm": "generation", "tool": "function"}

    def data(it: Did) -> Json:
        said = {"type": kinds.get(it.kind, it.kind), "name": it.name}
        if it.kind == "tool":
            return {**said, "input": json.dumps(it.given), "output": None}
        usage = _usage(it, "input_tokens", "output_tokens")
        return {**said, "input": it.given, "output": [it.gave], "usage": usage}

    trace = {"object": "trace", "id": f"trace_{TRACE}", "workflow_name": "w", "group_id": "s1"}
    spans = [{
        "object": "trace.span", "id": f"span_{it.number}", "trace_id": f"trace_{TRACE}",
        "parent_id": "span_1" if it.parent else None, "started_at": iso(it.begins),
        "ended_at": iso(it.ends), "span_data": data(it),
        "error": {"message": "failed", "data": {"error": FAILED}} if it.failed else None,
    } for it in RUN]  # fmt: skip
    return {"data": [trace, *spans]}


def _langfuse_observations() -> Json:
    kinds = {"llm": "GENERATION", "tool": "TOOL", "agent": "AGENT"}
    return {"data": [{
        "id": it.span_id, "traceId": TRACE, "type": kinds[it.kind], "name": it.name,
        "parentObservationId": it.parent, "startTime": iso(it.begins), "endTime": iso(it.ends),
        "input": it.given, "output": it.gave, "level": "ERROR" if it.failed else "DEFAULT",
        "statusMessage": FAILED if it.failed else None, "sessionId": "s1",
        "providedModelName": "gpt-5", "usageDetails": _usage(it, "input", "output"),
    } for it in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "rows under columns": _rows_and_columns,
    "ClickHouse JSONCompact": _clickhouse_compact,
    "BigQuery rows": _bigquery,
    "columns of values": _columns_of_values,
    "fields and columns": _fields_and_columns,
    "a data frame": _data_frame,
    "a split data frame": _data_frame_split,
    "Logfire rows": _logfire,
    "Honeycomb": _honeycomb,
    "New Relic": _new_relic,
    "OpenSearch": _opensearch,
    "Axiom": _axiom,
    "Datadog APM": _datadog_apm,
    "Application Insights": _application_insights,
    "Log Analytics": _log_analytics,
    "Google Cloud Trace v1": _google_cloud_1,
    "Google Cloud Trace v2": _google_cloud_2,
    "Sentry": _sentry,
    "Braintrust": _braintrust,
    "Weave": _weave,
    "Opik": _opik,
    "Datadog LLM Observability intake": _datadog_intake,
    "Datadog LLM Observability export": _datadog_export,
    "OpenAI Agents SDK": _openai_agents,
    "Langfuse observations v2": _langfuse_observations,
}
