"""ATIF trajectories to ReasoningTraces: the record of an agent harness itself, without spans.

Spec: Agent Trajectory Interchange Format v1.0 to v1.6 (harbor-framework, `rfcs/0001-trajectory-
format.md`). A trajectory has steps of a user, the system or an agent; a step of an agent has text,
reasoning, tool calls and, as its observation, their results.

    first user message            input             reasoning_content    step reasoning
    text of an agent with calls   step reasoning    tool_calls           steps tool_call
    last text without calls       output            observation.results  steps tool_result
    subagent_trajectory_ref       step handoff      final_metrics        metrics
                                  and metadata.sub_traces

The trajectories of subagents are traces of their own, embedded or not.
Steps that are copied context repeat another trajectory: they give the input and no steps. What has
no place in a trace stays in its metadata under `atif`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import ReasoningTrace

__all__ = ["agents_of", "embedded_in", "from_atif", "is_trajectory"]

_Object = dict[str, Any]
_REFERENCES = ("trajectory_id", "session_id")
_EMBEDDED = "subagent_trajectories"
_APART = ("steps", "session_id", _EMBEDDED)
_NOBODY: Mapping[str, str] = MappingProxyType({})


def is_trajectory(value: Json) -> bool:
    """Return whether a JSON value declares itself an ATIF trajectory."""
    if not isinstance(value, dict):
        return False
    version = value.get("schema_version")
    return isinstance(version, str) and version.upper().startswith("ATIF")


def agents_of(trajectories: Iterable[Json]) -> dict[str, str]:
    """Return the names of the agents of trajectories, by the ids that others refer to.

    A session that several agents share names none of them.
    """
    by_id: dict[str, str] = {}
    by_session: dict[str, set[str]] = {}
    waiting = list(trajectories)
    while waiting:
        trajectory = _object(waiting.pop())
        waiting += embedded_in(trajectory)
        name = _object(trajectory.get("agent")).get("name")
        if not isinstance(name, str):
            continue
        if isinstance(trajectory_id := trajectory.get("trajectory_id"), str):
            by_id[trajectory_id] = name
        if isinstance(session := trajectory.get("session_id"), str):
            by_session.setdefault(session, set()).add(name)
    return {session: min(names) for session, names in by_session.items() if len(names) == 1} | by_id


def embedded_in(value: Json) -> list[dict[str, Any]]:
    """Return the trajectories of subagents inside a trajectory."""
    return _objects(_object(value).get(_EMBEDDED))


def from_atif(
    value: Json, *, agents: Mapping[str, str] = _NOBODY, where: str | None = None
) -> ReasoningTrace:
    """Return the trace of a trajectory.

    Args:
        value: the trajectory.
        agents: the names of the agents it may refer to, as `agents_of` gives them; one that is
            not among them is called by the id of its trajectory or session.
        where: the file, for the error.

    Raises:
        DecodeError: it has no list of steps, or a step is no object.
    """
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list):
        actual = f"{type(steps).__name__} as its steps"
        raise DecodeError("an ATIF trajectory with a list of steps", actual, "$.steps", where=where)
    reading = _Reading(agents)
    for number, step in enumerate(steps):
        if not isinstance(step, dict):
            actual = type(step).__name__
            raise DecodeError("an object", actual, f"$.steps[{number}]", where=where)
        reading.step(cast("_Object", step))
    return decode(ReasoningTrace, _document(cast("_Object", value), reading), where=where)


class _Reading:
    """The trace that the steps so far add up to."""

    def __init__(self, agents: Mapping[str, str]) -> None:
        self._agents = agents
        self.steps: list[_Object] = []
        self.input: Any = None
        self.output: Any = None
        self.times: list[str] = []
        self.children: list[str] = []
        """Trace ids of the trajectories referred to."""

    def step(self, step: _Object) -> None:
        message = _content(step.get("message"))
        if step.get("source") == "user" and self.input is None:
            self.input = message
        if step.get("is_copied_context"):
            return
        time = step.get("timestamp")
        at = {"timestamp": time} if isinstance(time, str) else {}
        if at:
            self.times.append(at["timestamp"])
        if step.get("source") == "agent":
            self._agent(step, message, at)
        self._results(step, at)

    def _agent(self, step: _Object, message: Any, at: _Object) -> None:
        if thought := step.get("reasoning_content"):
            self.steps.append({"type": "reasoning", "content": thought, **at})
        calls = _objects(step.get("tool_calls"))
        if not calls:
            self.output = message if message not in (None, "") else self.output
            return
        if message not in (None, ""):
            self.steps.append({"type": "reasoning", "content": message, **at})
        for call in calls:
            tool_call: _Object = {"name": str(call.get("function_name", ""))}
            if isinstance(call.get("tool_call_id"), str):
                tool_call["id"] = call["tool_call_id"]
            if "arguments" in call:
                tool_call["arguments"] = call["arguments"]
            self.steps.append({"type": "tool_call", "tool_call": tool_call, **at})

    def _results(self, step: _Object, at: _Object) -> None:
        observation = step.get("observation")
        results = observation.get("results") if isinstance(observation, dict) else None
        for result in _objects(results):
            call_id = result.get("source_call_id")
            if isinstance(call_id, str):
                tool_result = _tool_result(call_id, result)
                self.steps.append({"type": "tool_result", "tool_result": tool_result, **at})
            for other in _objects(result.get("subagent_trajectory_ref")):
                ids = [
                    entry
                    for key in _REFERENCES
                    if isinstance(entry := other.get(key), str) and entry
                ]
                if ids:
                    self.children.append(ids[0])
                    target = next(
                        (self._agents[agent_id] for agent_id in ids if agent_id in self._agents),
                        ids[0],
                    )
                    self.steps.append({"type": "handoff", "to_agent": target, **at})


def _tool_result(call_id: str, result: _Object) -> _Object:
    """Return the result of a call, with its error if this package wrote the trajectory.

    ATIF has no member for an error. Ours is in `extra.agentool`, and its text is the content of a
    result that has no output.
    """
    tool_result: _Object = {"call_id": call_id, "output": _content(result.get("content"))}
    ours = _object(_object(_object(result.get("extra")).get("agentool")).get("tool_result"))
    if (error := ours.get("error")) is not None:
        tool_result["error"] = error
        if tool_result["output"] in (None, error):
            del tool_result["output"]
    return tool_result


def _document(value: _Object, reading: _Reading) -> _Object:
    agent = _object(value.get("agent"))
    session = value.get("session_id")
    trace: _Object = {
        "trace_id": str(value.get("trajectory_id") or session or ""),
        "steps": reading.steps,
    }
    if isinstance(agent.get("name"), str):
        trace["agent_id"] = agent["name"]
    if isinstance(session, str):
        trace["session_id"] = session
    for name in ("input", "output"):
        if getattr(reading, name) is not None:
            trace[name] = getattr(reading, name)
    if reading.times:
        trace["started_at"], trace["finished_at"] = reading.times[0], reading.times[-1]
    if metrics := _metrics(_object(value.get("final_metrics")), reading.steps):
        trace["metrics"] = metrics
    about = {name: value[name] for name in value if name not in _APART}
    metadata: _Object = {"atif": about}
    if reading.children:
        metadata["sub_traces"] = list(dict.fromkeys(reading.children))
    trace["metadata"] = metadata
    return trace


def _metrics(final: _Object, steps: list[_Object]) -> _Object:
    tokens = [final.get(f"total_{side}_tokens") for side in ("prompt", "completion")]
    metrics: _Object = {
        "step_count": len(steps),
        "tool_call_count": sum(step["type"] == "tool_call" for step in steps),
    }
    if all(type(count) is int for count in tokens):
        metrics["total_tokens"] = sum(cast("list[int]", tokens))
    if isinstance(cost := final.get("total_cost_usd"), (int, float)) and not isinstance(cost, bool):
        metrics["total_cost_usd"] = cost
    return metrics


def _content(value: Any) -> Any:
    """Return a message: text, or parts if it has any other than text."""
    parts = _objects(value)
    if parts and all(part.get("type") == "text" for part in parts):
        return "\n".join(str(part.get("text", "")) for part in parts)
    return value


def _object(value: Any) -> _Object:
    return cast("_Object", value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[_Object]:
    items: list[Any] = value if isinstance(value, list) else []
    return [cast("_Object", item) for item in items if isinstance(item, dict)]
