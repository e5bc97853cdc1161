"""A small runtime of Agent Tool 0.2.0: every phase of its execution pipeline, and nothing more.

It records the objects and events of the specification with an emitter. Nothing in it knows of
spans.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timezone
from itertools import count
from typing import Any

from agentool_otel.integrations.agent_tool.emitter import AgentToolEmitter

Object = dict[str, Any]
VERSION: Object = {"schema_version": "0.2.0"}
MOST_CHARACTERS = 200


class Stopped(Exception):
    """A phase has ended the call before its tool was executed, or instead of its result."""

    def __init__(self, state: str, status: str, error_class: str, message: str = ""):
        super().__init__(message)
        self.state = state
        self.status = status
        self.error_class = error_class


class Tool:
    """A tool: its declaration, and the function that executes it."""

    def __init__(self, execute: Callable[[Call], Awaitable[Any]], **declaration: Any):
        self.execute = execute
        obj: Object = {"namespace": "example", "lifecycle": "available", "tool_kind": "function"}
        self.declaration: Object = {
            **VERSION,
            **obj,
            "description": execute.__doc__,
            **declaration,
        }
        self.id: str = self.declaration["tool_id"]
        self.loaded = self.declaration["lifecycle"] != "deferred"

    @property
    def required(self) -> list[str]:
        contract = self.declaration.get("input_contract", {})
        required: list[str] = contract.get("model_input_schema", {}).get("required", [])
        return required


class Call:
    """One invocation, and its state in each phase."""

    def __init__(self, runtime: Runtime, name: str, model_input: Object, native_call_id: str):
        self.runtime = runtime
        self.name = name
        self.id = f"inv_{native_call_id}"
        self.tool: Tool | None = None
        self.transitions: list[Object] = []
        self.content: list[Object] = []
        self.progressed = count(1)
        self.invocation: Object = {
            **VERSION,
            "invocation_id": self.id,
            "tool_id": name,
            "native_call_id": native_call_id,
            "surface_id": "surface_1",
            "model_input": model_input,
            "scheduler_policy_ref": "batch",
            "created_at": now(),
        }

    @property
    def input(self) -> Any:
        """Return the input of the executor."""
        return self.invocation.get("call_input")

    def enter(self, state: str, **members: Any) -> None:
        """Enter a state, and record it."""
        self.transitions.append({"status": state, "at": now()})
        self.invocation.update(members, status=state, status_transitions=self.transitions)
        self.invocation = self.runtime.emitter.record(self.invocation)

    def tell(self, event_type: str, **data: Any) -> None:
        """Record an event."""
        self.runtime.tell(event_type, self.id, **data)

    def record(self, **members: Any) -> None:
        """Record an object that is about this invocation."""
        self.runtime.emitter.record({**VERSION, "invocation_id": self.id, **members})

    def progress(self, message: str, percent: float) -> None:
        """Record its progress: for executors."""
        sequence = next(self.progressed)
        self.record(
            progress_id=f"{self.id}_{sequence}",
            sequence=sequence,
            status="running",
            message=message,
            percent=percent,
            timestamp=now(),
        )


class Runtime:
    """Executes calls of the tools of one surface."""

    def __init__(self, *tools: Tool):
        self.emitter = AgentToolEmitter()
        self.tools = {tool.declaration["name"]: tool for tool in tools}
        self.pre_hooks: list[Callable[[Call, Object], Object | None]] = []
        self.rules: dict[str, str] = {}
        """Behavior by name of a tool: allow, ask or deny."""
        self.ask: Callable[[Call], Awaitable[bool]] | None = None
        self.store: dict[str, str] = {}
        """Results that are too large to hand over."""
        self._aborted: dict[str, str] = {}
        """Why calls were cancelled, by invocation."""
        self._events = count(1)
        for tool in tools:
            self.emitter.record(tool.declaration)
        self._surface("tool.surface.created")

    def tell(self, event_type: str, invocation_id: str | None = None, **data: Any) -> None:
        event: Object = {
            **VERSION,
            "event_id": f"event_{next(self._events)}",
            "event_type": event_type,
            "source": "example-runtime",
            "time": now(),
        }
        if invocation_id is not None:
            event["invocation_id"] = invocation_id
        self.emitter.record({**event, "data": data} if data else event)

    def _surface(self, event_type: str) -> None:
        loaded = [tool.id for tool in self.tools.values() if tool.loaded]
        deferred = [
            {"tool_id": tool.id, "name": name, "loading_state": "discoverable"}
            for name, tool in self.tools.items()
            if not tool.loaded
        ]
        surface = {"surface_id": "surface_1", "scope": "session", "created_at": now()}
        tools = {"loaded_tools": loaded, "deferred_tools": deferred}
        self.tell(event_type, surface={**VERSION, **surface, **tools})

    def search(self, word: str) -> list[str]:
        """Find deferred tools by a word, and load them."""
        tools = [
            tool for tool in self.tools.values() if word in tool.declaration.get("search_hint", "")
        ]
        for tool in tools:
            about = {**VERSION, "tool_id": tool.id, "name": tool.declaration["name"]}
            self.tell(
                "tool.deferred.discovered", deferred_tool={**about, "loading_state": "deferred"}
            )
            tool.loaded = True
            self.tell("tool.deferred.loaded", deferred_tool={**about, "loading_state": "loaded"})
        self._surface("tool.surface.updated")
        return [item.declaration["name"] for item in tools]

    # ----------------------------------------------------------------------- one call, or several

    async def call(self, name: str, native_call_id: str, **arguments: Any) -> Object:
        """Execute a call through all phases, and return its Result. Nothing is raised."""
        call = Call(self, name, arguments, native_call_id)
        call.enter("planned")
        try:
            payload = await self._phases(call)
        except Stopped as stopped:
            return self._end(call, stopped.state, stopped.status, failed(stopped))
        except asyncio.CancelledError:
            reason = self._abort_reason(call)
            sibling = reason == "sibling_error"
            error = {"error_class": "sibling_canceled" if sibling else "canceled"}
            status = "synthetic_error" if sibling else "canceled"
            return self._end(call, "canceled", status, {"error": error, "abort_reason": reason})
        except asyncio.TimeoutError:
            return self._end(call, "timed_out", "timed_out", {"error": {"error_class": "timeout"}})
        except Exception as error:
            fault = Stopped("failed", "failed", "execution_failed", str(error))
            return self._end(call, "failed", "failed", failed(fault))
        return self._end(call, "succeeded", "succeeded", payload)

    async def call_together(self, *calls: tuple[str, str, Object]) -> list[Object]:
        """Execute calls at the same time; the failure of one cancels the others. The results come
        in the order of the calls."""
        policy = {"scheduler_policy_id": "batch", "sibling_failure_policy": "cancel_siblings"}
        self.emitter.record({**VERSION, **policy})
        tasks = {
            f"inv_{call_id}": asyncio.ensure_future(self.call(name, call_id, **arguments))
            for name, call_id, arguments in calls
        }
        for done in asyncio.as_completed(tasks.values()):
            if (await done).get("is_error"):
                self._cancel(tasks)
        return [await task for task in tasks.values()]

    def _cancel(self, siblings: Mapping[str, asyncio.Future[Object]]) -> None:
        for invocation_id, sibling in siblings.items():
            if not sibling.done():
                self._aborted.setdefault(invocation_id, "sibling_error")
                sibling.cancel()

    # ----------------------------------------------------------------------------------- phases

    async def _phases(self, call: Call) -> Object:
        tool = self._resolve(call)
        self._parse(call, tool)
        self._validate(call)
        self._observe(call)
        self._run_pre_hooks(call)
        await self._resolve_permission(call)
        call.enter("queued")
        output = await self._execute(call, tool)
        return self._persist_and_redact(call, tool, self._map(output))

    def _resolve(self, call: Call) -> Tool:
        """1. By name or alias."""
        aliased = (t for t in self.tools.values() if call.name in t.declaration.get("aliases", ()))
        call.tool = self.tools.get(call.name) or next(aliased, None)
        if call.tool is None:
            raise Stopped("failed", "failed", "unknown_tool", f"no tool {call.name}")
        call.invocation["tool_id"] = call.tool.id
        call.enter("selected")
        return call.tool

    def _parse(self, call: Call, tool: Tool) -> None:
        """2 and 3. By the schema; one that was not sent cannot have been followed."""
        if not tool.loaded:
            hint = "its schema was not loaded; search for it first"
            raise Stopped("schema_parse_failed", "failed", "schema_not_loaded", hint)
        absent = [item for item in tool.required if item not in call.invocation["model_input"]]
        if absent:
            wrong = f"{absent[0]} is missing"
            raise Stopped("schema_parse_failed", "failed", "schema_validation_failed", wrong)
        call.enter("arguments_ready")

    def _validate(self, call: Call) -> None:
        """4. Of values, before anything is touched."""
        path = call.invocation["model_input"].get("path", "")
        if ".." in path:
            call.tell("tool.invocation.validation_failed")
            raise Stopped("validation_failed", "failed", "invalid_arguments", "no way up")

    def _observe(self, call: Call) -> None:
        """5. A copy, which others may see and replace."""
        model_input = dict(call.invocation["model_input"])
        call.invocation.update(
            observable_input=model_input, permission_input=model_input, call_input=model_input
        )

    def _run_pre_hooks(self, call: Call) -> None:
        """6. Each may replace the input; who did is recorded."""
        for number, hook in enumerate(self.pre_hooks):
            about = {"hook_id": f"hook_{number}", "hook_event": "pre_tool_use"}
            call.enter("pre_hooks_running")
            started = now()
            updated = hook(call, dict(call.input))
            ran = {**about, "started_at": started, "ended_at": now()}
            call.record(**ran, **({} if updated is None else {"updated_input": updated}))
            if updated is None:
                continue
            changed = sorted(k for k in updated if updated[k] != call.input.get(k))
            call.invocation.update(permission_input=updated, call_input=updated)
            call.record(
                mutation_id=f"{call.id}_by_{about['hook_id']}",
                source_type="hook",
                source_ref=about["hook_id"],
                changed_fields=changed,
                created_at=now(),
            )

    async def _resolve_permission(self, call: Call) -> None:
        """7. A denial is a result like any other."""
        behavior = self.rules.get(call.name, "allow")
        reason = {"type": "rule", "rule_ref": f"rule:{call.name}"}
        self._decide(call, behavior, reason)
        if behavior == "ask":
            call.enter("awaiting_approval")
            call.tell("tool.permission.requested")
            agreed = self.ask is not None and await self.ask(call)
            self._decide(call, "allow" if agreed else "deny", {"type": "permission_prompt_tool"})
            if not agreed:
                raise Stopped("denied", "rejected", "approval_rejected", "a person said no")
            call.enter("approved")
        elif behavior == "deny":
            raise Stopped("denied", "denied", "permission_denied", "not here")

    def _decide(self, call: Call, behavior: str, reason: Object) -> None:
        call.record(
            decision_id=f"{call.id}_{behavior}",
            behavior=behavior,
            source="session",
            reason=reason,
            decided_at=now(),
        )

    async def _execute(self, call: Call, tool: Tool) -> Any:
        """8 and 9. With a time limit; its work is below its span."""
        call.enter("running", started_at=now())
        timeout = tool.declaration.get("timeout_s", 10)
        with self.emitter.as_current(call.id):
            return await asyncio.wait_for(tool.execute(call), timeout)

    @staticmethod
    def _map(output: Any) -> Object:
        """10. Once."""
        text = output if isinstance(output, str) else json.dumps(output)
        return {"structured_content": output, "content": [{"type": "text", "text": text}]}

    def _persist_and_redact(self, call: Call, tool: Tool, payload: Object) -> Object:
        """11 and 12. After the hooks that follow the tool, of which there are none here."""
        call.enter("post_hooks_running")
        text = payload["content"][0]["text"]
        if tool.declaration.get("redacts"):
            self._persist(call, "redact", text)
            return {"content": [], "redaction_state": "redacted"}
        if len(text) <= MOST_CHARACTERS:
            return {**payload, "redaction_state": "none"}
        self.store[call.id] = text
        results = {"persisted_ref": {"uri": f"store:{call.id}", "media_type": "text/plain"}}
        self._persist(call, "preview_and_persist", text, **results)
        preview = [{"type": "text", "text": text[:MOST_CHARACTERS]}]
        refs = {"persistence_refs": [f"{call.id}_kept"], "redaction_state": "none"}
        return {"model_facing_content": preview, **refs}

    @staticmethod
    def _persist(call: Call, strategy: str, text: str, **members: Any) -> None:
        size = len(text.encode())
        about = {"decision_id": f"{call.id}_kept", "strategy": strategy, "created_at": now()}
        call.record(**about, original_size_bytes=size, **members)

    def _end(self, call: Call, state: str, status: str, payload: Object) -> Object:
        """13. The terminal result, whatever has happened."""
        call.enter(state, ended_at=now())
        call.tell(f"tool.invocation.{state}")
        return self.emitter.record(
            {
                **VERSION,
                "result_id": f"result_{call.id}",
                "invocation_id": call.id,
                "status": status,
                "is_error": status != "succeeded",
                "redaction_state": "none",
                "created_at": now(),
                **payload,
            }
        )

    def _abort_reason(self, call: Call) -> str:
        """Record the cancellation, and return its reason."""
        why = self._aborted.pop(call.id, "user_interruption")
        facts = {"cancel_acknowledged_at": now(), "abort_reason": why}
        call.tell("example.cancel_acknowledged", cancellation=facts)
        return why


def failed(stopped: Stopped) -> Object:
    """Return the result of an error."""
    return {"error": {"error_class": stopped.error_class, "message": str(stopped)}}


def now() -> str:
    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
