"""OpenClaw's telemetry, in the shapes of its public recordings: events without ids and times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import agentool_otel
from agentool_otel.model.documents import ReasoningTrace
from tests.records import shape

MAIN = "agent:main:main"
CHAT = "agent:main:telegram:direct:7"
SUBAGENT = "agent:main:subagent:ee85"
T = 1_782_238_951_000


def turn(ms: int, name: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": list(content),
        "provider": "anthropic",
        "model": "claude",
        "usage": {"input": 2, "output": 50, "cacheRead": 10, "cost": {"total": 0.5}},
        "timestamp": T + ms,
        "responseId": name,
    }


def said(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


CALL = {"type": "toolCall", "id": "t1", "name": "exec", "arguments": {"command": "whoami"}}
RESULT = {"role": "toolResult", "toolCallId": "t1", "content": [said("ubuntu")]}
HISTORY = [
    {"role": "user", "content": "who?", "timestamp": T},
    turn(2000, "m1", {"type": "thinking", "thinking": "hm"}, CALL),
    {**RESULT, "timestamp": T + 3000},
    turn(4000, "m2", said("ubuntu it is")),
]
FIRST: list[dict[str, Any]] = [
    {"type": "message.in", "channel": "telegram", "content": "who?", "timestamp": T},
    {"type": "agent.start", "sessionKey": MAIN, "agentId": "main", "prompt": "who?"},
    {"type": "agent.start", "sessionKey": MAIN, "agentId": "main", "prompt": "who?",
     "messages": []},
    {"type": "tool.start", "sessionKey": CHAT, "toolName": "exec",
     "params": {"command": "whoami"}},
    {"type": "tool.end", "sessionKey": CHAT, "toolName": "exec", "durationMs": 37,
     "success": True},
    {"type": "message.in", "channel": "telegram", "content": "again", "timestamp": T + 9000},
]  # fmt: skip
AGAIN = {"type": "agent.start", "sessionKey": MAIN, "agentId": "main", "prompt": "again"}


def traces(folder: Path, *events: dict[str, Any]) -> list[ReasoningTrace]:
    file = folder / "telemetry.jsonl"
    file.write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    return list(agentool_otel.load(file))


def test_a_turn_repeated_by_a_later_event_belongs_to_its_own_run(tmp_path: Path) -> None:
    first, second = traces(tmp_path, *FIRST, AGAIN, {**AGAIN, "messages": HISTORY})
    trace = first.to_dict()
    assert shape(trace) == [
        "reasoning hm",
        "call t1 exec {'command': 'whoami'}",
        "result t1 ubuntu",
    ]
    assert (trace["input"], trace["output"], trace["agent_id"]) == ("who?", "ubuntu it is", "main")
    assert (trace["session_id"], second.to_dict()["input"]) == (MAIN, "again")
    assert trace["steps"][2]["tool_result"]["duration_ms"] == 37
    assert trace["metrics"]["total_tokens"] == 124
    assert trace["metrics"]["total_cost_usd"] == 1.0


def test_a_turn_repeated_many_times_is_read_once(tmp_path: Path) -> None:
    end = {"type": "agent.end", "sessionKey": MAIN, "success": True, "messages": HISTORY}
    (trace,) = traces(tmp_path, *FIRST[:5], end, end)
    assert trace.to_dict()["metrics"]["total_tokens"] == 124


def test_a_subagent_is_a_run_of_its_own_below_the_tool_that_started_it(tmp_path: Path) -> None:
    spawn = {"sessionKey": CHAT, "toolName": "sessions_spawn"}
    main, sub = traces(
        tmp_path,
        *FIRST[:3],
        {"type": "tool.start", **spawn, "params": {"task": "Look.", "label": "scout"}},
        {"type": "tool.end", **spawn, "success": True},
        {"type": "agent.start", "sessionKey": SUBAGENT, "prompt": "[Task]\n\nLook.\n\nBegin."},
        {"type": "tool.start", "sessionKey": SUBAGENT, "toolName": "exec", "params": {}},
        {"type": "tool.end", "sessionKey": SUBAGENT, "toolName": "exec", "error": "late"},
    )
    assert shape(main.to_dict())[-1].startswith("handoff scout")
    assert main.to_dict()["metadata"]["sub_traces"] == [sub.trace_id]
    call, result = sub.to_dict()["steps"]
    assert (call["tool_call"]["name"], result["tool_result"]["error"]) == ("exec", "late")


def test_without_contents_names_and_times_remain(tmp_path: Path) -> None:
    at = {"sessionKey": MAIN, "agentId": "main"}
    (trace,) = traces(
        tmp_path,
        {"type": "agent.start", **at, "promptLength": 4, "ts": T, "seq": 1},
        {"type": "tool.start", **at, "toolName": "exec", "ts": T + 10, "seq": 2},
        {"type": "tool.end", **at, "toolName": "exec", "ts": T + 20, "seq": 3},
        {"type": "agent.end", **at, "success": False, "error": "timed out", "ts": T + 30},
    )
    result = trace.to_dict()
    assert [step["type"] for step in result["steps"]] == ["tool_call", "tool_result"]
    assert (result["status"], result["metrics"]["total_duration_ms"]) == ("timeout", 30)


def test_events_without_times_keep_the_order_of_their_lines(tmp_path: Path) -> None:
    tools: list[dict[str, Any]] = [
        {"type": kind, "sessionKey": MAIN, "toolName": name, "params": {}}
        for name in ("one", "two", "three", "four")
        for kind in ("tool.start", "tool.end")
    ]
    (trace,) = traces(tmp_path, {"type": "agent.start", "sessionKey": MAIN}, *tools)
    names = [step["tool_call"]["name"] for step in trace.to_dict()["steps"][::2]]
    assert names == ["one", "two", "three", "four"]
