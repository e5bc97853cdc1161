"""What another agent said and did, told to a model as if the user had.

    user: For context:                            ADK, in parts of one message
          [helper] said: I pass you on
    user: For context: [helper] called tool: …    Eino, in one text

Source: google-adk 2.13.0 `flows/llm_flows/contents.py`; ADK for Go 2.2.0
`internal/llminternal/contents_processor.go`; eino v0.7.36 `adk/flow.go`. Such a message is the
other agent's, so that it is not taken for the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentool_otel.model.messages import Message, parts_of

__all__ = ["told_apart"]

_SPEAKER = re.compile(r"For context:\s*\[(.+?)\] ")


def told_apart(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages with those of other agents under their names; the same if none is."""
    made = [_from_agent(said) for said in messages]
    changed = any(one is not said for one, said in zip(made, messages, strict=True))
    return made if changed else messages


def _from_agent(said: Message) -> Message:
    if said.get("role") != "user":
        return said
    words = "\n".join(str(part.get("content")) for part in parts_of(said)[:2])
    named = _SPEAKER.match(words)
    return said if named is None else {**said, "role": "assistant", "name": named[1]}
