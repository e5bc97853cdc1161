"""Handlers and wrappers that are registered with a session of Amplifier.

- Handlers run in tasks of their own, in a copy of the context in which the event was sent: what
  they make current reaches nobody. So the tools and providers that are mounted are wrapped: inside
  their work the span of the step is current, and what is sent from there names its step.
- Content is read late, after hooks that redact; a redacting hook runs at priority 10 by default.
- A denied tool call has a `tool:pre` and nothing after it, and handlers behind the one that denies
  are not asked. So watchers stand before all handlers and behind those that redact, and the last
  handler notes that nobody denied the call. The arguments of a denied call are those of the last
  watcher that saw it, if the handler that denied it is the only one before the next of ours: of
  several, one that was not asked may be there to redact. Else they are those that the model wrote.
- Every handler has a name of its own: the kernel keeps one way to unregister per name.

Source: amplifier-core 2.0.2.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from threading import RLock
from time import perf_counter_ns, time_ns
from typing import Any, NamedTuple, cast

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.content.encoding.encoder import is_plain
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.amplifier.events.event_names import DELTAS, WATCHED
from agentool_otel.integrations.amplifier.events.payloads import Data, string
from agentool_otel.integrations.amplifier.events.session import Chat, ToolCall
from agentool_otel.integrations.amplifier.events.translator import AmplifierEvents
from agentool_otel.integrations.amplifier.hook.methods import Around, wrap
from agentool_otel.providers.fields import get, plain_text, record
from agentool_otel.tracing.instrumentation.live_steps import (
    LiveRecorder,
    LiveStep,
    as_current,
    current_step,
)
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["SessionHook"]

allow("amplifier_core")

_FIRST, _REDACTED, _LAST = -(2**31), 11, 1_000_000
"""The lowest priority that the kernel takes, the first behind hooks that redact, and a high one."""
_WATCHERS = {_FIRST: "foresee", _REDACTED: "watch"}
"""Handlers that see a tool call before all of its handlers have, by priority."""
_CHANNEL = "observability.events"
"""Channel on which modules announce their own events."""

_events: AmplifierEvents[LiveStep] = AmplifierEvents(
    LiveRecorder("Amplifier", "agentool_otel.instrumentation.amplifier", free_text=False)
)
_lock = RLock()
"""One for all sessions of the process: a child's steps lie below those of its parent."""


def _forked() -> None:
    global _lock
    _lock = RLock()  # another thread may have held it at the moment of the fork


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class _Expected(NamedTuple):
    """A tool call that is neither denied nor allowed yet."""

    data: Data
    """The event, as the last watcher saw it."""
    watcher: int
    """The priority of that watcher."""
    start_ns: int
    end_ns: int
    """When the first watcher saw it, and when the last did."""


class SessionHook:
    """Records one session."""

    def __init__(self, coordinator: Any):
        self._coordinator = coordinator
        self._session_id = str(coordinator.session_id)
        self._watched: set[str] = set()
        self._undo: list[Callable[[], Any]] = []
        self._about_to: dict[tuple[str | None, ...], _Expected] = {}
        """Tool calls that are about to be made, by time, name and id."""
        self._left = False

    # -------------------------------------------------------------------------- registering

    def register(self, names: Iterable[str] = WATCHED) -> None:
        """Register for events, each once."""
        for name in names:
            if name not in self._watched and name not in DELTAS:
                self._watched.add(name)
                self._register(name, self._read, _LAST, "read")
                if name == "tool:pre":
                    for priority, watcher in _WATCHERS.items():
                        self._register(name, self._watcher(priority), priority, watcher)

    def _register(
        self, name: str, read: Callable[[str, Data], None], priority: int, role: str
    ) -> None:
        result = import_module("amplifier_core").HookResult

        async def handle(event: str, data: dict[str, Any]) -> Any:
            with guarded(f"recording {event} of Amplifier"), _lock:
                read(event, data)
            return result(action="continue")

        hooks = self._coordinator.hooks
        undo = hooks.register(name, handle, priority, _handler(role, name))
        if callable(undo):
            self._undo.append(undo)

    async def ready(self) -> None:
        """Register for the events that modules announce, and wrap the mounted modules."""
        with guarded("reading the events of Amplifier's modules"):
            for names in await self._coordinator.collect_contributions(_CHANNEL):
                if isinstance(names, (list, tuple, set, frozenset)):
                    self.register(name for name in names if isinstance(name, str))
        for name, tool in self._mounted_modules("tools"):
            self._wrap(tool, "execute", self._tool(name))
        for name, provider in self._mounted_modules("providers"):
            self._wrap(provider, "complete", self._provider(name))

    def _mounted_modules(self, point: str) -> list[tuple[str, Any]]:
        with guarded(f"reading the {point} of Amplifier"):
            return list((self._coordinator.get(point) or {}).items())
        return []

    def _wrap(self, owner: Any, name: str, wrapper: Around) -> None:
        """Wrap a method of a mounted module. One that cannot be wrapped is recorded by events only,
        and one that another session has mounted too, by that one.
        """
        with guarded(f"wrapping {name} of a module of Amplifier"):
            undo = wrap(owner, name, wrapper)
            if undo is not None:
                self._undo.append(undo)

    def remove(self) -> None:
        """Remove all hooks, and end open steps. A wrapper that others have wrapped stays, and does
        nothing.
        """
        self._left = True
        while self._undo:
            with guarded("leaving a session of Amplifier"):
                self._undo.pop()()
        with guarded("leaving a session of Amplifier"), _lock:
            self._record_denials()
            data = {"session_id": self._session_id}
            _events.read("session:end", data, time_ns())

    # ------------------------------------------------------------------------------- events

    def _watcher(self, priority: int) -> Callable[[str, Data], None]:
        def watch(event: str, data: Data) -> None:
            key, now_ns = _key(data), time_ns()
            before = self._about_to.get(key)
            start_ns = now_ns if before is None else before.start_ns
            self._about_to[key] = _Expected(data, priority, start_ns, now_ns)

        return watch

    def _read(self, event: str, data: Data) -> None:
        if event == "tool:pre":
            self._about_to.pop(_key(data), None)
        elif event in _AFTER_TOOLS:
            self._record_denials()
        _events.read(event, _plain(data), time_ns(), current_step())

    def _record_denials(self) -> None:
        if not self._about_to:
            return
        session = _events.session(self._session_id)
        for item in self._about_to.values():
            final = self._one_handler_behind(item.watcher)
            _events.deny(session, _plain(item.data), item.start_ns, item.end_ns, final=final)
        self._about_to.clear()

    def _one_handler_behind(self, watcher: int) -> bool:
        """Return whether a single foreign handler lies between a watcher and our next handler, so
        that no other handler can have changed the input of a denied call.
        """
        with guarded("reading the handlers of Amplifier's tool calls"):
            names = list(self._coordinator.hooks.list_handlers("tool:pre")["tool:pre"])
            ours = [names.index(_handler(role, "tool:pre")) for role in _OURS]
            at = ours[list(_WATCHERS).index(watcher)]
            return at + 2 in ours
        return False

    # ----------------------------------------------------------------------------- wrappers

    def _tool(self, name: str) -> Around:
        async def around(
            execute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            call = self._entered_call(name, args, kwargs)
            if call is None:
                return await _result(execute(*args, **kwargs))
            try:
                with as_current(call.step):
                    return await _result(execute(*args, **kwargs))
            except BaseException:
                call.raised_ns = perf_counter_ns()
                raise

        return around

    def _entered_call(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ToolCall[LiveStep] | None:
        """Return the call that a tool has just been entered for."""
        if self._left:
            return None
        with guarded("finding a tool call of Amplifier"), _lock:
            session = _events.session(self._session_id)
            data: dict[str, Any] = {"tool_call_id": self._call_id()}
            if data["tool_call_id"] is None and len(session.tools) > 1:
                data["tool_input"] = jsonable(args[0] if args else kwargs.get("input"))
            call = session.tool_of(name, data, untaken=True)
            if call is not None:
                call.taken = True
            return call
        return None

    def _call_id(self) -> str | None:
        """Return the id that loop-streaming keeps of the call that a task makes."""
        with suppress(Exception):
            context = self._coordinator._tool_dispatch_contexts[asyncio.current_task()]
            members = context if isinstance(context, Mapping) else vars(context)
            return string(members, "tool_call_id", "call_id", "id")
        return None

    def _provider(self, name: str) -> Around:
        async def around(
            complete: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            chat = self._begun(name)
            if chat is None:
                return await _result(complete(*args, **kwargs))
            try:
                with as_current(chat.step):
                    response = await _result(complete(*args, **kwargs))
            except BaseException as error:
                self._returned(chat, {"error": {"type": type(error).__qualname__}})
                raise
            self._returned(chat, _telling(response))
            return response

        return around

    def _begun(self, provider: str) -> Chat[LiveStep] | None:
        if self._left:
            return None
        with guarded("starting a model call of Amplifier"), _lock:
            return _events.session(self._session_id).begin_chat(provider, time_ns())
        return None

    def _returned(self, chat: Chat[LiveStep], response: Data) -> None:
        """End a model call, if no event has."""
        with guarded("ending a model call of Amplifier"), _lock:
            session = _events.session(self._session_id)
            _events.end_call(session, chat, response, time_ns())


_OURS = (*_WATCHERS.values(), "read")
"""Our handlers of a tool call, in order."""
_AFTER_TOOLS = frozenset({
    "provider:request", "execution:end", "prompt:complete", "orchestrator:complete", "session:end",
    "prompt:submit",
})  # fmt: skip
"""Events that are not sent while an orchestrator still waits for the permission to call a tool."""


def _plain(data: Any) -> Data:
    """Return the data of an event as JSON: itself, unless it has objects."""
    if is_plain(data):
        return cast("Data", data)
    return record(jsonable(data)) or {}


def _handler(role: str, event: str) -> str:
    return f"agentool-otel {role} {event}"


def _key(data: Data) -> tuple[str | None, ...]:
    return tuple(plain_text(get(data, name)) for name in ("timestamp", "tool_name", "tool_call_id"))


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _telling(response: Any) -> Data:
    """Return the data of a response about its call, without content."""
    with guarded("reading the response of a model call of Amplifier"):
        usage = get(response, "usage")
        return {
            "finish_reason": plain_text(get(response, "finish_reason")),
            "usage": jsonable(usage) if usage is not None else None,
        }
    return {}
