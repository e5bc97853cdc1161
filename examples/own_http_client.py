"""An agent that calls its model by an HTTP client of its own, recorded: no SDK, no framework.

    python examples/own_http_client.py
    agentool-otel show

With OPENAI_API_KEY set it talks to the provider; without one, to a small model server on this
machine that comes with agentool_otel.
"""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any

import agentool_otel

agentool_otel.instrument(service_name="wardrobe")

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


@agentool_otel.tool
def get_weather(city: str) -> dict[str, Any]:
    return {"city": city, "sky": "rain", "celsius": 11}


def ask(base_url: str, messages: list[Any]) -> dict[str, Any]:
    """Post to the model; whatever client does it, the block around it is the call."""
    url = f"{base_url}/chat/completions"
    with agentool_otel.model_call(
        MODEL, messages=messages, tools=TOOLS, provider="openai", url=url
    ) as call:
        body = {"model": MODEL, "messages": messages, "tools": TOOLS}
        headers = {
            "authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}",
            "content-type": "application/json",
        }
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as response:
            text = json.load(response)
        call.output(text)  # the answer, its finish reason, the tokens
    return text["choices"][0]["message"]  # type: ignore[no-any-return]


@agentool_otel.agent(name="wardrobe")
def answer(question: str, base_url: str) -> str:
    """Call the model and the tools that it requests, until it answers."""
    messages: list[Any] = [
        {"role": "system", "content": "You give short advice on clothes."},
        {"role": "user", "content": question},
    ]
    while True:
        message = ask(base_url, messages)
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for wanted in message["tool_calls"]:
            result = get_weather(**json.loads(wanted["function"]["arguments"]))
            content = json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": content})


def main() -> None:
    if os.environ.get("OPENAI_API_KEY"):
        print(answer(QUESTION, os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")))
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
        print(answer(QUESTION, model.base_url))


if __name__ == "__main__":
    main()
    agentool_otel.flush()
