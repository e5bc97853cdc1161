"""A framework of agents in forty lines. It knows nothing of tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Model = Callable[[list[Message]], Message]


class Agent:
    """Calls its model and the tools that it requests, until the model answers."""

    def __init__(self, name: str, model: Model, tools: dict[str, Callable[..., str]]):
        self.name = name
        self.model = model
        self.tools = tools

    def run(self, question: str) -> str:
        messages: list[Message] = [{"role": "user", "content": question}]
        while True:
            answer = self.ask(messages)
            messages.append(answer)
            calls = answer.get("tool_calls")
            if not calls:
                return str(answer["content"])
            for call in calls:
                result = self.use(call["name"], call["arguments"], call["id"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    def ask(self, messages: list[Message]) -> Message:
        return self.model(messages)

    def use(self, tool: str, arguments: dict[str, Any], call_id: str) -> str:
        return self.tools[tool](**arguments)
