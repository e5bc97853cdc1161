"""Identify the type of a document, and list its problems.

An error means it cannot be read as a document. A warning means it can, losing nothing, but it
contradicts itself; nothing in this package refuses a document for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast

from agentool_otel.errors import DecodeError
from agentool_otel.ground import json_codec
from agentool_otel.model import documents as d
from agentool_otel.model.codec import decode, fields_of
from agentool_otel.model.spec_documents import is_step
from agentool_otel.model.times import to_ns

__all__ = ["Finding", "findings", "identify", "intended_kind", "problems"]

_Json = Mapping[str, Any]
_SIGNS: tuple[tuple[type[d.Document], tuple[frozenset[str], ...]], ...] = tuple(
    (cls, tuple(frozenset(names.split()) for names in alternatives))
    for cls, alternatives in (
        (d.EvalResult, ("assertion_results", "case_id passed", "case_id composite_score")),
        (d.EvalCase, ("assertions", "case_id input")),
        (d.ReasoningTrace, ("steps", "trace_id agent_id")),
        (d.ToolRegistry, ("registry_id", "tools version")),
        (d.RegisteredTool, ("spec",)),
        (d.AssertionResult, ("assertion_type",)),
        (d.Step, ("type step_id", "type tool_call", "type tool_result", "type to_agent")),
        (d.ToolExchange, ("tool_call", "tool_result")),
        (d.ToolResult, ("call_id",)),
        (d.ToolCall, ("name arguments",)),
        (d.ToolSpec, ("name parameters", "name description")),
        (d.TraceMetrics, ("total_tokens", "total_cost_usd", "total_duration_ms")),
    )
)
"""Members by which each document is recognised, the most specific first."""


class Finding(NamedTuple):
    """One thing that is wrong."""

    level: Literal["error", "warning"]
    path: str
    """JSON path, `$` for the whole document."""
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message} - at {self.path}"


def identify(data: Mapping[str, Any]) -> type[d.Document] | None:
    """Return the type of document a JSON object is meant to be, by its members; None if none.

    It need not be a valid one: a trace without `trace_id` is still recognised, so that an error can
    say what it lacks. An object with `tool_call` or `tool_result` and no type is a `ToolExchange`.
    """
    members = data.keys()
    if is_step(data):
        return d.Step
    for cls, alternatives in _SIGNS:
        if any(names <= members for names in alternatives):
            return cls
    word = data.get("type")
    if word in d.STEP_TYPES:
        return d.Step
    if word in d.ASSERTION_TYPES:
        return d.Assertion
    return None


def intended_kind(data: Mapping[str, Any]) -> type[d.Document] | None:
    """Return the type of document that a JSON object is, or is most nearly; None for none.

    An object that `identify` does not know may be an incomplete document: of the one type that has
    all its members, requires at least one of them, and misses the fewest. `{"case_id": "a"}` is an
    `EvalCase`; `{"name": "a"}` is a whole `ToolCall` or a part of a `ToolSpec`, so None.
    """
    if (cls := identify(data)) is not None:
        return cls
    members = data.keys() - {"$schema"}
    candidates: dict[int, list[type[d.Document]]] = {}
    for cls, _ in _SIGNS:
        fields = fields_of(cls)
        required = {field.name for field in fields if field.required}
        if required & members and members <= {field.name for field in fields}:
            candidates.setdefault(len(required - members), []).append(cls)
    fewest = min(candidates, default=0)
    return candidates[fewest][0] if fewest and len(candidates[fewest]) == 1 else None


def problems(data: object) -> list[str]:
    """Return the problems of a document as sentences, errors first."""
    return [str(finding) for finding in findings(data)]


def findings(data: object, cls: type[d.Document] | None = None) -> list[Finding]:
    """Return the problems of a document: one error, or any number of warnings.

    Args:
        data: A JSON object, JSON text or a document.
        cls: What it must be; by default what `identify` makes of it.
    """
    try:
        document = _decode(data, cls)
    except DecodeError as error:
        return [Finding("error", error.path, f"expected {error.expected}, got {error.actual}")]
    return list(_warnings(document, "$"))


def _decode(data: object, cls: type[d.Document] | None) -> d.Document:
    if isinstance(data, (str, bytes)):
        try:
            data = json_codec.loads(data)
        except ValueError as error:
            raise DecodeError("JSON", f"text that is not ({error})") from None
    if isinstance(data, d.Document):
        return decode(cls, data) if cls else data
    document_type = cls or (identify(cast("_Json", data)) if isinstance(data, Mapping) else None)
    if document_type is None:
        names = ", ".join(signs[0].__name__ for signs in _SIGNS)
        raise DecodeError(f"an agentool document ({names})", "something else")
    return decode(document_type, cast("Any", data))


def _warnings(document: d.Document, path: str) -> Iterator[Finding]:
    if isinstance(document, d.ReasoningTrace):
        yield from _trace_warnings(document, path)
    elif isinstance(document, d.ToolExchange):
        yield from _exchange_warnings(document, path)


def _exchange_warnings(exchange: d.ToolExchange, path: str) -> Iterator[Finding]:
    call, result = exchange.tool_call, exchange.tool_result
    if not (isinstance(call, d.ToolCall) and isinstance(result, d.ToolResult)):
        return
    if call.id != result.call_id:
        yield _warn(f"{path}.tool_result.call_id", f"{result.call_id!r} is not the call's id")


def _trace_warnings(trace: d.ReasoningTrace, path: str) -> Iterator[Finding]:
    started, finished = _time(trace.started_at), _time(trace.finished_at)
    if started is not None and finished is not None and finished < started:
        yield _warn(f"{path}.finished_at", f"{trace.finished_at} is before started_at")
    for name in ("started_at", "finished_at"):
        yield from _not_a_time(getattr(trace, name), f"{path}.{name}")
    yield from _step_warnings(trace, f"{path}.steps")
    if isinstance(trace.metrics, d.TraceMetrics):
        steps, calls = len(trace.steps), len(trace.tool_calls())
        for name, counted in (("step_count", steps), ("tool_call_count", calls)):
            metric = getattr(trace.metrics, name)
            if isinstance(metric, (int, float)) and metric != counted:
                yield _warn(f"{path}.metrics.{name}", f"is {metric}, the steps have {counted}")


def _step_warnings(trace: d.ReasoningTrace, path: str) -> Iterator[Finding]:
    calls = {call.id for call in trace.tool_calls() if isinstance(call.id, str)}
    first_with: dict[str, int] = {}
    for index, step in enumerate(trace.steps):
        place = f"{path}[{index}]"
        yield from _not_a_time(step.timestamp, f"{place}.timestamp")
        if isinstance(step.step_id, str):
            first = first_with.setdefault(step.step_id, index)
            if first != index:
                yield _warn(
                    f"{place}.step_id", f"{step.step_id!r} is already the id of step {first}"
                )
        result = step.tool_result
        if isinstance(result, d.ToolResult) and result.call_id not in calls:
            call_id = f"{result.call_id!r}" if isinstance(result.call_id, str) else "no call_id"
            yield _warn(
                f"{place}.tool_result.call_id", f"{call_id}: matches no tool call of the trace"
            )


def _not_a_time(text: object, path: str) -> Iterator[Finding]:
    if isinstance(text, str) and to_ns(text) is None:
        yield _warn(path, f"{text!r} is not an RFC 3339 time")


def _time(text: object) -> int | None:
    return to_ns(text) if isinstance(text, str) else None


def _warn(path: str, message: str) -> Finding:
    return Finding("warning", path, message)
