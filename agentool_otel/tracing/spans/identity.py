"""Conversation, user and agent that apply to every span below.

Kept in the context as the attributes they are, so that a span takes all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.context import Context, create_key, set_value

from agentool_otel.content.policy import label
from agentool_otel.model.operations import AgentCreation, AgentInvocation, Operation, Plan
from agentool_otel.otlp.span_parts import Shared
from agentool_otel.semconv import core, gen_ai

__all__ = ["IDENTITY_KEY", "agent_of", "as_agent", "identify", "identity_for", "names_of"]

IDENTITY_KEY = create_key("agentool-otel-identity")

_NOBODY: Mapping[str, str] = {}
_NAMED_AFTER_AN_AGENT = (AgentInvocation, AgentCreation, Plan)


def names_of(conversation_id: Any = None, user_id: Any = None) -> dict[str, str]:
    """Return the attributes of a conversation and a user, as short texts without credentials.

    None and the empty text name nobody.
    """
    values = {gen_ai.CONVERSATION_ID: conversation_id, core.USER_ID: user_id}
    return {
        key: text for key, value in values.items() if value is not None and (text := label(value))
    }


def identify(context: Context, names: Mapping[str, str]) -> Context:
    """Return a context with another conversation or user for the spans below.

    Args:
        context: the parent context. Its conversation, user and agent stay where `names` lacks them.
        names: the attributes, as `names_of` returns them.
    """
    parent = _names_above(context)
    if names.items() <= parent.items():
        return context
    return set_value(IDENTITY_KEY, Shared({**parent, **names}), context)


def as_agent(context: Context, name: str | None, names: Mapping[str, str]) -> Context:
    """Return the context in which an agent works, for the conversation and user of `names`.

    The spans of an agent without a name do not carry that of the agent around it.
    """
    attributes = {**_names_above(context), **names}
    attributes.pop(gen_ai.AGENT_NAME, None)
    if name is not None:
        attributes[gen_ai.AGENT_NAME] = label(name)
    return set_value(IDENTITY_KEY, Shared(attributes), context)


def agent_of(context: Context) -> str | None:
    """Return the name of the agent that works in a context."""
    return _names_above(context).get(gen_ai.AGENT_NAME)


def identity_for(operation: Operation, context: Context) -> Mapping[str, str]:
    """Return the identity attributes of an operation's span from its context.

    A span that is called after an agent carries that agent's name, or none.
    """
    names = _names_above(context)
    if gen_ai.AGENT_NAME in names and isinstance(operation, _NAMED_AFTER_AN_AGENT):
        names = {key: value for key, value in names.items() if key != gen_ai.AGENT_NAME}
    return names


def _names_above(context: Context) -> Mapping[str, str]:
    attributes: Any = context.get(IDENTITY_KEY)
    return _NOBODY if attributes is None else attributes
