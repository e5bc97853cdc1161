"""What a runtime of Agent Tool calls."""

from __future__ import annotations

import atexit
from collections.abc import Generator, Mapping
from contextlib import contextmanager, nullcontext
from threading import RLock
from time import time_ns
from typing import Any
from weakref import ref

from agentool_otel.content.policy import jsonable
from agentool_otel.emit.session import guarded
from agentool_otel.event_streams.agent_tool.translator import AgentToolEvents
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.ground.words import logger
from agentool_otel.instrumentation.kit.live_steps import LiveRecorder, LiveStep, within

__all__ = ["AgentToolEmitter"]

_log = logger(__name__)
_SCOPE = "agentool_otel.instrumentation.agent_tool"


class AgentToolEmitter:
    """Turns what a runtime of Agent Tool tells into spans.

        emitter = AgentToolEmitter()
        emitter.record(declaration)
        invocation = emitter.record(invocation)      # has telemetry_refs
        with emitter.within(invocation["invocation_id"]):
            ...                                      # spans in here lie below the tool's
        result = emitter.record(result)

    One for a runtime; its methods may be called from any thread, and never raise for a fault of
    ours. A span lies below the one that is current where its invocation is first told of.
    """

    def __init__(self) -> None:
        self._events: AgentToolEvents[LiveStep] = AgentToolEvents(
            LiveRecorder("Agent Tool", _SCOPE, free_text=True)
        )
        self._lock = RLock()
        self._flushed_at_exit = False
        self._refused = False

    def record(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Record an event, or any other object of Agent Tool 0.2.0.

        Args:
            told: the object as JSON: an Event, Invocation, Result, PermissionDecision, Hook,
                InputMutation, Progress, ResultPersistence, ToolDeclaration, ToolSurface or one of
                the others. It is copied. What is no such object is not recorded, and named once in
                the log; `agentool_otel.model.agent_tool.checking.findings` says what is wrong.

        Returns:
            A copy. Of an Invocation and a Result its `telemetry_refs` have one more, with the ids
            of the span; so has an Event among its `trace_refs`. Where nothing is recorded it is
            as it was; what is no object at all is returned as it is.
        """
        with guarded("recording an object of Agent Tool"):
            members = _as_json(told)
            if members is not None:
                self._flush_at_exit()
                with self._lock:
                    members = self._events.read(members, time_ns())
            if members is not None:
                return members
            self._refuse(told)
        return dict(told) if isinstance(told, Mapping) else told

    def _refuse(self, told: object) -> None:
        if not self._refused:
            self._refused = True
            members = (
                ", ".join(map(str, told)) if isinstance(told, Mapping) else type(told).__name__
            )
            _log.warning(
                "not recorded, because it is no object of Agent Tool: %.200s; hint: its kind is "
                "told by its members, such as event_type, invocation_id and tool_id, or result_id",
                members,
            )

    @contextmanager
    def within(self, invocation_id: str) -> Generator[None]:
        """Make the span of an invocation under way the current one: in here its tool is executed.

        Args:
            invocation_id: of one that was recorded. Nothing happens for any other.
        """
        step = None
        with guarded("finding an invocation of Agent Tool"), self._lock:
            step = self._events.step(invocation_id)
        with nullcontext() if step is None else within(step):
            yield

    def flush(self) -> None:
        """End the spans of all invocations that are under way: nothing more is told of them."""
        with guarded("ending the invocations of Agent Tool"), self._lock:
            self._events.close()

    def _flush_at_exit(self) -> None:
        """Have it flushed when the program ends. Functions that are registered last are called
        first: by now the provider, which is shut down there, has been set up."""
        if not self._flushed_at_exit:
            self._flushed_at_exit = True
            reference: ref[AgentToolEmitter] = ref(self)
            atexit.register(_flush, reference)


def _as_json(told: Any) -> dict[str, Any] | None:
    """Return a copy of an object as JSON; of a value that JSON has no form for, what is known."""
    if not isinstance(told, Mapping):
        return None
    try:
        members = loads(dumps(dict(told)))
    except (TypeError, ValueError):
        members = jsonable(dict(told))
    return members if isinstance(members, dict) else None


def _flush(reference: ref[AgentToolEmitter]) -> None:
    emitter = reference()
    if emitter is not None:
        emitter.flush()
