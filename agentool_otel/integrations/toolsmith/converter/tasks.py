"""ToolSmith's `tasks.json` and EvalCases, one for each task.

    id                case_id                    prompt   input
    expectedTool      an assertion contains_tool_call; for `none`, in any case, tool_call_count 0
    successCriteria   an assertion output_property each
    name of the file  eval_id

What the file says of all its tasks (`version`) is member `toolsmith_file` of each case; what else a
task says, member `toolsmith`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentool_otel.converters.kit.fields import Object, describe, each, member, unique
from agentool_otel.converters.kit.objects import Translation, without_each
from agentool_otel.converters.kit.registries import decode_document
from agentool_otel.errors import DecodeError
from agentool_otel.model.documents import Document, EvalCase

__all__ = ["assertion_of", "expected_of", "means_none", "read_tasks", "write_tasks"]

_NONE = "none"
_NO_CALL: Object = {"type": "tool_call_count", "min_calls": 0, "max_calls": 0}
_SYNTHESIZED: Object = {"name": "tasks", "version": "1.0.0"}


def read_tasks(file: Object) -> list[Document]:
    """Return the cases that the tasks of a file are.

    Raises:
        DecodeError: if something required is missing, or something is malformed or there twice.
    """
    member(file, "name", str, filled=True)
    member(file, "version", str, filled=True)
    tasks = member(file, "tasks", list, filled=True)
    translation = _translation(_of_file(without_each(file, ("tasks",))))
    cases = each(tasks, "$.tasks", translation.to_agentool)
    unique(tasks, "id", "$.tasks")
    return [decode_document(EvalCase, case, f"$.tasks[{n}]") for n, case in enumerate(cases)]


def write_tasks(documents: Sequence[Document]) -> Object:
    """Return the file for cases.

    Raises:
        DecodeError: if one has no text as input, or does not say which tool is expected.
    """
    cases = [document.to_dict() for document in documents]
    file = _file_of(cases[0])
    translation = _translation(_of_file(file))
    tasks = each(cases, "$", translation.from_agentool)
    unique(cases, "case_id", "$")
    return {**file, "tasks": tasks}


# --- the file


def _of_file(file: Object) -> Object:
    """Return the members that each case has from the file."""
    synthesized = _synthesized_members(file)
    members: Object = {}
    if "name" not in synthesized:
        members["eval_id"] = file["name"]
    file_members = without_each(
        file, ("name", *(["metadata", *synthesized] if synthesized else ()))
    )
    return {**members, "toolsmith_file": file_members} if file_members else members


def _synthesized_members(file: Object) -> list[str]:
    """Return the members that were added only because ToolSmith needs them."""
    for names in (["name", "version"], ["version"], ["name"]):
        if file.get("metadata") == {"agentool": {"synthesized": names}}:
            return names if all(file[name] == _SYNTHESIZED[name] for name in names) else []
    return []


def _file_of(case: Object) -> Object:
    """Return the members of the file besides its tasks, from its first case."""
    file_members: Any = case.get("toolsmith_file")
    file: Object = (
        without_each(file_members, ("name", "tasks")) if isinstance(file_members, dict) else {}
    )
    name = case.get("eval_id")
    if isinstance(name, str) and name:
        file = {"name": name, **file}
    version = file.get("version")
    if not isinstance(version, str) or not version:
        file = without_each(file, ("version",))
    missing = [item for item in _SYNTHESIZED if item not in file]
    if not missing:
        return file
    defaults = {item: _SYNTHESIZED[item] for item in missing}
    return {**file, **defaults, "metadata": {"agentool": {"synthesized": missing}}}


# --- a task


def _translation(of_file: Object) -> Translation:
    def read(task: Object) -> Object:
        _check(task)
        return {**_read_task(task), **of_file}

    return Translation(read, _write_task, ("toolsmith",), ("metadata", "agentool"))


def _check(task: Object) -> None:
    for name in ("id", "prompt", "expectedTool"):
        member(task, name, str, filled=True)
    for n, criterion in enumerate(member(task, "successCriteria", list, [])):
        if not isinstance(criterion, str):
            raise DecodeError("string", describe(criterion), f"$.successCriteria[{n}]")


def _read_task(task: Object) -> Object:
    criteria = member(task, "successCriteria", list, [])
    properties = [{"type": "output_property", "property": item} for item in criteria]
    return {
        "case_id": task["id"],
        "input": task["prompt"],
        "assertions": [assertion_of(task["expectedTool"]), *properties],
    }


def _write_task(case: Object) -> Object:
    task: Object = {
        "id": member(case, "case_id", str, filled=True),
        "prompt": member(case, "input", str, filled=True),
        "expectedTool": expected_of(case["assertions"]),
    }
    criteria = [
        assertion["property"]
        for assertion in case["assertions"]
        if assertion["type"] == "output_property" and isinstance(assertion.get("property"), str)
    ]
    return {**task, "successCriteria": criteria} if criteria else task


def assertion_of(expected_tool: str) -> Object:
    """Return the assertion that a tool is selected, or none is."""
    if means_none(expected_tool):
        return dict(_NO_CALL)
    return {"type": "contains_tool_call", "tool_name": expected_tool}


def means_none(tool: str) -> bool:
    """Return whether the name of a tool means "no tool"."""
    return tool.lower() == _NONE


def expected_of(assertions: Sequence[Object]) -> str:
    """Return the tool that assertions expect, `none` where they expect that nothing is called.

    Raises:
        DecodeError: if they say neither.
    """
    for assertion in assertions:
        kind, name = assertion["type"], assertion.get("tool_name")
        is_tool = isinstance(name, str) and bool(name) and not means_none(name)
        if kind == "contains_tool_call" and is_tool:
            return str(name)
        if kind == "tool_call_count" and name is None and assertion.get("max_calls") == 0:
            return _NONE
    raise DecodeError(
        "an assertion contains_tool_call with tool_name, or tool_call_count with max_calls 0",
        "not one of ToolSmith's",
        "$.assertions",
    )
