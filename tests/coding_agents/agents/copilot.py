"""Copilot CLI."""

from __future__ import annotations

import json

from agentool_otel.testing.loopback_model import Request, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
from tests.coding_agents.situations import Action, Delegate, Edit, Mcp, Read, Shell, Situation

__all__ = ["Copilot"]


class Copilot(Agent):
    name = "copilot"
    executable = "copilot"
    session_folder = ".copilot/session-state"
    session_files = ("*/events.jsonl",)
    harness_attributes = frozenset(
        {"gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.tool.description"}
    )

    def prepare(self, place: Place, situation: Situation) -> None:
        servers: Json = {}
        if situation.mcp:
            command, *arguments = place.mcp_command
            server = {"type": "local", "command": command, "args": arguments, "tools": ["*"]}
            servers["demo"] = server
        place.write(".copilot/mcp-config.json", {"mcpServers": servers})

    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{place.model_url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "gpt-5.2",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_OTEL_ENABLED": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": place.otlp_url,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": json.dumps(situation.content),
        }

    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        command = [str(place.program), "-p", prompt, "--allow-all-tools", "--no-color"]
        for name in situation.denied:
            command += ["--deny-tool", f"shell({name})"]
        return [*command, *(["--continue"] if resumed else [])]

    def call(self, action: Action, place: Place) -> Call:
        match action:
            case Read(path):
                return Call("view", {"path": str(place.project / path)})
            case Edit(path, old, new):
                changed = {"old_str": old, "new_str": new}
                return Call("edit", {"path": str(place.project / path), **changed})
            case Shell(command):
                return Call("bash", {"command": command, "description": "Run a command"})
            case Mcp(tool, arguments):
                return Call(f"demo-{tool}", arguments)
            case Delegate(prompt, _):
                kind = {"agent_type": "general-purpose", "mode": "sync", "name": "part"}
                return Call("task", {"description": "Do a part", "prompt": prompt, **kind})

    def own_request(self, request: Request) -> Turn | None:
        if not request.tools:
            return Turn(text="A title", input_tokens=100, output_tokens=5)
        return None
