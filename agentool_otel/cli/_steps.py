"""A trace for people: a header, and a line for every step."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from msgspec import UNSET
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._details import NO_DETAILS, CallsByTime, Details
from agentool_otel.cli._model_calls import call_text
from agentool_otel.cli._program import program
from agentool_otel.cli._text import or_none
from agentool_otel.model.amounts import possible
from agentool_otel.model.documents import ReasoningTrace, Step, TraceMetrics
from agentool_otel.model.error_results import error_rule
from agentool_otel.model.times import to_ns
from agentool_otel.reading.rebuild.answer_ends import output_end
from agentool_otel.reading.rebuild.cost import COMPUTED_BY
from agentool_otel.reading.rebuild.endings import STOPPED, ending_of, error_text
from agentool_otel.reading.rebuild.failures import ended_well
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import plain

__all__ = ["body", "brief", "names_every_call", "outside_runs", "status_text", "trace_lines"]

_LABEL = 9
_INDENT = 18
_TYPES = {
    "reasoning": "magenta",
    "tool_call": "cyan",
    "tool_result": "cyan",
    "handoff": "yellow",
    "memory_read": "blue",
    "memory_write": "blue",
}
_MARKS = {
    "success": ("✓", "green"),
    "in_progress": ("…", "yellow"),
    **dict.fromkeys(STOPPED, ("■", "yellow")),
}


def status_text(word: str | None) -> Text:
    """Return the status of a run with a mark, so that its meaning does not depend on colour."""
    if word is None:
        return Text("- no status", "dim")
    mark, style = _MARKS.get(word, ("✗", "red"))
    return Text(f"{mark} {_text.line(word)}", style)


def outside_runs(trace: ReasoningTrace) -> bool:
    """Return whether a trace has only tool calls made outside of any run: no agent, no
    model call.
    """
    of_tools = all(step.type in ("tool_call", "tool_result") for step in trace.steps)
    tokens = None if (metrics := or_none(trace.metrics)) is None else or_none(metrics.total_tokens)
    of_run = (or_none(trace.agent_id), or_none(trace.input), or_none(trace.output), tokens)
    return of_tools and bool(trace.steps) and all(value is None for value in of_run)


def trace_lines(
    trace: ReasoningTrace, full: bool = False, details: Details = NO_DETAILS
) -> Iterator[Text]:
    """Yield a trace line by line, each to be cut at the width of the terminal unless `full`.

    Args:
        trace: the trace.
        full: whether contents take as many lines as they need.
        details: what else is known of it.
    """
    yield from _header(trace, full, details)
    yield Text()
    first = _start(trace)
    names = {call.id: call.name for call in trace.tool_calls()}
    calls = CallsByTime(details.calls)
    for n, step in enumerate(trace.steps, 1):
        for call in calls.before(_time_of(step)):
            yield _call(call, first)
        yield from _step(n, step, first, names, full, details)
    for call in calls.rest():
        yield _call(call, first)
    if not trace.steps:
        yield Text("  no steps", "dim")


def _header(trace: ReasoningTrace, full: bool, details: Details) -> Iterator[Text]:
    metrics = or_none(trace.metrics) or TraceMetrics()
    metadata = or_none(trace.metadata) or {}
    milliseconds = possible(metrics.total_duration_ms)
    nameless = "(no agent)" if outside_runs(trace) else "(agent without a name)"
    agent = _text.line(or_none(trace.agent_id) or nameless)
    inferred = (" (inferred run)", "dim") if details.is_inferred else ""
    status = status_text(ending_of(trace))
    yield Text.assemble((agent, "bold"), inferred, "  ", status, "  ", _text.duration(milliseconds))
    yield _field("trace", _text.line(trace.trace_id))
    session = or_none(trace.session_id)
    if session is not None:
        yield _field("session", _text.line(session))
    yield _field("started", _text.when(trace.started_at))
    computed = COMPUTED_BY in metadata
    yield _field("totals", " · ".join(_totals(trace, metrics, computed)))
    for label, content in (("input", trace.input), ("output", trace.output)):
        if content is not UNSET:
            yield from _long(label, content, full)
    if (end := output_end(metadata)) is not None:
        yield _field("note", f"the answer {_text.line(end)}")
    if (
        not ended_well(or_none(trace.status))
        and (error := _error(metadata.get("error"))) is not None
    ):
        for line in _long("error", error, full):
            line.stylize("red")
            yield line
    yield from _links(metadata, details.is_recoverable)


def _totals(trace: ReasoningTrace, metrics: TraceMetrics, computed: bool) -> Iterator[str]:
    yield _text.count(len(trace.steps), "step")
    calls = _text.count(len(trace.tool_calls()), "tool call")
    unnamed = f"at least {calls}" if trace.tool_calls() else "tool calls not known"
    yield calls if names_every_call(trace) else unnamed
    tokens, cost = possible(metrics.total_tokens), possible(metrics.total_cost_usd)
    yield f"{_text.number(tokens)} tokens" if tokens is not None else "tokens not known"
    mark = " (computed)" if computed else ""
    yield f"${cost:,.4f}{mark}" if cost is not None else "cost not known"


def names_every_call(trace: ReasoningTrace) -> bool:
    """Return whether every step is a tool call; only then does a rebuilt trace have their
    number.
    """
    metrics = or_none(trace.metrics) or TraceMetrics()
    return or_none(metrics.step_count) is None or or_none(metrics.tool_call_count) is not None


def _links(metadata: dict[str, Any], is_recoverable: bool) -> Iterator[Text]:
    if isinstance(above := metadata.get("parent_trace_id"), str):
        yield _field("part of", _text.line(above))
    below: Any = metadata.get("sub_traces")
    if isinstance(below, list):
        yield _field("has runs", _text.ids([*below]))
    if isinstance(why := metadata.get("interrupted"), str):
        yield _field("note", f"stopped before its end, without an error: {_text.line(why)}")
    if metadata.get("incomplete"):
        hint = f"; see `{program()} recover`" if is_recoverable else ""
        yield _field("note", f"incomplete: spans are missing or open{hint}")


def _error(error: Any) -> Any:
    """Return the error that ended a run in words, None if its metadata has none."""
    if not isinstance(error, dict):
        return error or None
    words = error_text(error)
    span_id = error.get("span_id")
    place = f" (span {span_id[:8]})" if isinstance(span_id, str) else ""
    return f"{words}{place}" if words else error or None


def _field(label: str, text: str) -> Text:
    return Text.assemble("  ", (label.ljust(_LABEL), "dim"), text)


def _long(label: str, content: Any, full: bool) -> Iterator[Text]:
    if not full:
        yield _field(label, _text.value(content))
        return
    for n, line in enumerate(_text.pretty(content).split("\n")):
        yield _field("" if n else label, line)


# ------------------------------------------------------------------------------------- steps


def _head(number: str, at: int | None, first: int | None, kind: str, style: str) -> Text:
    """Return the beginning of a line: number, time since the start of the run, type."""
    offset = ""
    if at is not None and first is not None:
        offset = f"+{_text.duration((at - first) / 1e6)}" if at >= first else "before"
    return Text.assemble(
        (f"{number:>4}  ", "dim"), (f"{offset:>9}  ", "dim"), (f"{kind:<14}", style)
    )


def _call(call: Node, first: int | None) -> Text:
    return _head("", call.start_ns, first, "model call", "green") + call_text(call)


def _time_of(step: Step) -> int | None:
    stamp = or_none(step.timestamp)
    return to_ns(stamp) if isinstance(stamp, str) else None


def _step(
    n: int,
    step: Step,
    first: int | None,
    names: dict[Any, str],
    full: bool,
    details: Details,
) -> Iterator[Text]:
    style = _TYPES.get(step.type, "")
    head = _head(f"{n}", _time_of(step), first, _text.line(step.type), style)
    if not full:
        yield head + body(step, names, details.at_most)
        return
    yield head + brief(step, names)
    for label, content in _contents(step):
        yield Text(f"{' ' * _INDENT}{label}", "dim")
        for line in _text.pretty(content).split("\n"):
            yield Text(" " * (_INDENT + 2) + line)


def brief(step: Step, names: dict[Any, str]) -> Text:
    """Return the subject of a step, without its content."""
    call, result = or_none(step.tool_call), or_none(step.tool_result)
    if call is not None:
        return Text(_text.line(call.name), "bold")
    if result is not None:
        failed = or_none(result.error) is not None
        name = _text.line(names.get(result.call_id, ""))
        return Text(f"✗ ERROR {name}", "red") if failed else Text(name)
    target = or_none(step.to_agent)
    return Text(f"→ {_text.line(target)}" if target is not None else _content(step.key))


def body(step: Step, names: dict[Any, str], at_most: Container[str | None] = ()) -> Text:
    """Return the content of a step on one line.

    Args:
        step: the step.
        names: the tool of each call id.
        at_most: ids of the calls whose durations are upper bounds.
    """
    call, result = or_none(step.tool_call), or_none(step.tool_result)
    if step.type == "tool_call" and call is not None:
        inner = _text.arguments(call.arguments)
        return Text.assemble((_text.line(call.name), "bold"), f"({inner})")
    if step.type == "tool_result" and result is not None:
        bound = "≤" if or_none(result.call_id) in at_most else ""
        return _result(result, names.get(result.call_id), bound)
    if step.type == "handoff":
        message = _content(step.message)
        target = or_none(step.to_agent) or "?"
        return Text.assemble("→ ", (_text.line(target), "bold"), f": {message}" if message else "")
    if step.type == "memory_read":
        results = "" if step.results is UNSET else f" → {_text.value(step.results)}"
        return Text(f'"{_content(step.query)}"{results}')
    if step.type == "memory_write":
        key = _content(step.key)
        return Text(f"{key} = {_content(step.content)}" if key else _content(step.content))
    return Text(_content(step.content) or _details_of(step))


def _result(result: Any, name: str | None, bound: str) -> Text:
    took = or_none(result.duration_ms)
    time = f"({bound}{_text.duration(took)}) " if took is not None else ""
    caller = f"{_text.line(name)} {time}" if name else time
    error = or_none(result.error)
    if error is not None:
        return Text(f"✗ ERROR {caller}→ {_text.value(error)}", "red")
    if result.output is UNSET:
        return Text(f"{caller}→ (result not captured)", "dim")
    words = Text.assemble((caller, "dim"), "→ ", _text.value(result.output))
    rule = error_rule(plain(result.output))
    if rule is None:
        return words
    return Text.assemble((f"? looks like an error ({rule}): ", "yellow"), words)


def _contents(step: Step) -> Iterator[tuple[str, Any]]:
    """The contents of a step that its one line may have cut."""
    call, result = or_none(step.tool_call), or_none(step.tool_result)
    members: list[tuple[str, Any]] = [
        ("content", step.content),
        ("arguments", call.arguments if call is not None else UNSET),
        ("output", result.output if result is not None else UNSET),
        ("error", (or_none(result.error) or UNSET) if result is not None else UNSET),
        ("message", step.message),
        ("query", step.query),
        ("results", step.results),
    ]
    return ((label, content) for label, content in members if content is not UNSET)


def _content(content: Any) -> str:
    return "" if content is UNSET or content is None else _text.value(content)


def _details_of(step: Step) -> str:
    members = step.to_dict()
    for name in ("type", "step_id", "timestamp"):
        members.pop(name, None)
    return _text.value(members) if members else ""


def _start(trace: ReasoningTrace) -> int | None:
    for text in (trace.started_at, *(step.timestamp for step in trace.steps)):
        stamp = or_none(text)
        at = to_ns(stamp) if isinstance(stamp, str) else None
        if at is not None:
            return at
    return None
