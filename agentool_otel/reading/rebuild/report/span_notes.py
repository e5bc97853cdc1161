"""Notes on the spans of a run, beside those on the fields of its trace.

Which dialect each was read with and why, which attributes hold a placeholder or a cut value instead
of content, and which spans only repeat another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.dialects import match_dialect
from agentool_otel.dialects.kit.cut_json import is_cut_json, is_json
from agentool_otel.dialects.kit.reading import PLACEHOLDERS
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.model.spans import Damage, SpanRecord
from agentool_otel.model.times import in_calendar
from agentool_otel.reading.rebuild.report.fidelity import Note, Outcome, SpanReading
from agentool_otel.reading.rebuild.steps.model_calls import AT_ONCE
from agentool_otel.reading.rebuild.steps.tool_calls import AROUND, ToolCalls, is_further_in
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool
from agentool_otel.semconv.redaction import cut_end

__all__ = [
    "OF_COLLECTORS",
    "compared_in_part",
    "cut_or_hidden",
    "damaged",
    "hashed_ids",
    "masked_on_the_way",
    "may_hide",
    "outside_the_calendar",
    "reading_of",
    "repeated",
    "without_ids",
]

_MASKED_KEYS = "redaction.masked.keys"
"""On spans and events: names, joined by commas, of the attributes that a Collector has masked or
hashed. Spec: opentelemetry-collector-contrib v0.155, redaction processor, `summary: debug`."""
OF_COLLECTORS = frozenset({_MASKED_KEYS, "redaction.masked.count"})

_MASK = "****"
"""Replacement by the same processor for a value, or for its secret part."""
_NOTHING = frozenset({"<not specified>", "<not serializable>", "N/A"})
"""Placeholders of values that were never there; all others hide a value."""
_SPACES = (item for item in map(chr, range(0x3001)) if item.isspace())
_ODD_ENDS = frozenset(
    ("]", ">", "*", ")", "\ufffd", *_SPACES, *(placeholder[-1] for placeholder in PLACEHOLDERS))
)
"""Placeholders and the ends of cut texts end in one of these; most other texts do not."""
_NOTED = frozenset({agentool.CONTENT_SHORTENED, agentool.CONTENT_REDACTED})
"""Attributes that name others whose values are not whole."""
_NOTES = _NOTED | OF_COLLECTORS
_JSON_STARTS = frozenset("{[")
_LABELS = (".id", "_id", ".name", "_name")
"""Ends of keys whose values are ids and names, which are never JSON."""
_LONGEST_PLACEHOLDER = max(map(len, PLACEHOLDERS))
_ATTRIBUTES, _RESOURCE = "attributes.", "resource."


def reading_of(node: Node) -> SpanReading:
    """Return how a span was read, and why so."""
    match = match_dialect(node.span)
    why = match.confidence.reason
    if match.tie is not None:
        why = match.tie.message
    return SpanReading(node.span.span_id, node.span.name, node.dialect, match.confidence.level, why)


def cut_or_hidden(node: Node) -> Iterator[Note]:
    """Yield a note for each attribute that holds a placeholder, or only a part of its value."""
    span_id = node.span.span_id
    damaged_values = {damage.where for damage in node.span.damaged}
    for key, value in node.span.attributes.items():
        if not isinstance(value, str) or f"{_ATTRIBUTES}{key}" in damaged_values:
            continue
        if value in PLACEHOLDERS and not _is_mask(value):
            outcome: Outcome = "not_captured" if value in _NOTHING else "redacted"
            yield Note(outcome, key, None, span_id, key, f"it says {value!r}")
        elif (end := cut_end(value)) is not None:
            yield Note("truncated", key, None, span_id, key, f"it ends in {end!r}")
        elif _is_cut_json(key, value):
            yield Note("truncated", key, None, span_id, key, "its JSON ends in the middle")


def may_hide(span: SpanRecord) -> bool:
    """Return whether an attribute of a span may be a placeholder or truncated. Reads only the span,
    so that a caller can do without a report.
    """
    if span.damaged or not _NOTES.isdisjoint(span.attributes):
        return True
    for key, value in span.attributes.items():
        if value.__class__ is not str or not value:
            continue
        if value[0] in _JSON_STARTS:
            if not is_json(value) and _hides(key, value):
                return True
        elif value[-1] in _ODD_ENDS and _hides(key, value):
            return True
    return any(not OF_COLLECTORS.isdisjoint(event.attributes) for event in span.events)


def _hides(key: str, value: str) -> bool:
    if len(value) <= _LONGEST_PLACEHOLDER and value in PLACEHOLDERS:
        return True
    return _is_mask(value) or _is_cut_json(key, value) or cut_end(value) is not None


def _is_cut_json(key: str, value: str) -> bool:
    return not key.endswith(_LABELS) and is_cut_json(value)


def masked_on_the_way(node: Node) -> Iterator[Note]:
    """Yield a note for each attribute, of a span or of its events, that a Collector has masked."""
    for attributes in (node.span.attributes, *(event.attributes for event in node.span.events)):
        named = attributes.get(_MASKED_KEYS)
        keys = dict.fromkeys(named.split(",") if isinstance(named, str) else ())
        keys |= dict.fromkeys(key for key, value in attributes.items() if _is_mask(value))
        if not OF_COLLECTORS.isdisjoint(attributes):
            keys |= dict.fromkeys(
                key
                for key, value in attributes.items()
                if isinstance(value, str) and _MASK in value
            )
        for key in keys:
            yield Note("redacted", key, None, node.span.span_id, key, "masked by a Collector")


def _is_mask(value: object) -> bool:
    return isinstance(value, str) and value[:4] == _MASK and not value.strip("*")


def without_ids(nodes: list[Node]) -> Iterator[Note]:
    """Yield a note for each span that came without one of its ids."""
    for node in nodes:
        if node.span.made_ids:
            rule = "made of content: the span came without a span id or a trace id"
            yield Note("inferred", "trace_id", None, node.span.span_id, None, rule)


def hashed_ids(nodes: list[Node]) -> Iterator[Note]:
    """Yield a note if ids of spans are hashes."""
    count = sum(node.span.hashed_ids for node in nodes)
    if count:
        of = "a span" if count == 1 else f"{count:,} spans"
        rule = f"hashes of the ids that {of} had, which have another size than OpenTelemetry's"
        yield Note("inferred", "span_id", None, None, None, rule)


def damaged(nodes: list[Node]) -> Iterator[Note]:
    """Yield a note for each value that was not all UTF-8, those of a resource once."""
    of_resources: set[Damage] = set()
    for node in nodes:
        span_id = node.span.span_id
        for damage in node.span.damaged:
            if damage.where.startswith(_RESOURCE):
                if damage in of_resources:
                    continue
                of_resources.add(damage)
            key = None
            if damage.where.startswith(_ATTRIBUTES):
                key = damage.where.removeprefix(_ATTRIBUTES)
            outcome: Outcome = "truncated" if damage.cut else "damaged"
            rule = "it ends within a character" if damage.cut else "bytes of it are no UTF-8"
            yield Note(outcome, key or damage.where, None, span_id, key, rule)


def outside_the_calendar(nodes: list[Node]) -> Iterator[Note]:
    """Yield a note for each time of a span that no calendar has, which counts as unknown."""
    for node in nodes:
        span = node.span
        for name, time_ns in (("start_ns", span.start_ns), ("end_ns", span.end_ns)):
            if time_ns is not None and not in_calendar(time_ns):
                rule = "it is outside the years 1 to 9999, and counts as unknown"
                yield Note("damaged", name, None, span.span_id, None, rule)


def compared_in_part(nodes: list[Node], unsure: list[Node], calls: ToolCalls) -> Iterator[Note]:
    """Yield a note for each call that was not compared with all spans that it may repeat.

    Args:
        nodes: the spans of a run.
        unsure: the model calls among these.
        calls: the tool calls of the run.
    """
    for node in unsure:
        rule = f"of its own: compared with the last {AT_ONCE} that went on when it began"
        yield Note("inferred", "model call", None, node.span.span_id, None, rule)
    for node, rule in calls.unnamed.items():
        yield Note("not_captured", "tool_call.id", None, node.span.span_id, None, rule)
    for node in nodes:
        if not _is_call(node) or node in calls.repeated:
            continue
        if is_further_in(node):
            rule = f"of its own: compared with the nearest {AROUND} tools around it"
            yield Note("inferred", "tool_call", None, node.span.span_id, None, rule)
        if (why := calls.unsure.get(node)) is not None:
            yield Note("inferred", "tool_call", None, node.span.span_id, None, f"of its own: {why}")


def repeated(nodes: list[Node], leaves: list[Node], calls: ToolCalls) -> Iterator[Note]:
    """Yield a note for each span that repeats another one, which the steps are of."""
    counted = {(node.span.trace_id, node.span.span_id) for node in leaves}
    for node in nodes:
        span_id = node.span.span_id
        if isinstance(node.operation, Inference):
            if (node.span.trace_id, span_id) not in counted:
                rule = "a model call around another: the inner one counts"
                yield Note("duplicate", "model call", None, span_id, None, rule)
        elif (how := calls.repeated.get(node)) is not None:
            yield Note("duplicate", "tool_call", None, span_id, None, how)


def _is_call(node: Node) -> bool:
    operation = node.operation
    if isinstance(operation, McpRequest):
        return operation.method == "tools/call"
    return isinstance(operation, ToolExecution)
