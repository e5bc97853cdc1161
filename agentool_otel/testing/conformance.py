"""Do spans follow the conventions? For tests of an instrumentation, ours or anyone's.

    from agentool_otel.testing.conformance import assert_conformant

    def test_my_agent_is_traced_by_the_book(exporter):
        run_my_agent()
        assert_conformant(exporter.get_finished_spans())

What is checked against is `semconv.table`, the baseline `semconv.gen_ai.BASELINE` unless another
generation is named. The rules:

    name        operation and target, as the span type has it
    kind        CLIENT, INTERNAL or SERVER, as the span type has it
    required    attributes a span of the type always has
    must-not    attributes it never has
    type        string, integer, double, ... of each attribute
    value       the members of the few closed sets
    shape       JSON of messages, tool definitions, arguments, results, documents, records, with
                the members that the generation requires
    unknown     names in gen_ai.*, mcp.* and agentool.* that do not exist, or not in this generation
    deprecated  names that are called something else today
    proposed    names that are not in the conventions, or not yet
    operation   GenAI attributes on a span that does not say which operation it is, nor of which
                evaluation it is the result
    status      OK is never set
    error-type  present exactly when the status is ERROR
    exception   at most one exception event
    content     with `content=False`: nothing that people or models said
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from agentool_otel.ground.json_codec import loads
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanEvent, SpanRecord
from agentool_otel.semconv import core, gen_ai, mcp, table
from agentool_otel.semconv.marks import MARK_TRUNCATED
from agentool_otel.semconv.table import (
    ATTRIBUTES,
    EVENTS,
    NAMED_BY_US,
    OURS,
    PREFIXES,
    RENAMES,
    RESERVED,
    SHAPES,
    SPAN_TYPES,
    STRUCTURAL,
    Attribute,
    Generation,
    Schema,
    SpanType,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

__all__ = ["Violation", "assert_conformant", "check", "check_all"]


class Violation(NamedTuple):
    """One thing that is wrong with one span."""

    rule: str
    span_name: str
    attribute: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.span_name}: {self.message} [{self.rule}]"


class _Finding(NamedTuple):
    rule: str
    attribute: str | None
    message: str


def check(
    span: SpanRecord | ReadableSpan, *, content: bool = True, generation: str = gen_ai.BASELINE
) -> list[Violation]:
    """Return the violations of a span; empty if it follows the conventions.

    Args:
        span: a collected span, or one of the OpenTelemetry SDK that has ended.
        content: whether content may be present; False checks that none is.
        generation: the generation of the conventions that it is to follow.

    Raises:
        ConfigurationError: if the generation is not known.
    """
    record = span if isinstance(span, SpanRecord) else _record_of(span)
    findings: list[_Finding] = []
    events, shapes = EVENTS, SHAPES
    if generation not in (gen_ai.BASELINE, "latest"):
        of = table.generation(generation)
        record = _upgrade(record, of, findings)
        events = of.events | {name for name in EVENTS if name.startswith(OURS)}
        shapes = of.shapes
    findings += [*_check_span(record), *_check_attributes(record.attributes, shapes)]
    for event in record.events:
        findings += _check_event(event, events, shapes)
    if not content:
        findings += _check_no_content(record)
    return [
        Violation(finding.rule, record.name, finding.attribute, finding.message)
        for finding in findings
    ]


def check_all(
    spans: Iterable[SpanRecord | ReadableSpan],
    *,
    content: bool = True,
    generation: str = gen_ai.BASELINE,
) -> list[Violation]:
    """Return the violations of several spans, in their order."""
    return [
        violation
        for span in spans
        for violation in check(span, content=content, generation=generation)
    ]


def assert_conformant(
    spans: Iterable[SpanRecord | ReadableSpan],
    content: bool = True,
    generation: str = gen_ai.BASELINE,
) -> None:
    """Check several spans.

    Raises:
        AssertionError: listing every violation, one a line.
        ConfigurationError: if the generation is not known.
    """
    if violations := check_all(spans, content=content, generation=generation):
        count = "1 violation" if len(violations) == 1 else f"{len(violations)} violations"
        lines = "".join(f"\n  {violation}" for violation in violations)
        raise AssertionError(f"{count} of the GenAI conventions {generation}:{lines}")


# --------------------------------------------------------------------------- older generations


def _upgrade(span: SpanRecord, of: Generation, findings: list[_Finding]) -> SpanRecord:
    """Return a span of an older generation with the baseline's names; names that the generation
    lacks are among the findings.
    """
    return msgspec.structs.replace(
        span,
        attributes=_upgraded_names(span.attributes, of, findings),
        events=[
            SpanEvent(event.name, event.time_ns, _upgraded_names(event.attributes, of, findings))
            for event in span.events
        ],
    )


def _upgraded_names(attributes: Attributes, of: Generation, findings: list[_Finding]) -> Attributes:
    baseline = {of.name_of(name): name for name in (*of.absent, *of.names)}
    upgraded: Attributes = {}
    for name, value in attributes.items():
        today = of.name_of(name)
        if today != name and name not in baseline:
            message = f"{name} has no name in this generation, only {today}"
            if not today.startswith(OURS):
                message = f"{name} is called {today} in this generation"
            findings.append(_Finding("unknown", name, message))
        elif name.startswith(NAMED_BY_US):
            upgraded[name.removeprefix(OURS)] = value
        else:
            name = baseline.get(name, name)
            upgraded[name] = _as_integer(value) if name in of.doubles else value
    return upgraded


def _as_integer(value: Any) -> Any:
    """An integer of the baseline that was a double."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# --------------------------------------------------------------------------------- whole spans


def _check_span(span: SpanRecord) -> Iterator[_Finding]:
    yield from _check_outcome(span)
    candidates = _types_of(span)
    if not candidates:
        yield from _check_unnamed(span)
        return
    kinds = [kind for candidate in candidates for kind in candidate.kinds]
    if span.kind not in kinds:
        yield _Finding("kind", None, f"kind must be {' or '.join(kinds)}, is {span.kind}")
    of_kind = [candidate for candidate in candidates if span.kind in candidate.kinds]
    # Of an agent that is neither CLIENT nor INTERNAL, nothing more can be said than its kind.
    if of_kind or len(candidates) == 1:
        yield from _check_type(span, (of_kind or candidates)[0])


def _types_of(span: SpanRecord) -> list[SpanType]:
    """Return the types that a span may have: several only where its kind decides."""
    operation = span.attributes.get(gen_ai.OPERATION_NAME)
    if mcp.METHOD_NAME in span.attributes and (operation is None or span.kind != "INTERNAL"):
        return [span_type for span_type in SPAN_TYPES if not span_type.operations]
    return [span_type for span_type in SPAN_TYPES if operation in span_type.operations]


def _check_unnamed(span: SpanRecord) -> Iterator[_Finding]:
    if gen_ai.OPERATION_NAME in span.attributes:
        return  # an operation of someone's own: allowed, and nothing is known about it
    if gen_ai.EVALUATION_NAME in span.attributes:
        return  # what the event says of an evaluation, for stores that take no events
    stray = sorted(name for name in span.attributes if name.startswith(("gen_ai.", "mcp.")))
    if stray:
        message = f"{', '.join(stray)} without {gen_ai.OPERATION_NAME}"
        yield _Finding("operation", gen_ai.OPERATION_NAME, message)


def _check_type(span: SpanRecord, of: SpanType) -> Iterator[_Finding]:
    attributes = span.attributes
    yield from _check_name(span, of)
    for name in sorted(of.required - attributes.keys()):
        yield _Finding("required", name, f"{name} is missing")
    forbidden = of.must_not & attributes.keys()
    if of.operations and mcp.METHOD_NAME in attributes:
        forbidden -= {core.SERVER_ADDRESS, core.SERVER_PORT}  # an MCP client told its tool span
    for name in sorted(forbidden):
        yield _Finding("must-not", name, f"{name} does not belong on {of.id}")
    if not of.operations and gen_ai.OPERATION_NAME in attributes:
        names = (attributes[mcp.METHOD_NAME], attributes[gen_ai.OPERATION_NAME])
        if names != (mcp.METHOD_TOOLS_CALL, gen_ai.OP_EXECUTE_TOOL):
            message = f"{gen_ai.OPERATION_NAME} on an MCP span is execute_tool, for tools/call only"
            yield _Finding("value", gen_ai.OPERATION_NAME, message)


def _check_name(span: SpanRecord, of: SpanType) -> Iterator[_Finding]:
    attributes = span.attributes
    verb = attributes[gen_ai.OPERATION_NAME if of.operations else mcp.METHOD_NAME]
    target = next((attributes[key] for key in of.name_keys if key in attributes), None)
    expected = f"{verb} {target}" if target is not None else str(verb)
    if span.name == expected:
        return
    if span.name == f"{verb} {attributes.get(mcp.RESOURCE_URI)}" and not of.operations:
        return  # opt-in: the address of a resource may be many things
    if span.name.startswith(f"{expected} ") and not _REFINED.isdisjoint(attributes):
        return  # load_skill, read_skill_resource and command append what they are about
    yield _Finding("name", None, f"name must be {expected!r}")


_REFINED = frozenset({gen_ai.SKILL_NAME, gen_ai.SKILL_RESOURCE_NAME, "process.executable.name"})


def _check_outcome(span: SpanRecord) -> Iterator[_Finding]:
    error_type = span.attributes.get(core.ERROR_TYPE)
    if span.status == "OK":
        yield _Finding("status", None, "status OK is for applications to set, leave it unset")
    if span.status == STATUS_ERROR and error_type is None:
        yield _Finding("error-type", core.ERROR_TYPE, "status is ERROR without error.type")
    if span.status != STATUS_ERROR and error_type is not None:
        message = f"error.type is {error_type!r} but the status is {span.status}"
        yield _Finding("error-type", core.ERROR_TYPE, message)
    # With `OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN=logs/dup` there is a log record as well.
    exceptions = sum(
        event.name == core.EXCEPTION_EVENT and _SCOPE_OF_RECORD not in event.attributes
        for event in span.events
    )
    if exceptions > 1:
        yield _Finding("exception", None, f"{exceptions} exception events, at most one is allowed")


_SCOPE_OF_RECORD = "otel.scope.name"
"""Attribute of an event that was a log record: sources put it there, events have no scope."""


# ---------------------------------------------------------------------------------- attributes


_Shapes = Mapping[str, Schema]


def _check_event(event: SpanEvent, names: frozenset[str], shapes: _Shapes) -> Iterator[_Finding]:
    if event.name.startswith(RESERVED) and event.name not in names:
        yield _Finding("unknown", None, f"event {event.name} is not defined")
    for name in sorted(_REQUIRED_OF.get(event.name, frozenset()) - event.attributes.keys()):
        yield _Finding("required", name, f"event {event.name}: {name} is missing")
    for finding in _check_attributes(event.attributes, shapes):
        yield finding._replace(message=f"event {event.name}: {finding.message}")


_REQUIRED_OF = {
    gen_ai.EVENT_INFERENCE_DETAILS: frozenset({gen_ai.OPERATION_NAME}),
    gen_ai.EVENT_EVALUATION_RESULT: frozenset({gen_ai.EVALUATION_NAME}),
    gen_ai.EVENT_OPERATION_EXCEPTION: frozenset({core.EXCEPTION_TYPE}),
}
"""Attributes that events always have."""


def _check_attributes(attributes: Attributes, shapes: _Shapes) -> Iterator[_Finding]:
    for name, value in attributes.items():
        attribute = _known_attribute(name)
        if attribute is None:
            yield from _check_unknown(name)
        elif attribute.mark == "P":
            yield _Finding("proposed", name, f"{name} is not in the conventions, do not write it")
        else:
            yield from _check_value(name, value, attribute, shapes)


def _known_attribute(name: str) -> Attribute | None:
    if name in ATTRIBUTES:
        return ATTRIBUTES[name]
    return next((value for prefix, value in PREFIXES.items() if name.startswith(prefix)), None)


def _check_unknown(name: str) -> Iterator[_Finding]:
    today = RENAMES[name].new if name in RENAMES else STRUCTURAL.get(name)
    if today is not None:
        yield _Finding("deprecated", name, f"{name} is called {today} today")
    elif name.startswith(RESERVED):
        yield _Finding("unknown", name, f"{name} is not defined")


def _is_strings(value: object) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    return all(isinstance(item, str) for item in cast("Iterable[object]", value))


_TYPES: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "s": ("a string", lambda value: isinstance(value, str)),
    "e": ("a string", lambda value: isinstance(value, str)),
    "i": ("an integer", lambda value: type(value) is int),
    "d": ("a double", lambda value: type(value) is float),
    "b": ("a boolean", lambda value: type(value) is bool),
    "s[]": ("an array of strings", _is_strings),
    "any": ("anything", lambda value: True),
}


def _check_value(
    name: str, value: Any, attribute: Attribute, shapes: _Shapes
) -> Iterator[_Finding]:
    expected, fits = _TYPES[attribute.type]
    if not fits(value):
        yield _Finding("type", name, f"{name} must be {expected}, is {_type_name(value)}")
    elif attribute.only and value not in attribute.only:
        allowed = " or ".join(map(str, attribute.only))
        yield _Finding("value", name, f"{name} must be {allowed} or absent, is {value!r}")
    elif name in shapes:
        yield from _check_shape(name, value, shapes[name])


def _check_no_content(span: SpanRecord) -> Iterator[_Finding]:
    places = [("", span.attributes)]
    places += [(f"event {event.name}: ", event.attributes) for event in span.events]
    for place, attributes in places:
        for name in attributes:
            if (attribute := _known_attribute(name)) and attribute.content:
                yield _Finding("content", name, f"{place}{name} is content")


# -------------------------------------------------------------------------------------- shapes


def _check_shape(name: str, value: Any, shape: Schema) -> Iterator[_Finding]:
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError as error:
            yield _Finding("shape", name, f"{name} is not JSON: {error}")
            return
    for misfit in _misfits(value, shape, "$"):
        yield _Finding("shape", name, f"{name}: {misfit}")


def _misfits(value: Any, schema: Schema, path: str) -> Iterator[str]:
    """Yield the places where a JSON value does not satisfy a schema of `SHAPES`. A mark in place of
    a shortened part is no value.
    """
    if isinstance(value, dict) and MARK_TRUNCATED in value:
        return
    types: str | list[str] = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_JSON_TYPES[json_type](value) for json_type in types):
        yield f"expected {' or '.join(types)}, got {_type_name(value)} - at {path}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"expected {schema['const']!r} - at {path}"
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        for name in schema.get("required", ()):
            if name not in fields:
                yield f"{name!r} is missing - at {path}"
        for name, inner in schema.get("properties", {}).items():
            if name in fields:
                yield from _misfits(fields[name], inner, f"{path}.{name}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(cast("list[object]", value)):
            yield from _misfits(item, schema["items"], f"{path}[{index}]")
    for rule in schema.get("allOf", ()):
        if not any(_misfits(value, rule["if"], path)):
            yield from _misfits(value, rule["then"], path)


_JSON_TYPES: Mapping[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}

_TYPE_NAMES: Mapping[type, str] = {
    dict: "object",
    list: "array",
    tuple: "array",
    str: "string",
    type(None): "null",
}


def _type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


# ------------------------------------------------------------------------------------ SDK spans


def _record_of(span: ReadableSpan) -> SpanRecord:
    context = span.get_span_context()
    return SpanRecord(
        trace_id=f"{context.trace_id:032x}" if context else "",
        span_id=f"{context.span_id:016x}" if context else "",
        parent_id=f"{span.parent.span_id:016x}" if span.parent else None,
        name=span.name,
        kind=span.kind.name,
        start_ns=span.start_time,
        end_ns=span.end_time,
        attributes=_plain(span.attributes or {}),
        events=[
            SpanEvent(event.name, event.timestamp, _plain(event.attributes or {}))
            for event in span.events
        ],
        status=span.status.status_code.name,
        status_message=span.status.description,
    )


def _plain(value: Any) -> Any:
    """The JSON form of an SDK value, whose arrays are tuples and whose maps may be proxies."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return {name: _plain(item) for name, item in fields.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("Iterable[Any]", value)]
    return value
