"""Tools of handoffs and delegations, and ids of prompts, as the installed dialects declare them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.dialects.kit import dialect as kit
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.integrations.opencode.tools import TOOLS as OPENCODE
from agentool_otel.integrations.qwen_code.tools import TOOLS as QWEN_CODE
from agentool_otel.reading.rebuild.steps.delegation import delegate, may_delegate
from agentool_otel.reading.rebuild.steps.handoff_rules import transfer_target, transfers


@pytest.fixture
def another_dialect(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A dialect of another package."""

    class Tiny:
        name = "tiny"
        agent_tools = AgentTools(("pass_to_", "relay"), ("Errand ", "errand"), ("runner",))
        prompt_ids = ("tiny.prompt",)

    installed: Any = (*kit.dialects(), Tiny())
    monkeypatch.setattr(kit, "dialects", lambda: installed)
    caches = (kit.agent_tools, kit.prompt_ids)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("another_dialect")
def test_another_dialect_declares_tools_of_handoffs() -> None:
    assert transfers("pass_to_clerk")
    assert transfer_target("pass_to_clerk") == "clerk"
    assert transfer_target("relay", {"agent_name": "clerk"}) == "clerk"
    assert not transfers("relay", {"amount": 3})
    assert transfers("transfer_to_clerk")


@pytest.mark.usefixtures("another_dialect")
def test_another_dialect_declares_tools_of_delegations() -> None:
    assert may_delegate("Errand for the clerk")
    assert may_delegate("errand")
    assert delegate("errand", {"agent": "ignored", "runner": "clerk"}) == "clerk"
    assert delegate("delegate_work", {"agent": "clerk"}) == "clerk"


@pytest.mark.usefixtures("another_dialect")
def test_another_dialect_declares_ids_of_prompts() -> None:
    assert "tiny.prompt" in kit.prompt_ids()
    assert "prompt.id" in kit.prompt_ids()


@pytest.mark.parametrize(
    ("name", "arguments", "target"),
    [
        ("transfer_to_refunds", {}, "refunds"),
        ("handoff_to_refunds", {}, "refunds"),
        ("Handoff-transfer_to_refunds", {}, "refunds"),
        ("transfer_to_agent", {"agent_name": "refunds"}, "refunds"),
        ("handoff_to_agent", {"agent_name": "refunds"}, "refunds"),
        ("handoff", {"to_agent": "refunds"}, "refunds"),
        ("transfer", {"amount": 10}, None),
        ("search", {"agent_name": "refunds"}, None),
    ],
)
def test_installed_dialects_declare_the_tools_of_their_frameworks(
    name: str, arguments: dict[str, Any], target: str | None
) -> None:
    assert transfer_target(name, arguments) == target
    assert transfers(name, arguments) == (target is not None)


@pytest.mark.parametrize(
    ("name", "arguments", "agent"),
    [
        ("Agent", {"subagent_type": "explorer", "agent": "other"}, "explorer"),
        ("Task", {"agent": "other"}, None),
        ("Delegate work to coworker", {"coworker": "clerk"}, "clerk"),
        ("delegate_to_clerk", {}, "clerk"),
    ],
)
def test_a_delegation_names_its_agent(
    name: str, arguments: dict[str, Any], agent: str | None
) -> None:
    assert may_delegate(name)
    assert delegate(name, arguments) == agent


CLIENTS = ["claude_code", "codex", "copilot", "gemini_cli"]


def test_dialects_of_coding_agents_declare_their_tools() -> None:
    tools = kit.agent_tools()
    for dialect in kit.dialects():
        if dialect.name in CLIENTS:
            declared = dialect.agent_tools
            assert declared.commands
            assert declared.edits
            assert {*declared.commands, *declared.exit_codes} <= {
                *tools.commands,
                *tools.exit_codes,
            }
            assert {name for name, _ in declared.exit_codes} <= {name for name, _ in tools.commands}


@pytest.mark.parametrize("tools", [OPENCODE, QWEN_CODE])
def test_clients_without_a_dialect_have_their_tools(tools: AgentTools) -> None:
    assert tools.commands
    assert tools.edits


def test_each_pattern_of_an_exit_code_has_one_group() -> None:
    declared = [kit.agent_tools(), OPENCODE, QWEN_CODE]
    patterns = [pattern for tools in declared for _, pattern in tools.exit_codes]
    assert {re.compile(pattern).groups for pattern in patterns} == {1}
