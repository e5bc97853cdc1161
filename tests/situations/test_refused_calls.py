"""A text that a framework returns in place of a tool's result is an error of the call."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from agentool_otel import Assertion, evaluate
from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from tests.situations.conftest import Stage
from tests.situations.situations import possible

FRAMEWORKS = (
    *("adk", "agent_spec", "claude_agent_sdk", "crewai", "fastmcp", "langchain", "llama_index"),
    *("mcp", "mcp_1", "openai_agents", "pydantic_ai"),
)
RAISES = {("openai_agents", "unknown tool")}
"""Where the run ends by an exception instead."""
CALLS = {"unknown tool": "nothing", "invalid arguments": "search_web"}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("driver", FRAMEWORKS, indirect=True)
def test_a_refused_call_is_an_error(driver: ModuleType, call: str, stage: Stage) -> None:
    name = driver.__name__.rpartition(".")[2]
    tool = CALLS[call]
    if name == "claude_agent_sdk" and tool == "search_web":
        tool = "mcp__web__search_web"
    asks = Turn(tool_calls=(ToolCall(tool, {"wrong": [1]}),))
    raised = _play(driver, asks)
    assert raised == ((name, call) in RAISES)
    if raised:
        return
    results = evaluate(
        [Assertion.from_dict({"type": "no_tool_error"})], rebuild(stage.recorded.spans())
    )
    (outcome,) = next(iter(results)).assertion_results
    assert outcome.passed is False, outcome.reason


def _play(driver: Any, asks: Turn) -> bool:
    """Return whether the program saw an exception."""
    with LoopbackModel(asks, *[Turn(text="Sorry.")] * 3) as model:
        try:
            possible(driver)["plain"](model.base_url)
        except Exception:
            return True
    return False
