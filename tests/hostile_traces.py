"""Traces of extreme depth or fan-out, whose cost per span must stay that of ordinary ones.

Each function takes a number of spans and returns one trace of that many. `ordinary` is the
baseline: agents with their model calls and tools.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from types import FrameType
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = [
    "CROWDS",
    "OTHER_SHAPES",
    "SHAPES",
    "Shape",
    "lines_of_work",
    "lines_per_span",
    "ordinary",
    "span",
]

Shape = Callable[[int], list[SpanRecord]]
TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000


def span(number: int, kind: str, parent: int | None = None, **attributes: Any) -> SpanRecord:
    """Return span number so many, a second after the one before. `kind` is `agent`, `chat`, `tool`,
    `workflow`, `mcp`, `plain` or another operation of the conventions."""
    result = _KINDS.get(kind)
    name, own = result(number) if result else (kind, {"gen_ai.operation.name": kind})
    start = START + number * SECOND
    kind_of_span = attributes.pop("span_kind", "INTERNAL")
    scope = attributes.pop("scope", "some.sdk")
    end = attributes.pop("end_ns", start + SECOND // 2)
    return SpanRecord(
        TRACE, f"{number + 1:016x}", None if parent is None else f"{parent + 1:016x}", name,
        kind=kind_of_span, start_ns=attributes.pop("start_ns", start), end_ns=end, scope=scope,
        attributes={**own, **{key.replace("__", "."): value for key, value in attributes.items()}},
    )  # fmt: skip


def _agent(number: int) -> tuple[str, dict[str, Any]]:
    return f"invoke_agent a{number}", {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": f"a{number}",
    }


def _chat(number: int) -> tuple[str, dict[str, Any]]:
    return "chat m", {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": _messages("user", f"question {number}"),
        "gen_ai.output.messages": _messages("assistant", f"answer {number}"),
    }


def _tool(number: int) -> tuple[str, dict[str, Any]]:
    return "execute_tool t", {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "t",
        "gen_ai.tool.call.id": f"call_{number}",
        "gen_ai.tool.call.arguments": json.dumps({"n": number}),
        "gen_ai.tool.call.result": json.dumps({"of": number}),
    }


def _messages(role: str, content: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}])


_KINDS: dict[str, Callable[[int], tuple[str, dict[str, Any]]]] = {
    "agent": _agent,
    "chat": _chat,
    "tool": _tool,
    "bare tool": lambda n: (
        "execute_tool t",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"},
    ),
    "unread chat": lambda n: (
        "chat m",
        {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_calls"]},
    ),
    "workflow": lambda n: (
        "invoke_workflow w",
        {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": f"w{n}"},
    ),
    "mcp": lambda n: (
        "tools/call t",
        {"mcp.method.name": "tools/call", "gen_ai.tool.name": "t"},
    ),
    "transfer": lambda n: (
        "execute_tool transfer_to_x",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"transfer_to_a{n}"},
    ),
    "delegation": lambda n: (
        "execute_tool Task",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "Task",
            "gen_ai.tool.call.arguments": json.dumps({"subagent_type": f"b{n}", "prompt": "p"}),
        },
    ),
    "plain": lambda n: (f"step {n}", {}),
}


# ------------------------------------------------------------------------------------- the work


def lines_per_span(spans: list[SpanRecord], finish: Callable[[Rebuilt], object]) -> float:
    """Return how many lines of Python it takes to rebuild spans, per span."""
    return lines_of_work(spans, finish) / len(spans)


def lines_of_work(spans: list[SpanRecord], finish: Callable[[Rebuilt], object]) -> int:
    """Return how many lines of Python it takes to rebuild spans."""
    lines = 0

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        for rebuilt in rebuild(spans):
            finish(rebuilt)
    finally:
        sys.settrace(before)
    return lines


# ---------------------------------------------------------------------------------- the ordinary


def ordinary(spans: int) -> list[SpanRecord]:
    """Agents below a workflow, each with nine model calls and eighteen tools."""
    results = [span(0, "workflow")]
    root = 0
    while len(results) < spans:
        number = len(results)
        if number % 28 == 1:
            root = number
            results.append(span(number, "agent", 0))
        else:
            results.append(span(number, "chat" if number % 3 == 0 else "tool", root))
    return results


# ------------------------------------------------------------------------------------ the hostile


def chain(*kinds: str, **attributes: Any) -> Shape:
    """Each span inside the one before, of some kinds in turns."""

    def shape(spans: int) -> list[SpanRecord]:
        turns = cycle(kinds)
        return [span(n, next(turns), n - 1 if n else None, **attributes) for n in range(spans)]

    return shape


def upwards(*kinds: str) -> Shape:
    """The same, each span started before the one around it."""

    def shape(spans: int) -> list[SpanRecord]:
        turns = cycle(kinds)
        last = spans - 1
        return [span(n, next(turns), n + 1 if n < last else None) for n in range(spans)]

    return shape


def circle(*kinds: str) -> Shape:
    """The same, the first one inside the last."""

    def shape(spans: int) -> list[SpanRecord]:
        turns = cycle(kinds)
        return [span(n, next(turns), (n - 1) % spans) for n in range(spans)]

    return shape


def comb(back: str, *teeth: str, **attributes: Any) -> Shape:
    """A chain of one kind, with a span of others in turns in each of its links."""

    def shape(spans: int) -> list[SpanRecord]:
        turns = cycle(teeth)
        results: list[SpanRecord] = []
        for n in range(0, spans - 1, 2):
            results.append(span(n, back, n - 2 if n else None))
            results.append(span(n + 1, next(turns), n, **attributes))
        return results

    return shape


def broom(handle: str, *bristles: str, **attributes: Any) -> Shape:
    """A chain of one kind as long as half of the spans, and the rest side by side at its end."""

    def shape(spans: int) -> list[SpanRecord]:
        turns = cycle(bristles)
        half = spans // 2
        results = [span(n, handle, n - 1 if n else None) for n in range(half)]
        return results + [span(n, next(turns), half - 1, **attributes) for n in range(half, spans)]

    return shape


def fan(root: str, *kinds: str, **attributes: Any) -> Shape:
    """All in one span, side by side, of some kinds in turns."""

    def shape(spans: int) -> list[SpanRecord]:
        turns = cycle(kinds)
        return [span(0, root)] + [span(n, next(turns), 0, **attributes) for n in range(1, spans)]

    return shape


def one_call_id(spans: int) -> list[SpanRecord]:
    """An agent whose model requests calls that all have one id, and a tool span for each."""
    half = spans // 2
    return [span(0, "agent"), *_requesting(range(1, half), 0, lambda n: "same")] + [
        span(n, "tool", 0, gen_ai__tool__call__id="same", end_ns=START + 10**6 * SECOND)
        for n in range(half, spans)
    ]


def other_call_ids(spans: int) -> list[SpanRecord]:
    """Return requests with call ids beside tool spans without ids: nothing matches by id."""
    half = spans // 2
    return [span(0, "agent"), *_requesting(range(1, half), 0, lambda n: f"other_{n}")] + [
        span(n, "tool", 0) for n in range(half, spans)
    ]


def _requesting(
    numbers: range, parent: int, id_of: Callable[[int], str | None]
) -> Iterator[SpanRecord]:
    for n in numbers:
        part = {"type": "tool_call", "id": id_of(n), "name": "t", "arguments": {"n": -n}}
        text = json.dumps([{"role": "assistant", "parts": [part]}])
        yield span(n, "chat", parent, gen_ai__output__messages=text)


def no_call_ids(spans: int) -> list[SpanRecord]:
    """Calls without ids, and spans that know their tool's name alone."""
    half = spans // 2
    return [span(0, "agent"), *_requesting(range(1, half), 0, lambda n: None)] + [
        span(n, "bare tool", 0) for n in range(half, spans)
    ]


def own_attributes(spans: int) -> list[SpanRecord]:
    """A trace in which every span has an attribute of its own."""
    return [span(n, "chat", 0 if n else None, **{f"gen_ai__own_{n}": n}) for n in range(spans)]


SHAPES: dict[str, Shape] = {
    "chain of chats": chain("chat"),
    "chain of agents, chats and tools in turns": chain("agent", "chat", "tool"),
    "cycle of agents, chats and tools in turns": circle("agent", "chat", "tool"),
    "chain of tools": chain("tool"),
    "calls and tool spans with one call id": one_call_id,
    "chain of agents": chain("agent"),
    "every span an attribute of its own": own_attributes,
}
"""Those of the audit whose work depends on the number of spans."""

OTHER_SHAPES: dict[str, Shape] = {
    **{f"{kinds[0]} upwards": upwards(*kinds) for kinds in (("agent", "chat", "tool"), ("chat",))},
    "agents of one name": chain("agent", gen_ai__agent__name="a"),
    "wrappers": chain("workflow"),
    "workflows and agents": comb("workflow", "agent"),
    "tools of one server": chain("tool", "mcp"),
    "transfers": chain("transfer", "agent"),
    "delegations": chain("delegation", "agent"),
    "transfers side by side": fan("agent", "transfer", "agent"),
    "delegations side by side": fan("agent", "delegation", "agent"),
    "errors": chain("agent", "tool", error__type="ValueError"),
    "evaluations": chain("agent", "evaluation"),
    "plumbing and chats": comb("plain", "chat"),
    "plumbing and tools": comb("plain", "tool", "chat"),
    "plumbing, then agents": broom("plain", "agent"),
    "plumbing, then tools": broom("plain", "tool", "chat"),
    "tools, then agents": broom("tool", "agent"),
    "chats without messages": comb("plain", "unread chat"),
    "chats without messages, all at once": broom(
        "plain", "unread chat", end_ns=START + 10**6 * SECOND
    ),
    "other call ids": other_call_ids,
    "no call ids": no_call_ids,
}
"""Further ones: what the same rules forbid elsewhere."""


# ---------------------------------------------------------------------------------- what is alike


def one_answer(parts: int) -> list[SpanRecord]:
    """A model's answer of so many thoughts and calls, the results of all of them, and an answer of
    as many calls again: each part may come after each before it."""
    thoughts = [{"type": "reasoning", "content": f"thought {n}"} for n in range(parts)]
    first, second = (
        [
            {"type": "tool_call", "id": f"{turn}{n}", "name": "t", "arguments": {}}
            for n in range(parts)
        ]
        for turn in ("first", "second")
    )
    results = [{"type": "tool_call_response", "id": call["id"], "response": "r"} for call in first]
    return [
        span(0, "agent"),
        span(1, "chat", 0, gen_ai__output__messages=_said("assistant", [*thoughts, *first])),
        span(2, "chat", 0, gen_ai__input__messages=_said("tool", results),
             gen_ai__output__messages=_said("assistant", [*thoughts, *second])),
    ]  # fmt: skip


def _said(role: str, parts: list[dict[str, Any]]) -> str:
    return json.dumps([{"role": role, "parts": parts}])


def one_response_id(calls: int) -> list[SpanRecord]:
    """As many runs with a model call as calls outside any run, all at once and with one id."""
    spans: list[SpanRecord] = []
    for n in range(0, 3 * calls, 3):
        run = [span(n, "agent"), _at_once(n + 1, n, "some.sdk"), _at_once(n + 2, None, "other.sdk")]
        for one, trace in zip(run, (n, n, n + 2), strict=True):
            one.trace_id = f"{trace + 1:032x}"
        spans += run
    return spans


def _at_once(number: int, parent: int | None, scope: str) -> SpanRecord:
    end_ns = START + (10**6 - number) * SECOND
    return span(number, "chat", parent, gen_ai__response__id="same", scope=scope, end_ns=end_ns)


def one_question(calls: int) -> list[SpanRecord]:
    """Model calls outside any run that all begin alike, each followed by one that goes on."""
    spans: list[SpanRecord] = []
    for n in range(calls):
        requests = [{"role": "user", "parts": [{"type": "text", "content": "hello"}]}]
        if n % 2:
            requests += [{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}]
            requests += [{"role": "user", "parts": [{"type": "text", "content": f"why {n}?"}]}]
        messages = "[]" if n % 2 else _messages("assistant", "hi")
        one = span(n, "chat", gen_ai__input__messages=json.dumps(requests),
                   gen_ai__output__messages=messages)  # fmt: skip
        one.trace_id = f"{n + 1:032x}"
        spans.append(one)
    return spans


CROWDS: dict[str, Shape] = {
    "thoughts, calls and results of one answer": one_answer,
    "calls of one response id in several traces": one_response_id,
    "sessions that begin alike": one_question,
}
"""So many things that are alike, or at one time, in any number of spans and OTel traces."""
