"""opencode."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

from agentool_otel.testing.loopback_model import Request, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
from tests.coding_agents.situations import Action, Delegate, Edit, Mcp, Read, Shell, Situation

__all__ = ["OpenCode"]

_MODEL = "coder"


class OpenCode(Agent):
    """opencode keeps its sessions in a database: their files are what `opencode export` prints."""

    name = "opencode"
    executable = "opencode"
    model_delay_s = 2.0  # spans wait in a queue that the end of the process does not flush
    session_folder = ".local/share/opencode"
    spans = frozenset({"ai.streamText", "ai.streamText.doStream", "ai.toolCall", "Tool.execute"})
    log_events = frozenset[str]()
    harness_attributes = frozenset({"ai.prompt.tools"})

    def prepare(self, place: Place, situation: Situation) -> None:
        rules = {f"{name} *": "deny" for name in situation.denied}
        configuration: Json = {
            "autoupdate": False,
            "share": "disabled",
            "model": f"loopback/{_MODEL}",
            "small_model": f"loopback/{_MODEL}",
            "experimental": {"openTelemetry": situation.content},
            "permission": {"bash": {"*": "allow", **rules}},
            "provider": {
                "loopback": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "loopback",
                    "options": {"baseURL": f"{place.model_url}/v1", "apiKey": "none"},
                    "models": {_MODEL: {"name": _MODEL, "reasoning": True, "tool_call": True}},
                }
            },
        }
        if situation.mcp:
            server = {"type": "local", "command": place.mcp_command, "enabled": True}
            configuration["mcp"] = {"demo": server}
        place.write(".config/opencode/opencode.json", configuration)

    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": place.otlp_url,
            "OTEL_BSP_SCHEDULE_DELAY": "500",
            "OPENCODE_DISABLE_AUTOUPDATE": "true",
            "OPENCODE_DISABLE_MODELS_FETCH": "true",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "true",
        }

    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        command = [str(place.program), "run", "--format", "json"]
        return [*command, *(["--continue"] if resumed else []), prompt]

    def call(self, action: Action, place: Place) -> Call:
        match action:
            case Read(path):
                return Call("read", {"filePath": str(place.project / path)})
            case Edit(path, old, new):
                changed = {"oldString": old, "newString": new}
                return Call("edit", {"filePath": str(place.project / path), **changed})
            case Shell(command):
                return Call("bash", {"command": command, "description": "Run a command"})
            case Mcp(tool, arguments):
                return Call(f"demo_{tool}", arguments)
            case Delegate(prompt, _):
                kind = {"subagent_type": "general"}
                return Call("task", {"description": "Do a part", "prompt": prompt, **kind})

    def own_request(self, request: Request) -> Turn | None:
        if not request.tools:
            return Turn(text="A title", input_tokens=100, output_tokens=5)
        return None

    def matters(self, span: Json) -> bool:
        return False

    def sessions(self, place: Place, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
        environment = {
            name: text for name, text in environment.items() if not name.startswith("OTEL_")
        }

        def printed(*arguments: str) -> str:
            command = [str(place.program), *arguments]
            return subprocess.run(
                command, cwd=place.project, env=environment, capture_output=True, text=True,
                check=True, timeout=60, stdin=subprocess.DEVNULL,
            ).stdout  # fmt: skip

        waiting = [item["id"] for item in json.loads(printed("session", "list", "--format=json"))]
        while waiting:
            session = waiting.pop(0)
            exported = json.loads(printed("export", session))
            yield f"{session}.json", json.dumps(exported)
            for message in exported["messages"]:
                for part in message["parts"]:
                    metadata = part.get("state", {}).get("metadata") or {}
                    if "sessionId" in metadata:
                        waiting.append(metadata["sessionId"])
