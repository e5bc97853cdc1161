"""A run reported by hand and by decorators, with a model that streams; run by `tests.pages`."""

from __future__ import annotations

import contextlib

import openai

import agentool_otel


@agentool_otel.step("reasoning")
def plan(goal: str) -> str:
    return f"To say {goal} I search first, and let the writer write."


@agentool_otel.tool
def search(query: str, limit: int = 3) -> list[str]:
    """Search the web."""
    return [f"{query}: spans for agents"] * limit


@agentool_otel.tool
def forecast(city: str) -> str:
    """Tell the weather."""
    raise TimeoutError(f"no weather of {city} within 20 ms")


@agentool_otel.agent
def writer(order: str) -> str:
    stream = openai.OpenAI(max_retries=0).chat.completions.create(
        model="gpt-5",
        messages=[
            {"role": "system", "content": "You write one sentence."},
            {"role": "user", "content": order},
        ],
        stream=True,
        stream_options={"include_usage": True},
    )
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


with agentool_otel.run(
    "researcher", input="What is new in tracing?", session_id="s-decorated", user_id="ada"
) as run:
    plan("what is new")
    run.reasoning("The newest first.")
    run.memory_read("what ada likes", [{"fact": "ada likes short answers"}])
    found = search("tracing", limit=2)
    with contextlib.suppress(TimeoutError):
        forecast("Berlin")
    run.memory_write("ada asked for news of tracing", key="asked")
    run.handoff("writer", "Write one sentence about spans for agents.")
    run.output = writer(f"Write one sentence: {found[0]}")
