"""LangGraph's store: reads and writes of an agent's long-term memory.

The store has no callbacks. Of a call that goes through several of the patched methods (a sync one
that calls its async twin, an override that calls its parent) only the outermost is a span.

Source: langgraph store/base/__init__.py and batch.py, checkpoint 3.0 and 4.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.context import attach, create_key, detach, get_current, set_value

from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.model.operations import MemoryOperation, records_in
from agentool_otel.providers.fields import get, items, number, plain_text, string
from agentool_otel.semconv import gen_ai
from agentool_otel.tracing.instrumentation.instrumentor import Patch, Wrapper
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["PATCHES"]

SCOPE = "agentool_otel.instrumentation.langchain"

_INSIDE_KEY = create_key("agentool-otel-langchain-memory")


class _Access:
    """One call of the store."""

    __slots__ = ("_method", "_step", "_token")

    def __init__(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self._step: StepSpan | None = None
        self._token: Any = None
        self._method = method
        with guarded("starting a memory operation"):
            if get_current().get(_INSIDE_KEY):
                return
            arguments = _named_arguments(method, args, kwargs)
            self._step = step = start_step(
                _operation(method, arguments),
                description="a memory operation",
                scope=SCOPE,
                content=lambda: _query_fields(method, arguments),
            )
            self._token = attach(set_value(_INSIDE_KEY, True, step.context))

    def returned(self, value: Any) -> Any:
        self._leave()
        step = self._step
        if step is not None:
            with guarded("finishing a memory operation"):
                if step.recording and self._method in ("get", "search"):
                    step.set(record_count=records_in(value))
            step.add(lambda: _answer(self._method, value))
            step.end()
        return value

    def raised(self, error: BaseException) -> None:
        self._leave()
        if self._step is not None:
            self._step.end(error)

    def _leave(self) -> None:
        if self._token is not None:
            detach(self._token)
            self._token = None


_ORDER = {
    "get": ("namespace", "key"),
    "search": ("namespace_prefix",),
    "put": ("namespace", "key", "value", "index"),
    "delete": ("namespace", "key"),
}
"""Names of positional arguments."""

_NAMES = {
    "get": "search_memory",
    "search": "search_memory",
    "put": "upsert_memory",
    "delete": "delete_memory",
}


def _named_arguments(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**dict(zip(_ORDER[method], args, strict=False)), **kwargs}


def _operation(method: str, arguments: dict[str, Any]) -> MemoryOperation:
    namespace = arguments.get("namespace", arguments.get("namespace_prefix"))
    name = _NAMES[method]
    if method == "put" and arguments.get("value") is None:  # how the store spells delete
        name = "delete_memory"
    return MemoryOperation(
        operation=name,
        store_id="/".join(map(as_text, items(namespace))) or None,
        record_id=string(arguments, "key"),
        record_count=None if name == gen_ai.OP_SEARCH_MEMORY else 1,
    )


def _query_fields(method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if method == "get":
        return {"query": string(arguments, "key")}
    if method == "search":
        query = arguments.get("query")
        query = arguments.get("filter") if query is None or plain_text(query) == "" else query
        return {"query": None if query is None else as_text(query)}
    if method == "put" and arguments.get("value") is not None:
        return {"content": jsonable(arguments["value"])}
    return {}


def _answer(method: str, value: Any) -> dict[str, Any]:
    if method == "get":
        return {"results": jsonable(get(value, "value"))}
    if method == "search":
        return {"records": [_record(each) for each in items(value)]}
    return {}


def _record(item: Any) -> dict[str, Any]:
    record: dict[str, Any] = {"content": jsonable(get(item, "value"))}
    if (key := string(item, "key")) is not None:
        record["id"] = key
    score = number(item, "score")
    if score is not None:
        record["score"] = score
    return record


def _plain(method: str) -> Wrapper:
    def wrapper(
        wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        access = _Access(method, args, kwargs)
        try:
            value = wrapped(*args, **kwargs)
        except BaseException as error:
            access.raised(error)
            raise
        return access.returned(value)

    return wrapper


def _awaited(method: str) -> Wrapper:
    async def wrapper(
        wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        access = _Access(method, args, kwargs)
        try:
            value = await wrapped(*args, **kwargs)
        except BaseException as error:
            access.raised(error)
            raise
        return access.returned(value)

    return wrapper


PATCHES = tuple(
    patch
    for module, owner in (
        ("langgraph.store.base", "BaseStore"),
        ("langgraph.store.base.batch", "AsyncBatchedBaseStore"),
    )
    for method in _ORDER
    for patch in (
        Patch(module, f"{owner}.{method}", _plain(method), optional=owner != "BaseStore"),
        Patch(module, f"{owner}.a{method}", _awaited(method), optional=owner != "BaseStore"),
    )
)
