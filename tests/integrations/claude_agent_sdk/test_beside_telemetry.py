"""The telemetry of the CLI beside spans of this package: one run, recorded by two."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanEvent, SpanRecord

TRACE, PROMPT = "a" * 32, "What is in a.txt?"
MESSAGES = [{"role": "user", "parts": [{"type": "text", "content": PROMPT}]}]
OURS, THEIRS = (
    "agentool_otel.instrumentation.claude_agent_sdk",
    "com.anthropic.claude_code.tracing",
)


def span(number: int, parent: int | None, name: str, scope: str, **attributes: Any) -> SpanRecord:
    return SpanRecord(
        TRACE, f"{number:016x}", f"{parent:016x}" if parent else None, name,
        start_ns=10**18 + number, end_ns=10**18 + 100 - number, scope=scope,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
    )  # fmt: skip


def test_the_run_of_the_cli_inside_ours_is_the_same_run() -> None:
    ours = span(1, None, "invoke_agent", OURS, gen_ai__operation__name="invoke_agent",
                gen_ai__input__messages=json.dumps(MESSAGES))  # fmt: skip
    ours.events = [SpanEvent("agentool.step", 10**18 + 3, {"agentool.step.type": "reasoning"})]
    call = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__call__id": "t1"}
    theirs = {"span__type": "interaction", "session__id": "s1"}
    spans = [
        ours,
        span(2, 1, "execute_tool Bash", OURS, gen_ai__tool__name="Bash", **call),
        span(3, 1, "claude_code.interaction", THEIRS, user_prompt=PROMPT, **theirs),
        span(4, 3, "claude_code.llm_request", THEIRS, input_tokens=9, output_tokens=1, model="m",
             **{**theirs, "span__type": "llm_request"}),
        span(5, 3, "claude_code.tool", THEIRS, tool_name="Bash", tool_use_id="t1",
             **{**theirs, "span__type": "tool"}),
    ]  # fmt: skip
    [run] = rebuild(spans)
    assert run.document["agent_id"] == "claude-code"
    assert run.document["session_id"] == "s1"
    kinds = [step["type"] for step in run.document["steps"]]
    assert kinds == ["tool_call", "reasoning", "tool_result"]
