"""The hook as a guest in real sessions: it breaks nothing, keeps nothing, and gets nothing
wrong.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from opentelemetry import trace

from agentool_otel.integrations.amplifier.hook import mounting
from agentool_otel.integrations.amplifier.hook import session_hook as hook
from agentool_otel.tracing.spans.settings import settings
from tests.seed_systems.amplifier.sessions import (
    LOOPS,
    call,
    kernel,
    plan,
    session,
    spans_named,
)

pytest.importorskip(
    "amplifier_core", reason="amplifier-core is not installed; it needs Python 3.11"
)


@pytest.fixture(autouse=True)
def configured(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider of the test is in force already: mounting the hook configures nothing."""
    monkeypatch.setattr(mounting, "instrument", lambda **_: None)


class _Approvals:
    """A person who refuses everything."""

    async def request_approval(self, *_: Any, **__: Any) -> str:
        return "Deny"


@pytest.mark.parametrize("loop", LOOPS)
def test_a_call_that_the_user_refused_is_denied(loop: str, spans: Any) -> None:
    async def ask(event: str, data: Any) -> Any:
        return kernel().HookResult(action="ask_user", approval_prompt="May I?")

    async def main() -> str:
        requests = {"calls": [call("a", city="Rome")]}
        mounted = plan(requests, "As you like.", loop=loop)
        async with kernel().AmplifierSession(
            mounted, approval_system=_Approvals()
        ) as amplifier_session:
            amplifier_session.coordinator.hooks.register("tool:pre", ask, 0, "ask")
            answer: str = await amplifier_session.execute("How is it?")
            return answer

    assert asyncio.run(main()) == "As you like."
    [tool] = spans_named(spans, "execute_tool weather")
    assert tool.attributes["error.type"] == "permission_denied"


def test_a_response_that_cannot_be_read_is_the_sessions_all_the_same(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "strict", False)

    class Odd:
        @property
        def usage(self) -> Any:
            raise RuntimeError("no usage")

    async def main() -> Any:
        async with session(plan()) as item:
            provider = item.coordinator.get("providers")["scripted"]

            async def complete(request: Any) -> Any:
                return odd

            provider.complete = complete
            await mounting.on_session_ready(item.coordinator)
            return await provider.complete(None)

    odd = Odd()
    assert asyncio.run(main()) is odd
    [chat] = spans_named(spans, "chat")
    assert "error.type" not in chat.attributes


def test_a_module_that_cannot_be_wrapped_affects_no_other(spans: Any) -> None:
    class Closed:
        __slots__ = ()
        name = "closed"
        description = "Shut."

        async def execute(self, input: Any) -> Any:
            return kernel().ToolResult(output="shut")

    class Open:
        name = "open"
        description = "Not shut."

        async def execute(self, input: Any) -> Any:
            current: Any = trace.get_current_span()
            return kernel().ToolResult(output=current.name)

    async def main() -> Any:
        async with session(plan("Good day.")) as item:
            for tool in (Closed(), Open()):
                await item.coordinator.mount("tools", tool, name=tool.name)
            await mounting.on_session_ready(item.coordinator)
            hooks = item.coordinator.hooks
            await hooks.emit("tool:pre", {"tool_name": "open", "tool_input": {}})
            return await item.coordinator.get("tools")["open"].execute({})

    assert asyncio.run(main()).output == "execute_tool open"


def test_a_provider_that_two_sessions_share_is_recorded_once(spans: Any) -> None:
    async def main() -> None:
        async with session(plan(), "first") as first, session(plan(), "second") as second:
            shared = first.coordinator.get("providers")["scripted"]
            shared.script, shared.silent = ["Good day."], True
            await second.coordinator.unmount("providers", "scripted")
            await second.coordinator.mount("providers", shared, name="scripted")
            await mounting.on_session_ready(second.coordinator)
            await shared.complete(None)

    asyncio.run(main())
    assert len(spans_named(spans, "chat")) == 1


def test_a_wrapped_wrapper_stops_with_its_session(spans: Any) -> None:
    async def main() -> None:
        async with session(plan(provider={"silent": True})) as item:
            provider = item.coordinator.get("providers")["scripted"]
            ours = provider.complete
            provider.complete = partial(ours)
        provider.script = ["Good day."]
        await provider.complete(None)

    asyncio.run(main())
    assert spans_named(spans, "chat") == []


def test_a_call_that_was_cancelled_has_no_result(spans: Any) -> None:
    async def main() -> None:
        async with session(plan({"calls": [call("a", city="Rome")]})) as item:
            tool = item.coordinator.get("tools")["weather"]
            entered = asyncio.Event()

            async def look(input: Any) -> Any:
                entered.set()
                await asyncio.sleep(60)

            tool.execute = look
            await mounting.on_session_ready(item.coordinator)
            task = asyncio.create_task(item.execute("How is it?"))
            await entered.wait()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    asyncio.run(main())
    [tool] = spans_named(spans, "execute_tool weather")
    assert tool.attributes["agentool.tool.incomplete"] == "call_only"
    assert "agentool.step.result.index" not in tool.attributes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_while_another_thread_records_does_not_stop_the_child(spans: Any) -> None:
    value, free = threading.Event(), threading.Event()

    def hold() -> None:
        with hook._lock:
            value.set()
            free.wait()

    holding = threading.Thread(target=hold)
    holding.start()
    value.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if hook._lock.acquire(timeout=5) else 1)
    free.set()
    holding.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
