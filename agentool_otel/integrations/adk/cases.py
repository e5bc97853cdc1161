"""Eval sets of Google's Agent Development Kit as cases.

Spec: google-adk `evaluation/eval_set.py` and `eval_case.py`, 1.0 to 2.14; members are written in
snake case or camel case.

    user_content           the input
    intermediate_data      tool_sequence, exact, with arguments: `tool_trajectory_avg_score`
    transfer_to_agent      handoff, instead of a call in that sequence
    final_response         output_property, to mean the same: `final_response_match_v2`; an output
                           that is equal to it needs no judge
    rubrics                rubric, one each

A conversation has a case for each invocation, as every invocation is a run: `EVAL_ID#2` is the
second. Where ADK compares the answer by the words it shares with the reference, ours needs a judge
for every output that is not equal to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.evaluation.cases.entries import Entry
from agentool_otel.ground.json_places import Path

__all__ = ["AdkEvalSets"]

_TRANSFER = "transfer_to_agent"
"""The tool by which an agent of ADK hands over."""
_Object = dict[str, Any]


class AdkEvalSets:
    """Eval sets as cases. See `evaluation.cases.registry.EvalSets`."""

    def recognises(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(_member(value, "eval_cases"), list)

    def entries(self, value: Any, path: Path = ()) -> Iterator[Entry]:
        set_id = _member(value, "eval_set_id")
        for n, eval_case in enumerate(_member(value, "eval_cases")):
            at = (*path, _name(value, "eval_cases"), n)
            try:
                for case in _cases(eval_case, at):
                    document = case.value if set_id is None else {"eval_id": set_id, **case.value}
                    yield case._replace(value=document)
            except _NotACase as error:
                yield Entry(eval_case, at, fault=str(error))


class _NotACase(ValueError):
    """An entry is not an eval case."""


_Placed = tuple[Path, _Object]
"""An assertion, and where that stands of which it is made."""


def _cases(eval_case: Any, path: Path) -> Iterator[Entry]:
    eval_id = _member(_object(eval_case, "an eval case"), "eval_id")
    if not isinstance(eval_id, str):
        raise _NotACase("the eval case has no eval_id")
    if _member(eval_case, "conversation_scenario") is not None:
        why = f"{eval_id!r} is a scenario for a simulated user, so it has no input to find a run by"
        yield Entry({}, path, left_out=why)
        return
    turns = _list(eval_case, "conversation")
    if not turns:
        raise _NotACase(f"{eval_id!r} has no conversation")
    for n, turn in enumerate(turns):
        invocation = _object(turn, f"invocation {n + 1} of {eval_id!r}")
        at = (*path, _name(eval_case, "conversation"), n)
        assertions = [
            *_assertions(invocation, at),
            *_rubrics(eval_case, path),
            *_rubrics(invocation, at),
        ]
        case: _Object = {
            "case_id": eval_id if len(turns) == 1 else f"{eval_id}#{n + 1}",
            "input": _text(_member(invocation, "user_content")),
            "assertions": [assertion for _, assertion in assertions],
        }
        if (session := _member(eval_case, "session_input")) is not None:
            case["context"] = {"session_input": session}
        yield Entry(case, at, [place for place, _ in assertions])


def _assertions(invocation: _Object, path: Path) -> Iterator[_Placed]:
    data = _member(invocation, "intermediate_data")
    if data is not None:
        at = (*path, _name(invocation, "intermediate_data"))
        uses = list(_tool_uses(_object(data, "intermediate_data")))
        calls = [_expected(use) for use in uses if _member(use, "name") != _TRANSFER]
        yield at, {"type": "tool_sequence", "mode": "exact", "tools": calls}
        for use in uses:
            if _member(use, "name") == _TRANSFER:
                arguments = _member(use, "args") or {}
                yield at, {"type": "handoff", "to_agent": _member(arguments, "agent_name")}
    reference = _text(_member(invocation, "final_response"))
    if reference:
        at = (*path, _name(invocation, "final_response"))
        words = f"It means the same as this reference answer: {reference}"
        yield at, {"type": "output_property", "property": words, "reference": reference}


def _expected(use: _Object) -> _Object:
    arguments = _member(use, "args") or {}
    return {"tool_name": _member(use, "name"), "tool_args": arguments, "args_mode": "exact"}


def _tool_uses(data: _Object) -> Iterator[_Object]:
    """Yield the function calls, of `IntermediateData` or of the newer `InvocationEvents`."""
    yield from (_object(use, "a tool use") for use in _list(data, "tool_uses"))
    for event in _list(data, "invocation_events"):
        for part in _parts(_member(_object(event, "an event"), "content")):
            if (call := _member(part, "function_call")) is not None:
                yield _object(call, "a function call")


def _rubrics(value: _Object, path: Path) -> Iterator[_Placed]:
    for n, rubric in enumerate(_list(value, "rubrics")):
        yield (*path, "rubrics", n), _rubric(rubric)


def _rubric(rubric: Any) -> _Object:
    content = _member(_object(rubric, "a rubric"), "rubric_content")
    text = _member(_object(content, "the content of a rubric"), "text_property")
    if not isinstance(text, str):
        raise _NotACase("a rubric has no text")
    return {"type": "rubric", "rubric": text}


def _text(content: Any) -> str:
    return "\n".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str))


def _parts(content: Any) -> list[_Object]:
    if content is None:
        return []
    return [_object(part, "a part") for part in _list(_object(content, "content"), "parts")]


def _list(value: _Object, name: str) -> list[Any]:
    members = _member(value, name)
    if members is None:
        return []
    if not isinstance(members, list):
        raise _NotACase(f"{name} is no list")
    return members


def _object(value: Any, label: str) -> _Object:
    if not isinstance(value, dict):
        raise _NotACase(f"{label} is no object")
    return value


def _member(value: _Object, name: str) -> Any:
    """Return a member, by its name in snake case or in camel case."""
    return value.get(_name(value, name))


def _name(value: _Object, name: str) -> str:
    """Return the name that a member has: in snake case or in camel case."""
    if name in value:
        return name
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
