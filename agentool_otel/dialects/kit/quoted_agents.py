"""Messages of other agents that a framework sends to a model as the user's.

    user: For context:                            ADK, in parts of one message
          [helper] said: I pass you on
    user: For context: [helper] called tool: …    Eino, in one text

Source: google-adk 2.13.0 `flows/llm_flows/contents.py`; ADK for Go 2.2.0
`internal/llminternal/contents_processor.go`; eino v0.7.36 `adk/flow.go`. Such a message
is attributed to the other agent, so that it does not count as the user's question.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.ground import lazy_re as re
from agentool_otel.model.messages import Message, parts_of

__all__ = ["with_quoted_agents"]

_SPEAKER = re.compile(r"For context:\s*\[(.+?)\] ")


def with_quoted_agents(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages with those of other agents under their names; the same if none is."""
    renamed = [_from_agent(message) for message in messages]
    changed = any(one is not message for one, message in zip(renamed, messages, strict=True))
    return renamed if changed else messages


def _from_agent(message: Message) -> Message:
    if message.get("role") != "user":
        return message
    words = "\n".join(str(part.get("content")) for part in parts_of(message)[:2])
    named = _SPEAKER.match(words)
    return message if named is None else {**message, "role": "assistant", "name": named[1]}
