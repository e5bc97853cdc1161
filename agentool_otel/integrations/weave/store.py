"""Weights & Biases Weave: calls from its query API, its client and its exports.

    {"id", "trace_id", "parent_id", "op_name", "started_at", "ended_at", "inputs", "output",
     "exception", "summary": {"usage": {model: {…}}, "weave": {"costs"}}, "thread_id",
     "attributes": {"weave": {"kind"}}}

They become attributes `weave.<name>`; `weave.usage` is the one entry of `summary.usage`, since a
call that has several repeats those of the calls inside it.

Source: wandb/weave weave/trace_server/trace_server_interface.py, `CallSchema`, v0.52.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]


def _recognises(o: Object) -> bool:
    return "op_name" in o and "trace_id" in o and "id" in o


def _record(o: Object) -> SpanRecord:
    name = v.text(o.get("op_name")).rpartition("/")[2].partition(":")[0]
    exception = v.text(o.get("exception")).rstrip()
    summary = v.json_object(o.get("summary"))
    weave = v.json_object(v.json_object(o.get("attributes")).get("weave"))
    attributes: Attributes = {"weave.op_name": name}
    v.put(attributes, "weave.kind", weave.get("kind"))
    v.put(attributes, "weave.inputs", o.get("inputs"))
    v.put(attributes, "weave.output", o.get("output"))
    v.put(attributes, "weave.thread_id", o.get("thread_id"))
    usage = v.json_object(summary.get("usage"))
    if len(usage) == 1:
        (model,) = usage
        v.put(attributes, "weave.model", model)
        v.put(attributes, "weave.usage", usage[model])
        costs = v.obj(v.json_object(v.json_object(summary.get("weave")).get("costs")).get(model))
        v.put(
            attributes, "weave.costs", {k: x for k, x in costs.items() if k.endswith("_total_cost")}
        )
    return SpanRecord(
        v.identifier(o.get("trace_id"), 16),
        v.identifier(o.get("id"), 8),
        v.parent(o.get("parent_id")),
        v.text(o.get("display_name")) or name,
        "INTERNAL",
        v.time_ns(o.get("started_at")),
        v.time_ns(o.get("ended_at")),
        attributes,
        status=STATUS_ERROR if exception else "UNSET",
        status_message=exception.rpartition("\n")[2] or None,
    )


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report, "op_name")


CONTAINER = Container(
    "Weave calls",
    '{"id", "trace_id", "parent_id", "op_name", "inputs", "output", "summary"}',
    _recognises,
    _spans,
    (
        "the kind of the span, its links, its events, its scope and its resource are not kept",
        "of the status only an exception is kept",
    ),
)
