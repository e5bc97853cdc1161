"""Datadog LLM Observability: spans of its export API and of its intake.

    export    {"type": "span", "attributes": {"trace_id", "span_id", "parent_id", "span_kind",
              "start_ns" or "start_ms", "duration" in ns, "input", "output", "metrics"}}
    intake    {"ml_app", "session_id", "spans": [{…, "meta": {"kind", "input", "output",
              "model_name", "error"}}]}

Datadog reads spans of OpenTelemetry by their GenAI names, so these get the same ones. Its cost
metrics are estimates in a unit that their name does not tell, and are left.

Source: Datadog documentation, LLM Observability HTTP API and Export API; DataDog/dd-trace-py
ddtrace/llmobs/_llmobs.py v4.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.messages import Part, message, text, tool_call, tool_response
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_OPERATIONS = {"llm": "chat", "agent": "invoke_agent", "tool": "execute_tool",
               "embedding": "embeddings", "retrieval": "retrieval"}  # fmt: skip
_KIND = ("span_kind", "kind", "span.kind")
_METRICS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "total_tokens": "gen_ai.usage.total_tokens",
    "cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_input_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_output_tokens": "gen_ai.usage.reasoning.output_tokens",
}
_NONE = ("undefined", "0", "")
"""Placeholders for no parent."""
_SESSION = "session_id:"


def _recognises(o: Object) -> bool:
    return _is_span(v.obj(o.get("attributes"))) or any(
        _is_span(v.obj(span)) for span in v.array(o.get("spans"))[:1]
    )


def _is_span(o: Object) -> bool:
    meta = v.obj(o.get("meta"))
    return (
        "span_id" in o
        and "trace_id" in o
        and ("span_kind" in o or v.first(meta, *_KIND) is not None)
        and ("start_ns" in o or "start_ms" in o)
    )


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    if "spans" in o:
        return each(o["spans"], lambda span: _record(span, o), report)
    return each([o["attributes"]], lambda span: _record(span, {}), report)


def _record(o: Object, envelope: Object) -> SpanRecord:
    meta = {**o, **v.obj(o.get("meta"))}
    kind = v.text(v.first(meta, *_KIND))
    parent = None if o.get("parent_id") in _NONE else v.parent(o.get("parent_id"), decimal=True)
    operation = _OPERATIONS.get(kind)
    if kind == "workflow" and parent is None:  # below, it is a step of one
        operation = "invoke_workflow"
    error = v.obj(meta.get("error"))
    start = v.time_ns(o.get("start_ns"), 1) or v.time_ns(o.get("start_ms"), 10**6)
    duration = v.time_ns(o.get("duration"), 1) or 0
    attributes = _attributes(meta, operation, v.text(o.get("name")))
    v.put(attributes, "gen_ai.conversation.id", _session(o) or _session(envelope))
    v.put(attributes, "error.type", v.first(error, "type") or meta.get("error.type"))
    service = v.first(o, "ml_app", "service") or envelope.get("ml_app")
    return SpanRecord(
        v.identifier(o.get("trace_id"), 16),
        v.identifier(o.get("span_id"), 8, decimal=True),
        parent,
        v.text(o.get("name")),
        "CLIENT" if operation in ("chat", "embeddings") else "INTERNAL",
        start,
        None if start is None else start + duration,
        attributes,
        status=STATUS_ERROR if o.get("status") == "error" else "UNSET",
        status_message=v.text(v.first(error, "message") or meta.get("error.message")) or None,
        resource={"service.name": service} if service else {},
    )


def _session(o: Object) -> str:
    tags = (tag for tag in v.array(o.get("tags")) if isinstance(tag, str))
    tagged = next((tag for tag in tags if tag.startswith(_SESSION)), "")
    return v.text(o.get("session_id")) or tagged.removeprefix(_SESSION)


def _attributes(meta: Object, operation: str | None, name: str) -> Attributes:
    attributes: Attributes = {}
    v.put(attributes, "gen_ai.operation.name", operation)
    v.put(attributes, "gen_ai.request.model", meta.get("model_name"))
    v.put(attributes, "gen_ai.provider.name", meta.get("model_provider"))
    v.put(attributes, "gen_ai.tool.definitions", meta.get("tool_definitions"))
    for metric, attribute in _METRICS.items():
        value = v.obj(meta.get("metrics")).get(metric)
        v.put(attributes, attribute, int(value) if isinstance(value, float) else value)
    inputs, outputs = v.obj(meta.get("input")), v.obj(meta.get("output"))
    if operation == "execute_tool":
        v.put(attributes, "gen_ai.tool.name", name)
        v.put(attributes, "gen_ai.tool.call.arguments", inputs.get("value"))
        v.put(attributes, "gen_ai.tool.call.result", outputs.get("value"))
    elif operation == "retrieval":
        v.put(attributes, "gen_ai.retrieval.query.text", inputs.get("value"))
        v.put(attributes, "gen_ai.retrieval.documents", outputs.get("documents"))
    elif operation is not None:
        kind = {"invoke_agent": "agent", "invoke_workflow": "workflow"}.get(operation)
        if kind is not None:
            v.put(attributes, f"gen_ai.{kind}.name", name)
        v.put(attributes, "gen_ai.input.messages", _messages(inputs, "user"))
        v.put(attributes, "gen_ai.output.messages", _messages(outputs, "assistant"))
    return attributes


def _messages(content: Object, role: str) -> list[Json]:
    listed = [item for item in v.array(content.get("messages")) if isinstance(item, dict)]
    if not listed and content.get("value") not in (None, ""):
        value = content["value"]
        words = value if isinstance(value, str) else json_codec.dumps(v.bounded_value(value))
        return [message(role, [text(words)])]
    return [message(v.text(item.get("role")) or role, _parts(item)) for item in listed]


def _parts(entry: Object) -> list[Part]:
    words = v.text(entry.get("content"))
    calls = map(v.obj, v.array(entry.get("tool_calls")))
    results = list(map(v.obj, v.array(entry.get("tool_results"))))
    return [
        *([text(words)] if words and not results else ()),
        *(
            tool_call(v.text(call.get("name")), call.get("arguments"), _call_id(call))
            for call in calls
        ),
        *(tool_response(result.get("result"), _call_id(result)) for result in results),
    ]


def _call_id(call: Object) -> str | None:
    return v.text(call.get("tool_id")) or None


CONTAINER = Container(
    "Datadog LLM Observability",
    '{"trace_id", "span_id", "span_kind", "start_ns", "input", "output", "metrics"}',
    _recognises,
    _spans,
    ("links, events, the scope and the resource but for the name of the application are not kept",),
)
