"""The agents by name, one module each."""

from __future__ import annotations

from tests.coding_agents.agent import Agent
from tests.coding_agents.agents.claude_code import ClaudeCode
from tests.coding_agents.agents.codex import Codex
from tests.coding_agents.agents.copilot import Copilot
from tests.coding_agents.agents.gemini_cli import GeminiCli
from tests.coding_agents.agents.opencode import OpenCode
from tests.coding_agents.agents.qwen_code import QwenCode

__all__ = ["AGENTS"]

AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (ClaudeCode(), Codex(), GeminiCli(), Copilot(), QwenCode(), OpenCode())
}
