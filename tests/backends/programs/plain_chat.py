"""A chat of two questions around OpenAI's client, without a decorator: a program of a user."""

import json
from typing import Any

import openai

TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("search", "weather")
]


def run(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} of {arguments['q']}"


def ask(client: openai.OpenAI, messages: list[Any], question: str) -> str:
    messages.append({"role": "user", "content": question})
    while True:
        completion = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        message = completion.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return str(message.content)
        for call in message.tool_calls:
            function: Any = getattr(call, "function", None)
            result = run(function.name, json.loads(function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def main() -> None:
    chat: list[Any] = []
    with openai.OpenAI(max_retries=0) as client:
        for question in ("FIRST", "SECOND"):
            print(ask(client, chat, question))


if __name__ == "__main__":
    main()
