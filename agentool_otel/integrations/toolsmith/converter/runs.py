"""A saved run of ToolSmith: a ReasoningTrace and an EvalResult for each of its tasks.

    prompt            input of the trace            passed           passed, and the score 1 or 0
    textResponse      output, empty without one     failureCategory  label of the assertion
    toolCall          a step tool_call that was     reason           reason of the assertion
                      not executed; its reason      recommendation   notes of the result
                      is a step before it           expectedTool     tool_name of the assertion
    id of the run     eval_id                       taskId           case_id

A call without `toolName` is no step, since a call has a name: `metrics.tool_call_count` counts it.
ToolSmith selects tools and never executes one, so the step says `executed: false` and has no
result. It keeps one time, when the run was saved: that is where each trace begins, marked as
synthesized, and when each result was evaluated. What else a task's result says is member
`toolsmith` of the EvalResult; what the run says of itself, `metadata.toolsmith_run` of each trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentool_otel.converters.kit.fields import Object, each, error_below, member, unique
from agentool_otel.converters.kit.objects import (
    Translation,
    put,
    value_at,
    without_each,
    without_path,
)
from agentool_otel.converters.kit.registries import decode_document
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_difference import same
from agentool_otel.integrations.toolsmith.converter.tasks import (
    assertion_of,
    expected_of,
    means_none,
)
from agentool_otel.model.documents import Document, EvalResult, ReasoningTrace
from agentool_otel.model.times import to_ns

__all__ = ["read_run", "write_run"]

_PLACE = ("metadata", "toolsmith_run", "place")
"""Path of a trace's index in the run: in telemetry all traces begin at the same time."""
_FAILED = "unknown_error"
"""The one category in which the agent itself failed; 0.1 wrote its words in capitals."""


def read_run(run: Object) -> list[Document]:
    """Return a trace and a result for each task, in the order of the run.

    Raises:
        DecodeError: if something required is missing, or something is malformed or there twice.
    """
    _check_run(run)
    results = member(run, "results", list, filled=True)
    header = without_each(run, ("results",))
    pairs = each(results, "$.results", _translation(header).to_agentool)
    unique(results, "taskId", "$.results")
    documents: list[Document] = []
    for n, pair in enumerate(pairs):
        path = f"$.results[{n}]"
        documents.append(decode_document(ReasoningTrace, put(pair["trace"], _PLACE, n), path))
        documents.append(decode_document(EvalResult, pair["result"], path))
    return documents


def write_run(documents: Sequence[Document]) -> Object:
    """Return the run of traces and results, in any order.

    Raises:
        DecodeError: if they are not from a run of ToolSmith, or a trace is without its result.
    """
    results: dict[Any, Object] = {}
    for n, document in enumerate(documents):
        if isinstance(document, EvalResult) and document.trace_id not in results:
            judged = results[document.trace_id] = document.to_dict()
            try:
                _check_result(judged)
            except DecodeError as error:
                raise error_below(f"$[{n}]", error) from None
    pairs: list[tuple[int, Object]] = []
    run: Object | None = None
    for n, document in enumerate(documents):
        if not isinstance(document, ReasoningTrace):
            continue
        try:
            header, place = _run_of(document)
            if run is not None and not same(run, header):
                raise DecodeError("traces of one run", "a trace of another", "$.metadata")
            if (result := results.get(document.trace_id)) is None:
                description = f"none with trace_id {document.trace_id!r}"
                raise DecodeError("the EvalResult of each trace", description)
            trace = document.to_dict()
            member(trace, "input", str)
            pair = {"trace": without_path(trace, _PLACE), "result": result}
            pairs.append((place, _translation(header).from_agentool(pair)))
        except DecodeError as error:
            raise error_below(f"$[{n}]", error) from None
        run = header
    if run is None:
        raise DecodeError("a ReasoningTrace for each EvalResult", "EvalResults alone")
    return {**run, "results": [item for _, item in sorted(pairs, key=lambda pair: pair[0])]}


def _run_of(trace: ReasoningTrace) -> tuple[Object, int]:
    """Return a trace's data about its run, and its index in it."""
    value = value_at(trace.metadata, ("toolsmith_run",))
    if not isinstance(value, dict):
        description = "a trace without it, which is from elsewhere"
        raise DecodeError("metadata.toolsmith_run", description, "$.metadata")
    try:
        run: Object = member(value, "run", dict)
        _check_run(run)
        return run, member(value, "place", int)
    except DecodeError as error:
        raise error_below("$.metadata.toolsmith_run", error) from None


def _check_run(run: Object) -> None:
    member(run, "id", str, filled=True)
    member(run, "createdAt", str, None)
    member(run, "agent", dict, None)


# --- a task's result


def _check(result: Object) -> None:
    for name in ("taskId", "expectedTool"):
        member(result, name, str, filled=True)
    member(result, "prompt", str)
    member(result, "passed", bool)
    for name in _TEXTS:
        member(result, name, str, None)
    call = member(result, "toolCall", dict, {})
    try:
        if call:
            member(call, "toolName", str, None)
            member(call, "reason", str, None)
    except DecodeError as error:
        raise error_below("$.toolCall", error) from None


_TEXTS = (
    *("actualTool", "failureCategory", "failureReason", "reason"),
    *("recommendation", "suggestion", "textResponse"),
)


def _translation(run: Object) -> Translation:
    def read(result: Object) -> Object:
        _check(result)
        return {"trace": _trace(run, result), "result": _result(run, result)}

    return Translation(read, _write, ("result", "toolsmith"), ("metadata", "agentool"))


def _trace(run: Object, result: Object) -> Object:
    metadata: Object = {"toolsmith_run": {"run": run}}
    trace: Object = {"trace_id": _trace_id(run, result)}
    if isinstance(name := value_at(run, ("agent", "name")), str):
        trace["agent_id"] = name
    if (created := _saved_at(run)) is not None:
        trace["started_at"] = created
        metadata["synthesized"] = ["started_at"]
    trace["input"] = result["prompt"]
    trace["output"] = result.get("textResponse") or ""
    trace["status"] = "error" if _label(result).lower() == _FAILED else "success"
    trace["steps"] = steps = _steps(result)
    if result.get("toolCall") and not any("tool_call" in step for step in steps):
        trace["metrics"] = {"tool_call_count": 1}  # a call of a tool that the run does not name
    return {**trace, "metadata": metadata}


def _trace_id(run: Object, result: Object) -> str:
    return f"{run['id']}/{result['taskId']}"


def _saved_at(run: Object) -> str | None:
    """Return when a run was saved; None if the value is no time."""
    created: str | None = run.get("createdAt")
    return created if created is not None and to_ns(created) is not None else None


def _label(result: Object) -> str:
    label: str | None = result.get("failureCategory") or result.get("failureReason")
    return label or ("passed" if result["passed"] else "failed")


def _steps(result: Object) -> list[Object]:
    """Return the steps: the reason for a tool's selection, and its call, which is never
    executed.
    """
    tool_call: Object = result.get("toolCall") or {}
    name = tool_call.get("toolName") or result.get("actualTool")
    steps: list[Object] = []
    if isinstance(reason := tool_call.get("reason"), str):
        steps.append({"type": "reasoning", "content": reason})
    if name is not None and not means_none(name):
        call: Object = {"name": name}
        if "arguments" in tool_call:
            call["arguments"] = tool_call["arguments"]
        steps.append({"type": "tool_call", "tool_call": call, "executed": False})
    return [{"step_id": f"step_{n:03d}", **step} for n, step in enumerate(steps, 1)]


def _result(run: Object, result: Object) -> Object:
    assertion = assertion_of(result["expectedTool"])
    passed: bool = result["passed"]
    score = 1.0 if passed else 0.0
    judged: Object = {"assertion_type": assertion["type"], "passed": passed, "score": score}
    judged |= without_each(assertion, ("type",))
    judged["label"] = _label(result)
    if isinstance(reason := result.get("reason"), str):
        judged["reason"] = reason
    evaluated: Object = {
        "eval_id": run["id"],
        "case_id": result["taskId"],
        "trace_id": _trace_id(run, result),
        "passed": passed,
        "assertion_results": [judged],
        "composite_score": score,
    }
    if isinstance(notes := result.get("recommendation"), str):
        evaluated["notes"] = notes
    if (created := _saved_at(run)) is not None:
        evaluated["evaluated_at"] = created
    return evaluated


def _check_result(result: Object) -> None:
    member(result, "passed", bool)
    judged = member(result, "assertion_results", list, filled=True)
    try:
        _expected_tool(judged[0])
    except DecodeError as error:
        raise error_below("$.assertion_results[0]", error) from None


def _expected_tool(judged: Object) -> str:
    """Return the tool that was expected, by the assertion that was judged."""
    assertion = {**judged, "type": judged["assertion_type"]}
    return expected_of([assertion])


def _write(pair: Object) -> Object:
    trace, result = pair["trace"], pair["result"]
    judged: Object = result["assertion_results"][0]
    call = next((step["tool_call"] for step in trace["steps"] if step.get("tool_call")), None)
    thought = next(
        (step.get("content") for step in trace["steps"] if step["type"] == "reasoning"), None
    )
    written: Object = {
        "taskId": result["case_id"],
        "prompt": member(trace, "input", str),
        "expectedTool": _expected_tool(judged),
        "actualTool": call["name"] if call else None,
        "passed": result["passed"],
        "failureCategory": judged.get("label"),
        "reason": judged.get("reason"),
        "recommendation": result.get("notes"),
        "toolCall": _call(call, thought) if call else None,
    }
    return {**written, "textResponse": trace["output"]} if trace.get("output") else written


def _call(call: Object, thought: Any) -> Object:
    written: Object = {"toolName": call["name"]}
    if "arguments" in call:
        written["arguments"] = call["arguments"]
    return written if thought is None else {**written, "reason": thought}
