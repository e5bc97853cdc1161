"""An agent that fails, calls that are refused, and a model that is dear; run by
`tests.backends.workload`."""

from __future__ import annotations

import contextlib

import openai

import agentool_otel

client = openai.OpenAI(max_retries=0)


@agentool_otel.agent
def unlucky(order: str) -> None:
    client.chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": order}]
    )


for _ in range(10):
    with contextlib.suppress(openai.RateLimitError):
        unlucky("Once more, too soon.")

asked = [{"role": "user", "content": "Read all of it."}]
with agentool_otel.model_call("claude-sonnet-5", messages=asked, provider="anthropic") as call:
    call.output("Done.")
    call.usage(input_tokens=4_000_000, output_tokens=2_000_000, cache_read_tokens=1_000_000)
