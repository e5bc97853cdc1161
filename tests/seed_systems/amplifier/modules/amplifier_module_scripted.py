"""Modules for real Amplifier sessions, since the published ones are not on PyPI: an orchestrator
that sends what loop-streaming or loop-basic sends, a provider that follows a script, a context in
memory, tools that succeed, fail, raise and delegate.

Source: what loop-basic, loop-streaming and a provider of 2026-07 send, by hook on every event.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

from amplifier_core import AmplifierSession, ToolResult
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall, Usage

Json = Any


class Context:
    """A context that keeps its messages."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages_for_request(self, **_: Any) -> list[dict[str, Any]]:
        return list(self.messages)

    async def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages

    async def clear(self) -> None:
        self.messages = []


class Provider:
    """Answers by a script: each entry is a text, a list of tool calls, or an exception."""

    name = "scripted"

    def __init__(self, coordinator: Any, config: dict[str, Any]):
        self.hooks = coordinator.hooks
        self.script = list(config["script"])
        self.older = config.get("older", False)
        self.silent = config.get("silent", False)
        self.seen: list[Any] = []

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        self.seen.append(config_seen())
        head = {"provider": self.name, "model": "scripted-1", "message_count": 1}
        await self._emit("llm:request", head)
        entry = self.script.pop(0)
        for _retry in range(entry.pop("retries", 0) if isinstance(entry, dict) else 0):
            await self._emit("provider:retry", {"provider": self.name, "attempt": 1})
        if isinstance(entry, dict) and "error" in entry:
            error = {"type": "rate_limit", "msg": entry["error"]}
            failed = {**head, "status": "error", "error": entry["error"], "duration_ms": 3}
            await self._emit("llm:response", failed)
            await self._emit("provider:error", {"provider": self.name, "error": error})
            raise RuntimeError(entry["error"])
        calls = entry.get("calls", []) if isinstance(entry, dict) else []
        words = entry.get("text", "") if isinstance(entry, dict) else entry
        usage = Usage(
            input_tokens=21, output_tokens=7, total_tokens=28, cache_read_tokens=5,
            cache_write_tokens=2, reasoning_tokens=3, cost_usd=Decimal("0.0123"),
        )  # fmt: skip
        reported: Json = usage.model_dump(mode="json")
        if self.older:
            reported = {"input": 21, "output": 7, "cache_read": 5, "cache_write": 2}
        reason = "tool_calls" if calls else "stop"
        done = {**head, "status": "ok", "usage": reported, "finish_reason": reason}
        await self._emit("llm:response", done)
        return ChatResponse(
            content=[TextBlock(text=words)] if words else [],
            tool_calls=[ToolCall(**call) for call in calls],
            usage=usage,
            finish_reason=reason,
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return response.tool_calls or []

    async def _emit(self, event: str, data: dict[str, Any]) -> None:
        if not self.silent:
            await self.hooks.emit(event, data)


class Orchestrator:
    """Calls the provider and the tools it requests, all at once, until it answers."""

    def __init__(self, config: dict[str, Any]):
        self.streaming = config.get("events", "streaming") == "streaming"
        self.ids = config.get("ids", self.streaming)
        self.words = config.get("words", ("tool_input", "result"))

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: dict[str, Any],
        tools: dict[str, Any],
        hooks: Any,
        coordinator: Any = None,
        **_: Any,
    ) -> str:
        self.coordinator = coordinator
        await hooks.emit("prompt:submit", {"prompt": prompt})
        if self.streaming:
            await hooks.emit("execution:start", {"prompt": prompt})
        name, provider = next(iter(providers.items()))
        for iteration in range(1, 10):
            await hooks.emit("provider:request", {"provider": name, "iteration": iteration})
            answer = await provider.complete(ChatRequest(messages=[]))
            await self._tell(hooks, name, answer)
            if not answer.tool_calls:
                break
            group = f"group-{iteration}"
            await asyncio.gather(
                *(self._use(hooks, tools, tool_call, group) for tool_call in answer.tool_calls)
            )
        words = "".join(block.text for block in answer.content)
        if self.streaming:
            await hooks.emit("execution:end", {})
        else:
            preview = {"response_preview": words[:200], "length": len(words)}
            await hooks.emit("prompt:complete", preview)
        done = {"orchestrator": "scripted", "turn_count": iteration, "status": "success"}
        await hooks.emit("orchestrator:complete", done)
        return words

    async def _tell(self, hooks: Any, name: str, answer: ChatResponse) -> None:
        if not self.streaming:
            calls = bool(answer.tool_calls)
            messages = {"provider": name, "usage": str(answer.usage), "tool_calls": calls}
            await hooks.emit("provider:response", messages)
            return
        blocks: list[Json] = [block.model_dump() for block in answer.content]
        for call in answer.tool_calls or ():
            blocks.append(
                {"type": "tool_call", "id": call.id, "name": call.name, "input": call.arguments}
            )
        for index, block in enumerate(blocks):
            await hooks.emit("content_block:start", {"block_type": block["type"], "index": index})
            await hooks.emit("content_block:end", {"block": block, "index": index})

    async def _use(self, hooks: Any, tools: dict[str, Any], call: ToolCall, group: str) -> None:
        value, gave = self.words
        which = {"tool_name": call.name, "parallel_group_id": group}
        if self.ids:
            which["tool_call_id"] = call.id
        full = {**which, value: call.arguments}
        emit = await hooks.emit("tool:pre", full)
        if self.coordinator is not None:
            emit = await self.coordinator.process_hook_result(emit, "tool:pre", call.name)
        if emit.action == "deny":
            return
        if call.name not in tools:
            error = {"type": "RuntimeError", "msg": f"Error: Tool '{call.name}' not found"}
            await hooks.emit("tool:error", {**which, "error": error})
            return
        try:
            result = await tools[call.name].execute(call.arguments)
        except Exception as error:
            if not self.streaming:
                messages = {"type": type(error).__name__, "msg": str(error)}
                await hooks.emit("tool:error", {**which, "error": messages})
                return
            result = ToolResult(success=False, error={"message": str(error)})
        await hooks.emit("tool:post", {**full, gave: self._shown(result)})

    def _shown(self, result: Any) -> Any:
        """Return a result as it stands in the event: loop-basic sends an object, of which the
        kernel makes text."""
        if not isinstance(result, ToolResult):
            return result
        return result.model_dump() if self.streaming else result


_probes: list[Any] = []


def config_seen() -> Any:
    """Return what the probe of a test sees where it is called."""
    return _probes[-1]() if _probes else None


def probed(probe: Any) -> None:
    """Have a probe called inside every tool and every provider."""
    _probes[:] = [probe]


class Weather:
    """A tool with everything the Tool Contract shows."""

    name = "weather"
    description = "Returns the weather of a city."
    input_schema = {"type": "object", "properties": {"city": {"type": "string"}}}  # noqa: RUF012

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def execute(self, input: dict[str, Any]) -> Any:
        self.seen.append(config_seen())
        city = input["city"]
        await asyncio.sleep(0.001 * (5 - len(city) % 5))  # the answers come in another order
        if city == "Atlantis":
            raise LookupError("Atlantis has sunk")
        if city == "Nowhere":
            return ToolResult(success=False, error={"message": "no such city"})
        if city == "Plain":  # as the Tool Contract's page has it
            return {"success": True, "output": "mild"}
        return ToolResult(output={"city": city, "sky": "sunny"})


class Delegate:
    """A tool that gives its task to a session of its own."""

    name = "delegate"
    description = "Gives a task to another agent."
    input_schema = {"type": "object"}  # noqa: RUF012

    def __init__(self, coordinator: Any, config: dict[str, Any]):
        self.coordinator = coordinator
        self.config = config

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        child = AmplifierSession(
            self.config["child"],
            session_id="0123456789abcdef-fedcba9876543210_writer",
            parent_id=self.coordinator.session_id,
        )
        messages = {"agent": "writer", "sub_session_id": child.session_id}
        await self.coordinator.hooks.emit("delegate:agent_spawned", messages)
        async with child:
            answer = await child.execute(input["task"])
        await self.coordinator.hooks.emit("delegate:agent_completed", messages)
        return ToolResult(output=answer)
