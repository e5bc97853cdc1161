"""Versions of the Claude Agent SDK, each with its CLI, and another package that traces it."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = "tests/integrations/claude_agent_sdk"
_ONLY = ("-k", "claude_agent_sdk")

ENVIRONMENTS = {
    # The contract takes minutes: the CLI is started a hundred times.
    "claude-agent-sdk": Environment(
        ("claude-agent-sdk>=0.2.189", "mcp>=2"),
        (
            *("tests/situations/test_expected.py", "tests/situations/test_task.py"),
            *("tests/endings", _TESTS, *_ONLY),
        ),
    ),
    "claude-agent-sdk-contract": Environment(
        ("claude-agent-sdk>=0.2.189", "mcp>=2"), (*SITUATIONS, *_ONLY), nightly=True
    ),
    "claude-agent-sdk-oldest": Environment(
        ("claude-agent-sdk==0.1.81", "mcp<2"),
        # This version leaves streams open.
        (*CONTRACT, _TESTS, *_ONLY, "-W", "ignore::pytest.PytestUnraisableExceptionWarning"),
        nightly=True,
    ),
    "beside-claude-agent-sdk": Environment(
        (
            *("claude-agent-sdk>=0.2.189", "mcp>=2"),
            "openinference-instrumentation-claude-agent-sdk>=0.1",
        ),
        ("tests/situations/test_beside.py", "-m", "not backends", *_ONLY),
        nightly=True,
    ),
}
