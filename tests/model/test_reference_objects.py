"""Live objects of the agentool reference package.

The classes below stand in for it: they have its field names and defaults, and a `to_dict()` with
its losses (empty values vanish, memory content overwrites content, a handoff to nobody forgets its
message, extra members overwrite known ones).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any

import pytest

from agentool_otel.errors import DecodeError
from agentool_otel.model import UNSET, EvalResult, ReasoningTrace, Step, ToolCall, ToolSpec
from agentool_otel.model.codec import decode, encode

START = datetime(2026, 3, 1, 10, tzinfo=timezone.utc)


class StepType(Enum):
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    HANDOFF = "handoff"
    MEMORY_READ = "memory_read"
    MEMORY_WRITE = "memory_write"


class TraceStatus(Enum):
    SUCCESS = "success"
    IN_PROGRESS = "in_progress"


@dataclass
class Spec:
    name: str
    description: str
    parameters: dict[str, Any]
    returns: dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        results = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        optional = {"returns": self.returns, "metadata": self.metadata}
        return results | {name: value for name, value in optional.items() if value}


@dataclass
class Call:
    name: str
    arguments: dict[str, Any]
    id: str = "call_1"
    timestamp: datetime = START

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "timestamp": self.timestamp.isoformat()}


@dataclass
class TraceStep:
    type: StepType
    step_id: str = "step_1"
    timestamp: datetime = START
    content: str | None = None
    context_tokens: int = 0
    tool_call: Call | None = None
    to_agent: str | None = None
    handoff_message: str | None = None
    query: str | None = None
    results: list[Any] | None = None
    memory_key: str | None = None
    memory_content: str | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        results: dict[str, Any] = {"step_id": self.step_id, "type": self.type.value}
        results["timestamp"] = self.timestamp.isoformat()
        for name in ("content", "context_tokens", "query", "results"):
            if getattr(self, name):
                results[name] = getattr(self, name)
        if self.tool_call:
            results["tool_call"] = self.tool_call.to_dict()
        if self.to_agent:
            results |= {"to_agent": self.to_agent, "message": self.handoff_message}
        if self.memory_key:
            results["key"] = self.memory_key
        if self.memory_content:
            results["content"] = self.memory_content
        return results | self.extra


@dataclass
class Metrics:
    total_tokens: int = 0
    total_cost_usd: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class Trace:
    agent_id: str
    input: str
    trace_id: str = "tr_1"
    session_id: str | None = None
    started_at: datetime = START
    finished_at: datetime | None = None
    output: str | None = None
    status: TraceStatus = TraceStatus.IN_PROGRESS
    steps: list[TraceStep] = field(default_factory=list[TraceStep])
    metrics: Metrics = field(default_factory=Metrics)
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        return {
            **vars(self),
            "started_at": self.started_at.isoformat(),
            "status": self.status.value,
            "steps": [step.to_dict() for step in self.steps],
            "metrics": self.metrics.to_dict(),
        }


def step(kind: StepType, **fields: Any) -> Step:
    return decode(Step, TraceStep(kind, **fields))


def test_a_trace_converts_to_its_document() -> None:
    call = Call("search", {"q": 1})
    trace = Trace("a", "hi", steps=[TraceStep(StepType.TOOL_CALL, tool_call=call)])
    when = "2026-03-01T10:00:00+00:00"
    assert encode(decode(ReasoningTrace, trace)) == {
        "trace_id": "tr_1",
        "agent_id": "a",
        "session_id": None,
        "started_at": when,
        "finished_at": None,
        "input": "hi",
        "output": None,
        "status": "in_progress",
        "steps": [
            {
                "type": "tool_call",
                "step_id": "step_1",
                "timestamp": when,
                "tool_call": {
                    "name": "search",
                    "arguments": {"q": 1},
                    "id": "call_1",
                    "timestamp": when,
                },
            }
        ],
        "metrics": {"total_tokens": 0, "total_cost_usd": 0.0},
        "metadata": {},
    }


def test_an_empty_returns_schema_is_not_dropped() -> None:
    assert decode(ToolSpec, Spec("t", "d", {}, returns={})).returns == {}


def test_members_that_were_never_set_are_absent() -> None:
    spec = decode(ToolSpec, Spec("t", "d", {}))
    assert (spec.returns, spec.metadata) == (UNSET, UNSET)


def test_zero_context_tokens_belong_to_a_reasoning_step_only() -> None:
    assert step(StepType.REASONING, content="hm").context_tokens == 0
    assert step(StepType.HANDOFF, to_agent="b").context_tokens is UNSET


def test_an_empty_query_is_not_dropped() -> None:
    assert (
        step(StepType.MEMORY_READ, query="", results=[]).to_dict().items()
        >= {
            "query": "",
            "results": [],
        }.items()
    )


def test_a_handoff_without_target_keeps_its_message() -> None:
    handoff = step(StepType.HANDOFF, handoff_message="please")
    assert (handoff.message, handoff.to_agent) == ("please", UNSET)


def test_memory_fields_get_their_json_names() -> None:
    written = step(StepType.MEMORY_WRITE, memory_key="k", memory_content="v")
    assert (written.key, written.content, written.extra) == ("k", "v", {})


def test_memory_content_does_not_swallow_the_content_of_its_step() -> None:
    written = step(StepType.MEMORY_WRITE, content="because", memory_content="v")
    assert (written.content, written.extra) == ("v", {"step_content": "because"})


def test_memory_content_of_another_step_is_kept_beside_its_content() -> None:
    thought = step(StepType.REASONING, content="because", memory_content="v")
    assert (thought.content, thought.extra) == ("because", {"memory_content": "v"})


def test_extra_members_are_flattened_and_overwrite_nothing() -> None:
    thought = step(StepType.REASONING, extra={"type": "spoof", "mood": "calm"})
    assert (thought.type, thought.extra) == ("reasoning", {"mood": "calm"})


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 3, 1, 10, 0, 0, 5), "2026-03-01T10:00:00.000005"),
        (START.astimezone(timezone(timedelta(hours=2))), "2026-03-01T12:00:00+02:00"),
    ],
)
def test_a_time_keeps_its_offset_or_stays_without_one(moment: datetime, text: str) -> None:
    assert decode(ToolCall, Call("t", {}, timestamp=moment)).timestamp == text


def test_a_dataclass_without_to_dict_is_read_by_its_fields() -> None:
    @dataclass
    class Bare:
        name: str
        arguments: dict[str, Any]
        timestamp: datetime | None = None

    assert decode(ToolCall, Bare("t", {})) == ToolCall(name="t", arguments={})


def test_any_object_with_to_dict_is_read_by_it() -> None:
    class Judged:
        def to_dict(self) -> dict[str, Any]:
            return {"case_id": "c", "passed": True, "assertion_results": [], "notes": "fine"}

    assert decode(EvalResult, Judged()).notes == "fine"


def test_a_dataclass_with_other_fields_is_read_by_its_to_dict() -> None:
    @dataclass
    class Wrapped:
        inner: Call

        def to_dict(self) -> dict[str, Any]:
            return self.inner.to_dict()

    assert decode(ToolCall, Wrapped(Call("t", {}))).name == "t"


def test_an_error_inside_an_object_names_the_path_to_it() -> None:
    wrong = Call("t", {}, id=3)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] # a bug of the user's
    trace = Trace("a", "hi", steps=[TraceStep(StepType.TOOL_CALL, tool_call=wrong)])
    with pytest.raises(DecodeError, match=r"\$\.steps\[0\]\.tool_call\.id"):
        decode(ReasoningTrace, trace)


def test_a_class_is_not_an_object_of_it() -> None:
    with pytest.raises(DecodeError, match="expected object"):
        decode(ToolCall, Call)
