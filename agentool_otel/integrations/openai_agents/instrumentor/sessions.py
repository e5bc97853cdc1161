"""Sessions: the conversation that an agent remembers from run to run, as memory.

Only inside a run: a program that looks into a session on its own account remembers nothing. The
sessions of the SDK itself are seen, and what is derived of them; one that a program has written on
its own has no base class that could be watched.

Source: openai-agents memory/ and extensions/memory/ at 0.24.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from opentelemetry.context import create_key, get_current, set_value

from agentool_otel.integrations.openai_agents.instrumentor import values
from agentool_otel.integrations.openai_agents.instrumentor.runs import SCOPE, current_run
from agentool_otel.model.operations import MemoryOperation
from agentool_otel.providers.fields import items, string
from agentool_otel.tracing.instrumentation.instrumentor import Patch, Wrapper
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["PATCHES"]

_INSIDE_KEY = create_key("agentool-otel-openai-agents-session")
_OPERATIONS = {
    "get_items": "search_memory",
    "add_items": "create_memory",
    "pop_item": "delete_memory",
    "clear_session": "delete_memory",
}


def _method(name: str) -> Wrapper:
    async def observed(
        wrapped: Callable[..., Awaitable[Any]], session: Any, args: Any, kwargs: Any
    ) -> Any:
        written = args[0] if args else kwargs.get("items")
        adds = name == "add_items"
        context = get_current()
        outside = current_run(context) is None or context.get(_INSIDE_KEY) is not None
        if outside or (adds and not items(written)):
            return await wrapped(*args, **kwargs)
        step = start_step(
            MemoryOperation(
                operation=_OPERATIONS[name],
                store_id=string(session, "session_id"),
                record_count=len(items(written)) if adds else None,
            ),
            description="a session",
            scope=SCOPE,
            content=lambda: {"records": _records(written)} if adds else {},
        )
        step.context = set_value(_INSIDE_KEY, True, step.context)
        with step:
            result = await wrapped(*args, **kwargs)
            if name == "get_items":
                _read(step, result)
            return result

    def wrapper(
        wrapped: Callable[..., Any], session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return observed(wrapped, session, args, kwargs)

    return wrapper


def _read(step: StepSpan, result: Any) -> None:
    step.set(record_count=len(items(result)))
    step.add(lambda: {"records": _records(result)})


def _records(conversation: Any) -> list[dict[str, Any]]:
    """Return the items of a conversation as the records that they are in the store."""
    return [{"content": message} for message in values.conversation(items(conversation)) or ()]


_SESSIONS = {
    "agents.memory.sqlite_session": "SQLiteSession",
    "agents.memory.openai_conversations_session": "OpenAIConversationsSession",
    "agents.extensions.memory.sqlalchemy_session": "SQLAlchemySession",
    "agents.extensions.memory.advanced_sqlite_session": "AdvancedSQLiteSession",
    "agents.extensions.memory.async_sqlite_session": "AsyncSQLiteSession",
    "agents.extensions.memory.redis_session": "RedisSession",
    "agents.extensions.memory.mongodb_session": "MongoDBSession",
    "agents.extensions.memory.dapr_session": "DaprSession",
}

PATCHES = tuple(
    Patch(module, f"{owner}.{method}", _method(method), optional=True)
    for module, owner in _SESSIONS.items()
    for method in _OPERATIONS
)
