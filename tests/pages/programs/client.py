"""OpenAI's client by itself: a streamed chat, a response, a call that is refused with 429; run by
`tests.pages`."""

from __future__ import annotations

import contextlib

import openai

client = openai.OpenAI(max_retries=0)

for _ in client.chat.completions.create(
    model="gpt-5",
    messages=[{"role": "user", "content": "Name a night train."}],
    stream=True,
    stream_options={"include_usage": True},
):
    pass
client.responses.create(model="gpt-5", input="Name another.")
with contextlib.suppress(openai.RateLimitError):
    client.chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": "One more, too soon."}]
    )
