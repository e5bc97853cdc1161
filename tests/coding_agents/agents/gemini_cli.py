"""Gemini CLI."""

from __future__ import annotations

import json

from agentool_otel.testing.loopback_model import Request, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
from tests.coding_agents.situations import Action, Delegate, Edit, Mcp, Read, Shell, Situation

__all__ = ["GeminiCli"]


class GeminiCli(Agent):
    name = "gemini-cli"
    executable = "gemini"
    session_folder = ".gemini/tmp"
    harness_attributes = frozenset(
        {"gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.tool.description",
         "phases"}
    )  # fmt: skip
    log_events = frozenset(
        {"gemini_cli.user_prompt", "gemini_cli.api_request", "gemini_cli.api_response",
         "gemini_cli.api_error", "gemini_cli.tool_call", "gemini_cli.agent.start",
         "gemini_cli.agent.finish"}
    )  # fmt: skip
    session_files = ("**/chats/**/*.jsonl",)

    def prepare(self, place: Place, situation: Situation) -> None:
        settings: Json = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {
                "enabled": True,
                "target": "local",
                "otlpEndpoint": place.otlp_url,
                "otlpProtocol": "http",
                "logPrompts": situation.content,
                "traces": situation.content,
            },
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }
        if situation.mcp:
            command, *arguments = place.mcp_command
            server = {"command": command, "args": arguments, "trust": True}
            settings["mcpServers"] = {"demo": server}
        place.write(".gemini/settings.json", settings)
        rules = (
            "[[rule]]\n"
            'toolName = "run_shell_command"\n'
            f'commandPrefix = "{name}"\n'
            'decision = "deny"\n'
            "priority = 999\n"
            for name in situation.denied
        )
        place.write("policy.toml", "".join(rules))

    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": place.model_url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        command = [str(place.program), "-p", prompt, "--yolo", "-o", "json"]
        if situation.denied:
            command += ["--policy", str(place.home / "policy.toml")]
        return [*command, *(["--resume", "latest"] if resumed else [])]

    def call(self, action: Action, place: Place) -> Call:
        match action:
            case Read(path):
                return Call("read_file", {"file_path": path})
            case Edit(path, old, new):
                changed = {"old_string": old, "new_string": new}
                return Call("replace", {"file_path": path, "instruction": "Change it", **changed})
            case Shell(command):
                return Call("run_shell_command", {"command": command})
            case Mcp(tool, arguments):
                return Call(f"mcp_demo_{tool}", arguments)
            case Delegate(prompt, _):
                return Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})

    def report(self, text: str) -> Call:
        return Call("complete_task", {"result": {"response": text}})

    def own_request(self, request: Request) -> Turn | None:
        if not request.tools:  # the router, titles, summaries
            text = json.dumps({"complexity_reasoning": "easy", "complexity_score": 1,
                               "reasoning": "easy", "model_choice": "pro"})  # fmt: skip
            return Turn(text=text, input_tokens=100, output_tokens=5)
        return None
