"""WayFlow's conversations: steps begun in one end with it.

WayFlow reports no end of the flows and nodes that an exception leaves. Without its
`AgentSpecEventListener` it has no spans of pyagentspec, so nothing of a conversation is recorded.

Source: wayflowcore conversation.py at 26.3.0; events/eventlistener.py and agentspec/tracing.py at
26.3.1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import time_ns
from typing import Any, Protocol

from opentelemetry.context import Context, attach, get_current

from agentool_otel.ground import environment
from agentool_otel.integrations.agent_spec.instrumentor.failures import Failure
from agentool_otel.providers.fields import is_a, string
from agentool_otel.semconv import gen_ai
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.identity import IDENTITY_KEY, identify, names_of
from agentool_otel.tracing.spans.settings import guarded, settings

__all__ = ["Begun", "begun_here", "conversing", "executed", "executed_async"]


class Begun(Protocol):
    """A step that a conversation has begun."""

    def leave(self) -> None: ...

    def end(self, end_ns: int, failure: Failure | None = None, finished: bool = True) -> None: ...


_LISTENERS = "get_event_listeners"
_LISTENER = "AgentSpecEventListener"

_begun: ContextVar[set[Any] | None] = ContextVar("agentool-otel-agent-spec", default=None)


def begun_here() -> set[Any] | None:
    """Return the steps that the current conversation is to end; None outside of any."""
    return _begun.get()


def executed(
    wrapped: Callable[..., Any], conversation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Conversation.execute`."""
    with conversing(conversation):
        return wrapped(*args, **kwargs)


async def executed_async(
    wrapped: Callable[..., Any], conversation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Conversation.execute_async`."""
    with conversing(conversation):
        return await wrapped(*args, **kwargs)


@contextmanager
def conversing(conversation: Any) -> Generator[None]:
    """End steps that begin inside the block, outside of any other step, with the block."""
    if begun_here() is None:
        with guarded("looking for WayFlow's listener"):
            _notice_without_listener()
    open_steps: set[Begun] = set()
    before = _begun.set(open_steps)
    token = attach(_identity_context(conversation))
    failure = None
    try:
        yield
    except BaseException as error:
        failure = Failure.from_exception(error)
        raise
    finally:
        for step in list(open_steps):
            step.leave()
        restore(token)
        with suppress(ValueError):  # closed in another context, by the garbage collector
            _begun.reset(before)
        if failure is not None and is_a(failure.error, GeneratorExit):
            when_safe(_finish, open_steps, time_ns(), failure)
        else:
            _finish(open_steps, time_ns(), failure)


def _notice_without_listener() -> None:
    """Log once that a conversation is not recorded, if that is so."""
    listeners = getattr(sys.modules.get("wayflowcore.events.eventlistener"), _LISTENERS, None)
    if not settings.enabled or listeners is None:
        return
    bases = {base.__name__ for listener in listeners() for base in type(listener).__mro__}
    if _LISTENER not in bases:
        environment.notice(
            f"conversations of WayFlow are not recorded, because no {_LISTENER} is registered; "
            f"hint: with register_event_listeners([{_LISTENER}()]): ...; "
            f"{environment.QUIET}=on silences this"
        )


def _identity_context(conversation: Any) -> Context:
    """Return the current context, with the conversation unless it is a part of another."""
    context = get_current()
    with guarded("reading the id of a conversation of WayFlow"):
        identity: Any = context.get(IDENTITY_KEY) or ()
        if gen_ai.CONVERSATION_ID not in identity:
            conversation_id = string(conversation, "conversation_id") or string(conversation, "id")
            return identify(context, names_of(conversation_id))
    return context


def _finish(open_steps: set[Begun], end_ns: int, failure: Failure | None) -> None:
    for step in list(open_steps):
        with guarded("finishing open steps of an Agent Spec conversation"):
            step.end(end_ns, failure, finished=False)
