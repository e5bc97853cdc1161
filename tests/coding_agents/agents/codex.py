"""Codex."""

from __future__ import annotations

import json

from agentool_otel.testing.loopback_model import Request, ToolCall, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
from tests.coding_agents.situations import Action, Delegate, Edit, Mcp, Read, Shell, Situation

__all__ = ["Codex"]

_AGENTS = "multi_agent_v1"
"""Namespace of the tools for sub-agents."""


class Codex(Agent):
    name = "codex"
    executable = "codex"
    model = "gpt-5.5"
    session_folder = ".codex/sessions"
    spans = frozenset(
        {"turn/start", "session_task.turn", "run_turn", "exec_command", "apply_patch",
         "mcp__demolookup", "multi_agent_v1spawn_agent", "multi_agent_v1wait_agent",
         "dispatch_tool_call_with_state", "mcp.tools.call"}
    )  # fmt: skip
    log_events = frozenset(
        {"codex.conversation_starts", "codex.user_prompt", "codex.tool_decision",
         "codex.tool_result", "codex.agent_response", "codex.api_request"}
    )  # fmt: skip

    dropped_attributes = ("code.", "busy_ns", "idle_ns", "auth.", "thread.name", "target")

    def prepare(self, place: Place, situation: Situation) -> None:
        content = json.dumps(situation.content)

        def exporter(signal: str) -> str:
            url = json.dumps(f"{place.otlp_url}/v1/{signal}")
            return f'{{ otlp-http = {{ endpoint = {url}, protocol = "binary" }} }}'

        lines = [
            f'model = "{self.model}"',
            'model_provider = "loopback"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
            "check_for_update_on_startup = false",
            "[analytics]",
            "enabled = false",
            "[model_providers.loopback]",
            'name = "loopback"',
            f'base_url = "{place.model_url}/v1"',
            'env_key = "LOOPBACK_KEY"',
            'wire_api = "responses"',
            "[otel]",
            f"log_user_prompt = {content}",
            f"log_agent_responses = {content}",
            f"exporter = {exporter('logs')}",
            f"trace_exporter = {exporter('traces')}",
            f"metrics_exporter = {exporter('metrics')}",
        ]
        if situation.mcp:
            command, *arguments = place.mcp_command
            lines += [
                "[mcp_servers.demo]",
                f"command = {json.dumps(command)}",
                f"args = {json.dumps(arguments)}",
                'default_tools_approval_mode = "approve"',
            ]
        place.write(".codex/config.toml", "\n".join(lines) + "\n")
        rules = (f'prefix_rule(pattern=["{name}"], decision="forbidden")\n'
                 for name in situation.denied)  # fmt: skip
        if situation.denied:
            place.write(".codex/rules/default.rules", "".join(rules))

    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        return {"LOOPBACK_KEY": "none", "CODEX_HOME": str(place.home / ".codex")}

    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        resume = ["resume", "--last"] if resumed else []
        return [str(place.program), "exec", "--skip-git-repo-check", "--json", *resume, prompt]

    def call(self, action: Action, place: Place) -> Call:
        match action:
            case Read(path):
                return Call("exec_command", {"cmd": f"cat {path}"})
            case Edit(path, old, new):
                patch = (
                    f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
                )
                return Call("apply_patch", patch)
            case Shell(command):
                return Call("exec_command", {"cmd": command})
            case Mcp(tool, arguments):
                return Call(tool, arguments, "mcp__demo")
            case Delegate(prompt, _):
                return Call("spawn_agent", {"message": prompt}, _AGENTS)

    def own_request(self, request: Request) -> Turn | None:
        """Wait for a sub-agent, which runs beside the agent that has started it."""
        newest = request.messages[-1] if request.messages else {}
        try:
            agent_id = json.loads(newest.get("output") or "")["agent_id"]
        except (KeyError, TypeError, ValueError):
            return None
        arguments = {"targets": [agent_id], "timeout_ms": 30000}
        wait = ToolCall("wait_agent", arguments, "call_wait", _AGENTS)
        return Turn(tool_calls=(wait,), input_tokens=100, output_tokens=5)

    def matters(self, span: Json) -> bool:
        names = {pair["key"] for pair in span.get("attributes", ())}
        return "gen_ai.usage.input_tokens" in names or "codex.tool_call" in str(span.get("events"))

    def is_harness(self, line: Json) -> bool:
        return line.get("type") == "world_state"

    def log_matters(self, record: Json) -> bool:
        return any(pair["key"] == "input_token_count" for pair in record.get("attributes", ()))
