"""OpenAI Agents SDK: its own traces, as `Span.export()` gives them to any trace processor.

    {"object": "trace", "id", "workflow_name", "group_id", "metadata"}
    {"object": "trace.span", "id", "trace_id", "parent_id", "started_at", "ended_at", "error",
     "span_data": {"type": "agent" | "generation" | "response" | "function" | "handoff" | …}}

They get the names that OpenTelemetry's instrumentation of the SDK gives them. A trace is the span
around its spans; nothing tells when it was. What a `response` span asked and answered is only in
OpenAI's dashboard.

Source: openai/openai-agents-python src/agents/tracing/{span_data,spans,traces}.py v0.24, which
openai-agents-js writes too, v0.20.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_OPERATIONS = {"agent": "invoke_agent", "generation": "chat", "response": "chat",
               "function": "execute_tool", "handoff": "execute_tool"}  # fmt: skip
_NAMES = {
    "generation": {"model": "gen_ai.request.model", "input": "gen_ai.input.messages",
                   "output": "gen_ai.output.messages"},
    "response": {"response_id": "gen_ai.response.id", "model": "gen_ai.request.model"},
    "function": {"name": "gen_ai.tool.name", "input": "gen_ai.tool.call.arguments",
                 "output": "gen_ai.tool.call.result"},
    "agent": {"name": "gen_ai.agent.name"},
    "handoff": {"from_agent": "gen_ai.handoff.from_agent", "to_agent": "gen_ai.handoff.to_agent"},
}  # fmt: skip
_OWN_ID = re.compile(r"trace_([0-9a-f]{32})")
_TOKENS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens",
           "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
           "total_tokens": "total_tokens"}  # fmt: skip


def _recognises(o: Object) -> bool:
    return o.get("object") in ("trace", "trace.span") and "id" in o


def _record(o: Object) -> SpanRecord:
    if o["object"] == "trace":
        return _trace(o)
    trace_id = v.text(o.get("trace_id"))
    data = v.obj(o.get("span_data"))
    kind = v.text(data.get("type"))
    error = v.obj(o.get("error"))
    attributes: Attributes = {}
    v.put(attributes, "gen_ai.operation.name", _OPERATIONS.get(kind))
    for name, attribute in _NAMES.get(kind, {}).items():
        v.put(attributes, attribute, data.get(name))
    answers = [v.obj(item) for item in v.array(data.get("output")) if kind == "generation"]
    complete = [answer for answer in answers if isinstance(answer.get("choices"), list)]
    if complete:  # of JavaScript: provider's responses, not messages
        choices = [
            v.obj(choice).get("message") for answer in complete for choice in answer["choices"]
        ]
        v.put(attributes, "gen_ai.output.messages", choices)
    usage = v.obj(v.first(data, "usage") or (complete[0].get("usage") if complete else None))
    for name, count in _TOKENS.items():
        v.put(attributes, f"gen_ai.usage.{count}", usage.get(name))
    if kind in ("generation", "response"):
        attributes["gen_ai.provider.name"] = "openai"
    if kind == "handoff":
        attributes["gen_ai.tool.name"] = f"transfer_to_{v.text(data.get('to_agent'))}"
    return SpanRecord(
        _trace_id(trace_id),
        v.identifier(o.get("id"), 8),
        v.parent(o.get("parent_id")) or v.identifier(trace_id, 8),
        v.text(data.get("name")) or kind,
        "INTERNAL",
        v.time_ns(o.get("started_at")),
        v.time_ns(o.get("ended_at")),
        attributes,
        status=STATUS_ERROR if error else "UNSET",
        status_message=_error_text(error),
        scope="openai.agents",
    )


def _trace(o: Object) -> SpanRecord:
    attributes: Attributes = {}
    v.put(attributes, "gen_ai.conversation.id", o.get("group_id"))
    return SpanRecord(
        _trace_id(o["id"]),
        v.identifier(o["id"], 8),
        name=v.text(o.get("workflow_name")),
        attributes=attributes,
        scope="openai.agents",
    )


def _trace_id(value: Json) -> str:
    text = v.text(value)
    digits = _OWN_ID.fullmatch(text)
    return v.identifier(digits[1] if digits else text, 16)


def _error_text(error: Object) -> str | None:
    raised = v.obj(error.get("data")).get("error")
    return v.text(raised) or v.text(error.get("message")) or None


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report, "id")


CONTAINER = Container(
    "traces of the OpenAI Agents SDK",
    '{"object": "trace.span", "id", "trace_id", "span_data": {"type"}}',
    _recognises,
    _spans,
    ("messages of `response` spans are not in them", "ids of tool calls are not in them"),
)
