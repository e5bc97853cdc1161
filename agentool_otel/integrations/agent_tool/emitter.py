"""Entry point for runtimes of Agent Tool."""

from __future__ import annotations

import atexit
import os
from collections import UserDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import islice
from math import inf
from threading import RLock
from time import time_ns
from types import MappingProxyType
from typing import Any
from weakref import WeakSet, finalize

from agentool_otel.content.encoding.encoder import Limits
from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.content.policy import encode, mask_text
from agentool_otel.ground.json_codec import loads
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.integrations.agent_tool.documents.checking import identify
from agentool_otel.integrations.agent_tool.documents.objects import Invocation, Versioned
from agentool_otel.integrations.agent_tool.events.translator import AgentToolEvents
from agentool_otel.providers.fields import is_a, plain_text, record
from agentool_otel.tracing.instrumentation.live_steps import LiveRecorder, LiveStep, as_current
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded, settings

__all__ = ["AgentToolEmitter"]

_log = logger(__name__)
_SCOPE = "agentool_otel.instrumentation.agent_tool"
_WARNINGS = 10
"""Largest number of warnings of one emitter."""
_NAMED = 16
"""Members that are named in a warning."""
_LIMITS = Limits(nodes=10_000, characters=1 << 20, seconds=inf)
"""Of an object that is not plain JSON: its copy costs the caller work that can be counted."""


class AgentToolEmitter:
    """Turns the objects of an Agent Tool runtime into spans.

        emitter = AgentToolEmitter()
        emitter.record(declaration)
        invocation = emitter.record(invocation)      # has telemetry_refs
        with emitter.as_current(invocation["invocation_id"]):
            ...                                      # spans in here lie below the tool's
        result = emitter.record(result)

    One for a runtime; its methods may be called from any thread, and never raise. All objects of a
    call have its `invocation_id`.

    A span begins with the first object of its invocation, below the span that is current there. It
    ends when the invocation is in its last state (succeeded, failed, timed_out, canceled, denied,
    blocked, schema_parse_failed, validation_failed) and its Result was recorded. Give the Result
    its `redaction_state` (`none` where nothing is redacted): without one, content is held back,
    because it may be redacted still, until an object is recorded ten seconds later, or until
    `flush`. An object that comes after the end is a span of its own, with facts only.
    """

    def __init__(self) -> None:
        self._events: AgentToolEvents[LiveStep] = AgentToolEvents(
            LiveRecorder("Agent Tool", _SCOPE, free_text=True)
        )
        self._lock = RLock()
        self._process = os.getpid()
        self._warned: set[str] = set()
        _emitters.add(self)
        finalize(self, when_safe, _close, self._events, self._lock).atexit = False

    def record(self, item: Mapping[str, Any] | Versioned) -> dict[str, Any]:
        """Record an event, or any other object of Agent Tool 0.2.0.

        Args:
            item: the object as JSON, or as one of
                `agentool_otel.integrations.agent_tool.documents.objects`: an Event, Invocation,
                Result, PermissionDecision, Hook, InputMutation, Progress, ResultPersistence,
                ToolDeclaration, ToolSurface or one of the others. It is copied. Of mappings,
                `dict`, `UserDict` and `MappingProxyType` are recorded: other kinds would run code
                of their own. What is no such object is not recorded, and what lacks the id of the
                invocation that it is about is not on its span. Both are named in the log, once;
                `findings` in `agentool_otel.integrations.agent_tool.documents.checking` says what
                is wrong.

        Returns:
            A copy. Of an Invocation and a Result its `telemetry_refs` have one more, with the ids
            of the span; so has an Event among its `trace_refs`. Where nothing is recorded it is
            as it was; what is no object at all is returned as it is.
        """
        copy: Any = item
        with guarded("recording an object of Agent Tool"):
            members, size = _as_json(item)
            copy = item if members is None else members
            if members is not None and (read := self._read(members, size)) is not None:
                return read
            self._refuse(item)
        result: dict[str, Any] = copy
        return result

    def _read(self, members: dict[str, Any], size: int) -> dict[str, Any] | None:
        with self._lock_of_process():
            read = self._events.read(members, time_ns(), size)
            lost = read is not None and self._events.about(members) is None
        _flush_at_exit()
        cls = identify(members) if lost else None
        if cls is not None and (cls is Invocation or "invocation_id" in cls.REQUIRES):
            id_text = repr(members.get("invocation_id")) if "invocation_id" in members else "none"
            self._warn(
                f"recorded separately from its call: {cls.__name__}: expected a string at "
                f"$.invocation_id, got {id_text:.50}; hint: all objects of a call have its "
                f"invocation_id"
            )
        return read

    def _lock_of_process(self) -> RLock:
        """Return the lock, in this process: invocations that were open before a fork end in the
        parent.
        """
        if self._process != os.getpid():
            self._process = os.getpid()
            self._lock = RLock()
            self._events.leave()
        return self._lock

    def _refuse(self, item: Any) -> None:
        members = record(item)
        names = class_name(type(item)) if members is None else ", ".join(islice(members, _NAMED))
        self._warn(
            f"not recorded, because it is no object of Agent Tool: {names or 'empty':.200}; "
            f"hint: its kind follows from its members, such as event_type, invocation_id and "
            f"tool_id, or "
            "result_id"
        )

    def _warn(self, sentence: str) -> None:
        """Log a problem with a recorded object, each sentence once, and no more than a few."""
        if sentence not in self._warned and len(self._warned) < _WARNINGS:
            self._warned.add(sentence)
            _log.warning("%s", mask_text(sentence))

    @contextmanager
    def as_current(self, invocation_id: str) -> Generator[None]:
        """Make the span of an invocation under way the current one: in here its tool is executed.

        Args:
            invocation_id: of one that was recorded. Nothing happens for any other.
        """
        step = None
        with guarded("finding an invocation of Agent Tool"), self._lock_of_process():
            known_id = plain_text(invocation_id)
            step = None if known_id is None else self._events.step(known_id)
        with nullcontext() if step is None else as_current(step):
            yield

    def flush(self) -> None:
        """End the spans of all open invocations: no more objects of them will come.

        The end of the program does so as well. A call that has neither ended nor a result is
        marked `agentool.incomplete`.
        """
        _close(self._events, self._lock_of_process())


_emitters: WeakSet[AgentToolEmitter] = WeakSet()
_set_up: list[object] = []
"""The provider that was set up when `_flush_all` was registered last."""


def _flush_at_exit() -> None:
    """Have all emitters flushed when the program ends. Functions that are registered last are
    called first, so that a provider that is shut down there has to be set up by now."""
    if _set_up != [settings.provider]:
        _set_up[:] = [settings.provider]
        atexit.unregister(_flush_all)
        atexit.register(_flush_all)


def _flush_all() -> None:
    for emitter in list(_emitters):
        emitter.flush()


def _as_json(item: Any) -> tuple[dict[str, Any] | None, int]:
    """Return a copy of an object as JSON, and its length in characters. Values without a JSON form,
    and very deep ones, are replaced by markers.
    """
    if is_a(item, Versioned):
        item = item.to_dict()
    if not any(is_a(item, kind) for kind in (dict, MappingProxyType, UserDict)):
        return None, 0
    text = encode(item, _LIMITS)
    members = loads(text)
    return (members, len(text)) if isinstance(members, dict) else (None, 0)


def _close(events: AgentToolEvents[LiveStep], lock: RLock) -> None:
    with guarded("ending the invocations of Agent Tool"), lock:
        events.close()
