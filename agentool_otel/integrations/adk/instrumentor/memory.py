"""Searches and writes of a memory service: by the agent's context for any service, and those of
ADK's own services where a program calls them.

Source: google-adk agents/context.py, memory/ at 1.19 and 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.adk.instrumentor.work import SCOPE
from agentool_otel.model.operations import MemoryOperation
from agentool_otel.providers import google
from agentool_otel.providers.fields import get, items, join_texts, number, string
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["PATCHES"]

_INSIDE = create_key("agentool-otel-adk-memory")


def _start(
    operation: MemoryOperation, content: dict[str, Any], context: Context | None = None
) -> StepSpan | None:
    """Start the span of an operation, unless the context of an agent has called the service."""
    if get_current().get(_INSIDE) is not None:
        return None
    return start_step(
        operation,
        description="an operation of a memory of ADK",
        scope=SCOPE,
        content=lambda: content,
        parent=context,
    )


async def _search(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    step = None
    with guarded("starting the search of a memory"):
        query = args[0] if args else kwargs.get("query")
        step = _start(MemoryOperation(), {"query": query if type(query) is str else None})
    if step is None:
        return await wrapped(*args, **kwargs)
    with step:
        token = attach(set_value(_INSIDE, step))
        try:
            found = await wrapped(*args, **kwargs)
        finally:
            restore(token)
        with guarded("reading the result of a search"):
            memories = items(found, "memories")
            step.set(record_count=len(memories))
            step.add(lambda: {"records": [_record(each) for each in memories]})
        return found


def _record(memory: Any) -> dict[str, Any]:
    parts = google.parts_of(get(get(memory, "content"), "parts"))
    words = join_texts(part.get("content") for part in parts if part["type"] == "text")
    fields = {name: string(memory, name) for name in ("author", "timestamp")}
    metadata = {name: value for name, value in fields.items() if value is not None}
    return {
        "content": words or jsonable(parts),
        **({} if (key := string(memory, "id")) is None else {"id": key}),
        **({"metadata": metadata} if metadata else {}),
        **({} if (score := number(memory, "score")) is None else {"score": score}),
    }


async def _write(wrapped: Callable[..., Any], owner: Any, args: Any, kwargs: Any) -> Any:
    step = None
    with guarded("starting the write of a memory"):
        session = args[0] if args else kwargs.get("session")
        if session is None:
            session = get(get(owner, "_invocation_context"), "session")
        events = [each for each in items(session, "events") if get(each, "content") is not None]
        step = _start(
            MemoryOperation(
                operation="upsert_memory",
                record_id=string(session, "id"),
                record_count=len(events),
            ),
            {},
            identify(get_current(), names_of(string(session, "id"), string(session, "user_id"))),
        )
    if step is None:
        return await wrapped(*args, **kwargs)
    with step:
        token = attach(set_value(_INSIDE, step))
        try:
            return await wrapped(*args, **kwargs)
        finally:
            restore(token)


_OWNERS = (
    ("google.adk.agents.context", "Context"),
    ("google.adk.memory.in_memory_memory_service", "InMemoryMemoryService"),
    ("google.adk.memory.vertex_ai_memory_bank_service", "VertexAiMemoryBankService"),
)

PATCHES = tuple(
    Patch(module, f"{owner}.{method}", wrapper, optional=True)
    for module, owner in _OWNERS
    for method, wrapper in (("search_memory", _search), ("add_session_to_memory", _write))
)
