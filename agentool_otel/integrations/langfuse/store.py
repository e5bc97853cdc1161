"""Langfuse: traces and observations from its API, its UI and its exports.

    {"trace": {...}, "observations": [...]}, a trace with its `observations`, or an observation
    {"batch": [{"type": "span-create", "body": {...}}]}, as SDKs before version 3 send them; an
    update completes the observation of its id
    observations of a blob storage export, whose members are `trace_id`, `start_time`, …

What Langfuse keeps outside attributes goes back to the names of its own OpenTelemetry SDK:

    type            langfuse.observation.type       modelParameters  …observation.model.parameters
    input, output   langfuse.observation.input, .output              (text, or JSON as text)
    model           langfuse.observation.model.name usageDetails     …observation.usage_details
    level           langfuse.observation.level      costDetails      …observation.cost_details
    statusMessage   …observation.status_message     completionStartTime …completion_start_time
    promptName, promptVersion   …observation.prompt.name, .version
    metadata        its `attributes` are the original ones of the span and come back as they were,
                    other members as langfuse.observation.metadata.<name>
    of the trace    session.id and user.id on every span; langfuse.trace.name, .tags, .input,
                    .output, .public, .metadata.<name> on its roots; langfuse.environment,
                    .release and .version

Source: langfuse/langfuse packages/shared/src/server/otel/attributes.ts, API v3;
langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields, July 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_TYPES = frozenset({
    "SPAN", "GENERATION", "EVENT", "EMBEDDING", "AGENT", "TOOL", "CHAIN", "RETRIEVER",
    "GUARDRAIL", "EVALUATOR",
})  # fmt: skip
_OBSERVATION = "langfuse.observation."
_FIELDS = {
    "input": "input", "output": "output", "level": "level", "statusMessage": "status_message",
    "model": "model.name", "providedModelName": "model.name",
    "modelParameters": "model.parameters", "usageDetails": "usage_details",
    "costDetails": "cost_details", "completionStartTime": "completion_start_time",
    "promptName": "prompt.name", "promptVersion": "prompt.version",
}  # fmt: skip
_OLDER_USAGE = {"promptTokens": "input", "completionTokens": "output", "totalTokens": "total"}
_OLDER_COSTS = {"calculatedInputCost": "input", "calculatedOutputCost": "output",
                "calculatedTotalCost": "total"}  # fmt: skip
"""Fields of observations before version 3 of its server, and beside the newer ones since."""
_USERS = {"sessionId": "session.id", "userId": "user.id"}
_SENT = ("-create", "-update")
_ENVELOPE = ("attributes", "resourceAttributes", "scope")


def _recognises(o: Object) -> bool:
    if _is_observation(o) or isinstance(o.get("observations"), list):
        return True
    batch = o.get("batch")
    return isinstance(batch, list) and any(map(_is_sent, batch))


def _is_sent(event: Json) -> bool:
    """Return whether a value is an event of the ingestion API."""
    if not isinstance(event, dict) or not isinstance(event.get("body"), dict):
        return False
    return v.text(event.get("type")).endswith(_SENT)


def _is_observation(o: Object) -> bool:
    if "id" not in o:
        return False
    if "traceId" in o:
        return str(o.get("type")).upper() in _TYPES
    return "trace_id" in o and o.get("type") in _TYPES  # Opik's types are not in capitals


def _of_the_api(o: Object) -> Object:
    """Return an observation with the names of members that the API has."""
    if "traceId" in o:
        return o
    return {_camel_case(name): value for name, value in o.items()}


@lru_cache(512)
def _camel_case(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(map(str.capitalize, words))


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    if _is_observation(o):
        o = _of_the_api(o)
        is_root = not v.text(o.get("parentObservationId"))
        of_root = _of_its_trace(o) if is_root else {}
        yield from each([o], lambda item: _record(item, {}, of_root), report)
        return
    if "observations" not in o:
        yield from _sent(o["batch"], report)
        return
    if o["observations"] and all(isinstance(item, str) for item in o["observations"]):
        report(
            f"trace {o.get('id')!r} has only the ids of its observations; hint: export the trace "
            "by itself (GET /api/public/traces/<id>) or its observations"
        )
        return
    trace = o["trace"] if isinstance(o.get("trace"), dict) else o
    everywhere, roots = _of_trace(trace)
    ids = {v.text(v.obj(item).get("id")) for item in o["observations"]}

    def record(item: Object) -> SpanRecord:
        item.setdefault("traceId", trace.get("id"))
        is_root = v.text(item.get("parentObservationId")) not in ids - {""}
        return _record(item, everywhere, roots if is_root else {})

    yield from each(o["observations"], record, report)


def _sent(batch: list[Json], report: Report) -> Iterator[SpanRecord]:
    """Yield the spans of events of the ingestion API."""
    events = [event for event in batch if _is_sent(event)]
    traces = {
        str(event["body"].get("id")): _of_trace(event["body"])
        for event in events
        if event["type"] == "trace-create"
    }
    for event in events:
        kind, _, action = event["type"].rpartition("-")
        body = {**event["body"]}
        body["type"] = v.text(body.get("type")) or kind.upper()
        if body["type"].upper() not in _TYPES:
            continue
        everywhere, of_root = traces.get(str(body.get("traceId")), ({}, {}))
        is_root = action == "create" and body.get("parentObservationId") is None
        record = partial(_record, everywhere=everywhere, of_root=of_root if is_root else {})
        yield from each([body], record, report)


def _of_trace(trace: Object) -> tuple[Attributes, Attributes]:
    everywhere: Attributes = {}
    roots: Attributes = {}
    for name, attribute in _USERS.items():
        v.put(everywhere, attribute, trace.get(name))
    for name in ("environment", "release", "version"):
        v.put(everywhere, f"langfuse.{name}", trace.get(name))
    for name in ("name", "tags", "input", "output", "public"):
        v.put(roots, f"langfuse.trace.{name}", trace.get(name))
    for name, value in v.json_object(trace.get("metadata")).items():
        if name not in _ENVELOPE:
            v.put(roots, f"langfuse.trace.metadata.{name}", value)
    return everywhere, roots


def _of_its_trace(o: Object) -> Attributes:
    """Return the attributes of a trace that an enriched observation repeats."""
    roots: Attributes = {}
    v.put(roots, "langfuse.trace.name", o.get("traceName"))
    v.put(roots, "langfuse.trace.tags", o.get("tags"))
    return roots


def _record(o: Object, everywhere: Attributes, of_root: Attributes) -> SpanRecord:
    metadata = v.json_object(o.get("metadata"))
    attributes = v.attributes(v.json_object(metadata.get("attributes")))
    ours: Attributes = {_OBSERVATION + "type": v.text(o.get("type")).lower()}
    for name, attribute in _FIELDS.items():
        v.put(ours, _OBSERVATION + attribute, o.get(name))
    for name in ("environment", "version"):
        v.put(ours, f"langfuse.{name}", o.get(name))
    for name, attribute in _USERS.items():  # of an observation by itself, since API v2
        v.put(ours, attribute, o.get(name))
    for attribute, older in (("usage_details", _OLDER_USAGE), ("cost_details", _OLDER_COSTS)):
        counted = {part: o[name] for name, part in older.items() if o.get(name)}
        if _OBSERVATION + attribute not in ours:
            v.put(ours, _OBSERVATION + attribute, counted)
    if _OBSERVATION + "usage_details" not in ours and (usage := v.obj(o.get("usage"))):
        counts = {_OLDER_USAGE.get(name, name): usage[name] for name in usage}
        details = {name: counts[name] for name in _OLDER_USAGE.values() if counts.get(name)}
        v.put(ours, _OBSERVATION + "usage_details", details)
    for name, value in metadata.items():
        if name not in _ENVELOPE:
            v.put(ours, f"{_OBSERVATION}metadata.{name}", value)
    for added in (ours, everywhere, of_root):
        for name, value in added.items():
            attributes.setdefault(name, value)
    scope = v.json_object(metadata.get("scope")).get("name")
    return SpanRecord(
        v.identifier(o.get("traceId"), 16),
        v.identifier(o.get("id"), 8),
        v.parent(o.get("parentObservationId")),
        v.text(o.get("name")),
        "INTERNAL",
        start := v.time_ns(o.get("startTime")),
        v.time_ns(o.get("endTime")) or (start if o.get("type") == "EVENT" else None),
        attributes,
        [],
        [],
        STATUS_ERROR if o.get("level") == "ERROR" else "UNSET",
        v.text(o.get("statusMessage")) or None,
        v.text(scope),
        v.attributes(v.json_object(metadata.get("resourceAttributes"))),
    )


CONTAINER = Container(
    "a Langfuse export",
    '{"trace": {...}, "observations": [{"id", "traceId", "type", "startTime"}]}',
    _recognises,
    _spans,
    (
        "times are rounded to milliseconds",
        "the kind of the span, its links and its events are not kept",
        "of the status only ERROR is kept",
    ),
    members=("observations", "batch"),
)
