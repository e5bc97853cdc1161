"""Claude Code."""

from __future__ import annotations

import json

from agentool_otel.testing.loopback_model import Request, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
from tests.coding_agents.situations import Action, Delegate, Edit, Mcp, Read, Shell, Situation

__all__ = ["ClaudeCode"]

_TOOLS = "Read Edit Bash Agent Task mcp__demo__lookup"


class ClaudeCode(Agent):
    name = "claude-code"
    executable = "claude"
    model = "claude-sonnet-4-5"
    call_prefix = "toolu_"
    session_folder = ".claude/projects"
    plumbing_lines = frozenset(
        {"api-request-shape", "api-request-blob", "api-request", "last-prompt", "atis-latch"}
    )

    def prepare(self, place: Place, situation: Situation) -> None:
        command, *arguments = place.mcp_command
        servers = {"demo": {"command": command, "args": arguments}} if situation.mcp else {}
        place.write("mcp.json", {"mcpServers": servers})

    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        content = str(int(situation.content))
        switches = ("USER_PROMPTS", "TOOL_DETAILS", "TOOL_CONTENT", "ASSISTANT_RESPONSES")
        return {
            "ANTHROPIC_BASE_URL": place.model_url,
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_MODEL": self.model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
            "IS_SANDBOX": "1",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": place.otlp_url,
            "OTEL_TRACES_EXPORT_INTERVAL": "500",
            "OTEL_LOGS_EXPORT_INTERVAL": "500",
            **{f"OTEL_LOG_{switch}": content for switch in switches},
        }

    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        command = [str(place.program), "-p", prompt, "--output-format", "stream-json", "--verbose"]
        command += ["--mcp-config", str(place.home / "mcp.json"), "--strict-mcp-config"]
        command += ["--allowedTools", *_TOOLS.split()]
        if situation.denied:
            command += ["--disallowedTools", *(f"Bash({name}:*)" for name in situation.denied)]
        return [*command, *(["--continue"] if resumed else [])]

    def call(self, action: Action, place: Place) -> Call:
        match action:
            case Read(path):
                return Call("Read", {"file_path": str(place.project / path)})
            case Edit(path, old, new):
                changed = {"old_string": old, "new_string": new}
                return Call("Edit", {"file_path": str(place.project / path), **changed})
            case Shell(command):
                return Call("Bash", {"command": command, "description": "Run a command"})
            case Mcp(tool, arguments):
                return Call(f"mcp__demo__{tool}", arguments)
            case Delegate(prompt, _):
                kind = {"subagent_type": "general-purpose", "run_in_background": False}
                return Call("Agent", {"description": "Do a part", "prompt": prompt, **kind})

    def is_harness(self, line: Json) -> bool:
        kinds = ("attachment", "api-request-shape", "api-request-blob", "api-request")
        return line.get("type") in kinds

    def own_request(self, request: Request) -> Turn | None:
        if not request.tools:  # titles, topics, summaries
            text = json.dumps({"title": "A title", "isNewTopic": False})
            return Turn(text=text, input_tokens=100, output_tokens=5)
        return None
