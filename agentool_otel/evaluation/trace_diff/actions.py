"""The actions of an agent, as they are compared: its steps, each tool call with its result."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from agentool_otel.evaluation.trace_view import ARGUMENTS, TraceView, or_none
from agentool_otel.model.documents import STEP_TYPES, UNSET, Step, ToolResult

__all__ = ["PARTS", "Action", "Member", "Part", "actions_of", "members_of", "name_of"]

Part: TypeAlias = Literal[
    "input",
    "output",
    "status",
    "agent",
    "models",
    "reasoning",
    "content",
    "arguments",
    "results",
    "order",
]
PARTS: tuple[Part, ...] = (
    "input",
    "output",
    "status",
    "agent",
    "models",
    "reasoning",
    "content",
    "arguments",
    "results",
    "order",
)
"""Parts that are compared and can be ignored. `reasoning`: steps of that type; `content`: texts of
steps and of memory; `results`: results and errors of tools and memory; `order`: equal steps at
different places.
"""

_RESULT = "tool_result.output"
_TEXT = ("content",)
_TEXT_OR_ARGUMENTS = ("content", ARGUMENTS)
_TEXT_OR_RESULT = ("content", _RESULT)
_TEXT_MEMBERS = {"content": "reasoning", "message": "handoff", "query": "memory_read"}
"""Members that hold a text, by the type of step that ought to have them."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a trace, or a tool call together with its result."""

    place: int
    """Of the step among the steps of the trace, from 1."""
    step_id: str
    step: Step
    result: ToolResult | None
    """Result of the tool; None if the step is no call or has no result."""
    result_step_id: str | None
    batch: int | None
    """Calls with no other step between them have the same number: they were made together. None
    for a step that is no call."""


class Member(NamedTuple):
    """A part of an action that is compared on its own."""

    part: Part
    path: str
    value: Any
    """`UNSET` where it was not recorded."""
    fields: tuple[str, ...]
    """Its names in a fidelity report, or those of its sources: where a tool hands over or writes to
    memory, the arguments.
    """
    step_id: str | None


def actions_of(trace: TraceView, skip: Collection[Part] = ()) -> list[Action]:
    """Return the actions of a trace in order. A result is placed with its call, whenever it
    arrived."""
    steps = trace.steps
    answer = _answers(steps)
    with_calls = {at for at in answer.values() if steps[at][1].type == "tool_result"} - set(answer)
    actions: list[Action] = []
    batch = 0
    for at, (step_id, step) in enumerate(steps):
        is_call = or_none(step.tool_call) is not None
        batch += not is_call
        if at in with_calls or (step.type == "reasoning" and "reasoning" in skip):
            continue
        of_result = answer.get(at, at)
        result = or_none(steps[of_result][1].tool_result)
        actions.append(
            Action(
                place=at + 1,
                step_id=step_id,
                step=step,
                result=result,
                result_step_id=steps[of_result][0] if result is not None else None,
                batch=batch if is_call else None,
            )
        )
    return actions


def _answers(steps: Sequence[tuple[str, Step]]) -> dict[int, int]:
    """Return the place of each call's result, by the place of the call."""
    results: defaultdict[str, deque[int]] = defaultdict(deque)
    for at, (_, step) in enumerate(steps):
        result = or_none(step.tool_result)
        if result is not None and isinstance(result.call_id, str):
            results[result.call_id].append(at)
    answers: dict[int, int] = {}
    for at, (_, step) in enumerate(steps):
        call = or_none(step.tool_call)
        if call is not None and isinstance(call.id, str) and (waiting := results.get(call.id)):
            answers[at] = waiting.popleft()
    return answers


def name_of(action: Action) -> str | None:
    """Return the name of an action: its tool, the agent that takes over, or the key in memory."""
    step = action.step
    call = or_none(step.tool_call)
    names = [call.name] if call is not None else [or_none(step.to_agent), or_none(step.key)]
    for name in names:
        if isinstance(name, str):
            return name
    return None


def members_of(action: Action) -> Iterator[Member]:
    """Yield the members of an action that are compared, beside its type and name."""
    step, at = action.step, action.step_id
    if (call := or_none(step.tool_call)) is not None:
        yield Member("arguments", "arguments", call.arguments, (ARGUMENTS,), at)
    for path, owner in _TEXT_MEMBERS.items():
        value = getattr(step, path)
        if step.type == owner or value is not UNSET:
            is_thought = path == "content" and step.type == "reasoning"
            yield Member("content", path, value, _TEXT if is_thought else _TEXT_OR_ARGUMENTS, at)
    if step.key is not UNSET and not isinstance(step.key, str):
        yield Member("content", "key", step.key, _TEXT_OR_ARGUMENTS, at)
    if step.type not in STEP_TYPES and step.extra:
        yield Member("content", "extra", step.extra, _TEXT_OR_ARGUMENTS, at)
    if step.type == "memory_read" or step.results is not UNSET:
        yield Member("results", "results", step.results, _TEXT_OR_RESULT, at)
    if (result := action.result) is not None:
        error = or_none(result.error)
        if error is None or result.output is not UNSET:
            yield Member("results", "result", result.output, (_RESULT,), action.result_step_id)
        yield Member("results", "error", error, ("error",), action.result_step_id)
