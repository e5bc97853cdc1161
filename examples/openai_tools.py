# /// script
# requires-python = ">=3.10"
# dependencies = ["openai>=1.30"]
# ///
"""An OpenAI tool-calling loop, written by hand, without a line about telemetry.

    agentool-otel run -- python examples/openai_tools.py
    agentool-otel show

With OPENAI_API_KEY set it talks to the provider; without one, to a small model server on this
machine that comes with agentool_otel.
"""

from __future__ import annotations

import json
import os
from typing import Any

from openai import OpenAI

QUESTION = "What should I wear in Paris today?"
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Current weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


def get_weather(city: str) -> dict[str, Any]:
    return {"city": city, "sky": "rain", "celsius": 11}


def answer(client: OpenAI, question: str) -> str:
    """Call the model and the tools that it requests, until it answers."""
    messages: list[Any] = [
        {"role": "system", "content": "You give short advice on clothes."},
        {"role": "user", "content": question},
    ]
    while True:
        reply = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            if call.type == "function":
                result = get_weather(**json.loads(call.function.arguments))
                messages.append(
                    {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
                )


def main() -> None:
    if os.environ.get("OPENAI_API_KEY"):
        print(answer(OpenAI(), QUESTION))
        return
    from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

    with LoopbackModel() as model:
        model.push(
            Turn(
                reasoning="I need the weather first.",
                tool_calls=(ToolCall("get_weather", {"city": "Paris"}, id="call_paris"),),
                input_tokens=41,
                output_tokens=17,
            ),
            Turn(text="Take a raincoat: 11 degrees and rain.", input_tokens=78, output_tokens=12),
        )
        print(answer(OpenAI(base_url=model.base_url, api_key="none"), QUESTION))


if __name__ == "__main__":
    main()
