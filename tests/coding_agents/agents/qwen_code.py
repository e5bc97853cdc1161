"""Qwen Code."""

from __future__ import annotations

from agentool_otel.testing.loopback_model import Request, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
from tests.coding_agents.situations import Action, Delegate, Edit, Mcp, Read, Shell, Situation

__all__ = ["QwenCode"]


class QwenCode(Agent):
    name = "qwen-code"
    executable = "qwen"
    session_folder = ".qwen/projects"
    session_files = ("*/chats/*.jsonl", "*/subagents/**/*.jsonl")
    harness_attributes = frozenset(
        {"gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.tool.description"}
    )

    def prepare(self, place: Place, situation: Situation) -> None:
        settings: Json = {
            "security": {"auth": {"selectedType": "openai"}},
            "telemetry": {
                "enabled": True,
                "target": "local",
                "otlpEndpoint": place.otlp_url,
                "otlpProtocol": "http",
                "logPrompts": situation.content,
                "includeSensitiveSpanAttributes": situation.content,
            },
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "permissions": {"deny": [f"Bash({name} *)" for name in situation.denied]},
        }
        if situation.mcp:
            command, *arguments = place.mcp_command
            server = {"command": command, "args": arguments, "trust": True}
            settings["mcpServers"] = {"demo": server}
        place.write(".qwen/settings.json", settings)

    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": f"{place.model_url}/v1",
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": "qwen3-coder-plus",
        }

    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        command = [str(place.program), "-p", prompt, "--yolo", "-o", "json"]
        return [*command, *(["--continue"] if resumed else [])]

    def call(self, action: Action, place: Place) -> Call:
        match action:
            case Read(path):
                return Call("read_file", {"file_path": str(place.project / path)})
            case Edit(path, old, new):
                changed = {"old_string": old, "new_string": new}
                return Call("edit", {"file_path": str(place.project / path), **changed})
            case Shell(command):
                return Call("run_shell_command", {"command": command, "is_background": False})
            case Mcp(tool, arguments):
                return Call(f"mcp__demo__{tool}", arguments)
            case Delegate(prompt, _):
                kind = {"subagent_type": "general-purpose", "run_in_background": False}
                return Call("agent", {"description": "Do a part", "prompt": prompt, **kind})

    def own_request(self, request: Request) -> Turn | None:
        if not request.tools:
            return Turn(text="A title", input_tokens=100, output_tokens=5)
        if "memory extraction subagent" in str(request.messages[0].get("content")):
            return Turn(text="Nothing to remember.", input_tokens=100, output_tokens=5)
        return None
