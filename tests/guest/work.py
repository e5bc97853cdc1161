"""A service and a worker, without any tracing: each answers a question with one of two clients.

The service: `uvicorn tests.guest.work:service`; the worker: `celery -A tests.guest.work:worker`.
"""

from __future__ import annotations

import json
import os
from typing import Any

MODEL = os.environ["LOOPBACK_MODEL"]
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm  # noqa: E402
from celery import Celery  # noqa: E402
from fastapi import FastAPI  # noqa: E402
from google import genai  # noqa: E402

CLIENT = genai.Client(api_key="none", http_options={"base_url": MODEL})
TOOL = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object", "properties": {"key": {}}}},
}

service: Any = FastAPI()
worker: Any = Celery("work", broker="filesystem://")
worker.conf.update(
    result_backend=f"file://{os.path.abspath('results')}",
    broker_transport_options={
        "data_folder_in": "queue",
        "data_folder_out": "queue",
        "control_folder": "control",
    },
)


def look_up(key: str) -> str:
    """Look a key up."""
    return f"value of {key}"


def with_google(question: str) -> str:
    chat = CLIENT.chats.create(model="gemini-2.5-flash", config={"tools": [look_up]})
    return str(chat.send_message(question).text)


def with_litellm(question: str) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    server = {"model": "anthropic/claude-sonnet-5", "api_base": MODEL, "api_key": "none"}
    while True:
        answer = litellm.completion(messages=messages, tools=[TOOL], **server).choices[0].message
        if not answer.tool_calls:
            return str(answer.content)
        messages.append(answer.model_dump())
        for call in answer.tool_calls:
            result = look_up(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def answer(number: int) -> str:
    return (with_google if number % 2 else with_litellm)(f"question {number}")


@service.get("/{number}")
def asked(number: int) -> str:
    return answer(number)


@worker.task
def ask(number: int) -> str:
    return answer(number)
