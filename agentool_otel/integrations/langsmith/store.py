"""LangSmith runs, from `Client.list_runs`, the API and bulk exports.

    {"id", "trace_id", "parent_run_id", "name", "run_type", "inputs", "outputs", "extra", "error"}
    {"post": [...], "patch": [...]}, the body of a batch; a patch completes the run of its id

What a run keeps outside attributes gets the names that LangSmith's own OTLP exporter writes:

    run_type   langsmith.span.kind, gen_ai.operation.name   name     langsmith.trace.name
    inputs     gen_ai.prompt (JSON text)                    outputs  gen_ai.completion (JSON text)
    session_*  langsmith.trace.session_id, .session_name    tags     langsmith.span.tags
    tokens     gen_ai.usage.{input,output,total}_tokens     name of a tool   gen_ai.tool.name
    extra.metadata           langsmith.metadata.<name>; ls_model_name is gen_ai.request.model and
                             ls_provider gen_ai.system
    extra.invocation_params  gen_ai.request.{max_tokens,temperature,…}, gen_ai.tool.definitions
    serialized               gen_ai.serialized.{name,signature,doc}
    total_cost               langsmith.cost.total, which the exporter has no name for

Source: langchain-ai/langsmith-sdk python/langsmith/_internal/otel/_otel_exporter.py v0.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanEvent, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_BATCH = ("post", "patch")
_MEMBERS = frozenset({"trace_id", "parent_run_id", "dotted_order", "inputs", "outputs"})
"""Members of which a run or a patch in a batch has some."""
_OPERATIONS = {"llm": "chat", "tool": "execute_tool", "retriever": "embeddings",
               "embedding": "embeddings", "prompt": "chat"}  # fmt: skip
_TOKENS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
           "total_tokens": "total_tokens"}  # fmt: skip
_PARAMETERS = ("max_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty")


def _recognises(o: Object) -> bool:
    if "id" in o and "run_type" in o and ("inputs" in o or "start_time" in o):
        return True
    return any(_is_sent(item) for name in _BATCH for item in v.array(o.get(name)))


def _is_sent(item: Json) -> bool:
    """Return whether a value is a run, or a patch of one, in the body of a batch."""
    return isinstance(item, dict) and "id" in item and not _MEMBERS.isdisjoint(item)


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    """Yield a run and the runs nested in it, or those of a batch."""
    if "id" not in o:
        sent = [item for name in _BATCH for item in v.array(o.get(name)) if _is_sent(item)]
        traces = {str(item["id"]): trace for item in sent if (trace := item.get("trace_id"))}
        for item in sent:
            item["trace_id"] = item.get("trace_id") or traces.get(str(item["id"]))
        yield from each(sent, _record, report)
        return
    runs = [o]
    for run in runs:  # grows while it is walked
        runs += [child for child in v.array(run.get("child_runs")) if isinstance(child, dict)]
        run.setdefault("trace_id", o.get("trace_id") or o["id"])
    yield from each(runs, _record, report)


def _record(o: Object) -> SpanRecord:
    error = v.text(o.get("error"))
    return SpanRecord(
        v.identifier(o.get("trace_id"), 16),
        v.identifier(o.get("id"), 8),
        v.parent(o.get("parent_run_id")),
        v.text(o.get("name")),
        "INTERNAL",
        v.time_ns(o.get("start_time")),
        v.time_ns(o.get("end_time")),
        _attributes(o),
        [
            SpanEvent(v.text(event.get("name")), v.time_ns(event.get("time")))
            for event in map(v.obj, v.array(o.get("events")))
        ],
        [],
        STATUS_ERROR if error or o.get("status") == "error" else "UNSET",
        error or None,
        "langsmith",
        {},
    )


def _attributes(o: Object) -> Attributes:
    attributes: Attributes = {}
    run_type = v.text(o.get("run_type"))
    v.put(attributes, "langsmith.span.kind", run_type)
    v.put(attributes, "gen_ai.operation.name", _OPERATIONS.get(run_type, run_type))
    v.put(attributes, "langsmith.trace.name", o.get("name"))
    v.put(attributes, "langsmith.trace.session_id", o.get("session_id"))
    v.put(attributes, "langsmith.trace.session_name", o.get("session_name"))
    v.put(attributes, "gen_ai.prompt", o.get("inputs"))
    v.put(attributes, "gen_ai.completion", o.get("outputs"))
    if run_type == "tool":
        v.put(attributes, "gen_ai.tool.name", o.get("name"))
    for name, attribute in _TOKENS.items():
        v.put(attributes, f"gen_ai.usage.{attribute}", o.get(name))
    v.put(attributes, "langsmith.cost.total", o.get("total_cost"))
    tags = o.get("tags")
    if isinstance(tags, list):
        v.put(attributes, "langsmith.span.tags", ", ".join(map(v.text, tags)))
    serialized = v.obj(o.get("serialized"))
    for name in ("name", "signature", "doc"):
        v.put(attributes, f"gen_ai.serialized.{name}", serialized.get(name))
    extra = v.json_object(o.get("extra"))
    metadata = v.json_object(extra.get("metadata"))
    call_id = v.first(extra, "tool_call_id") or metadata.get("tool_call_id")
    v.put(attributes, "gen_ai.tool.call.id", call_id)
    v.put(attributes, "gen_ai.request.model", metadata.get("ls_model_name"))
    v.put(attributes, "gen_ai.system", metadata.get("ls_provider"))
    for name, value in metadata.items():
        v.put(attributes, f"langsmith.metadata.{name}", value)
    parameters = v.json_object(extra.get("invocation_params"))
    v.put(attributes, "gen_ai.tool.definitions", parameters.get("tools"))
    for name in _PARAMETERS:
        v.put(attributes, f"gen_ai.request.{name}", parameters.get(name))
    v.put(attributes, "langsmith.span.runtime", extra.get("runtime"))
    return attributes


CONTAINER = Container(
    "LangSmith runs",
    '{"id", "trace_id", "run_type", "inputs", "outputs"}',
    _recognises,
    _spans,
    (
        "times are rounded to microseconds",
        "the kind of the span, its links, its scope and its resource are not kept",
        "of the status only an error is kept",
    ),
    members=("run_type", "patch"),
)
