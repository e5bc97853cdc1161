"""Check 51: a tool call that a hook of Amplifier has denied has its times, place and arguments."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agentool_otel.integrations.amplifier.events.payloads import event_time
from agentool_otel.integrations.amplifier.hook import mounting
from tests.seed_systems.amplifier.sessions import (
    LOOPS,
    Span,
    call,
    kernel,
    plan,
    run,
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


async def deny_rome(event: str, data: Any) -> Any:
    denied = data["tool_input"]["city"] == "Rome"
    return kernel().HookResult(action="deny" if denied else "continue", reason="not Rome")


async def redact_city(event: str, data: Any) -> Any:
    city = data["tool_input"]["city"]
    clean = {**data, "tool_input": {"city": f"{city}, redacted"}}
    return kernel().HookResult(action="modify", data=clean)


async def look(event: str, data: Any) -> Any:
    return kernel().HookResult(action="continue")


PARIS_ROME_PARIS = [call("a", city="Paris"), call("b", city="Rome"), call("c", city="Paris")]


def denied_call(spans: Any, loop: str, *handlers: tuple[Any, int]) -> Span:
    """Run three calls of which one is denied, and return its span, after a look at the times and
    the order of all."""
    sent: set[int | None] = set()

    def noting(handler: Any) -> Any:
        async def note(event: str, data: Any) -> Any:
            sent.add(event_time(data["timestamp"]))
            return await handler(event, data)

        return note

    async def before(item: Any) -> None:
        for number, (handler, priority) in enumerate(handlers):
            item.coordinator.hooks.register(
                "tool:pre", noting(handler), priority, f"handler {number}"
            )

    mounted = plan({"calls": PARIS_ROME_PARIS}, "Sunny.", loop=loop)
    run(mounted, "How is it?", before=before)
    [turn] = spans_named(spans, "invoke_agent")
    tools = spans_named(spans, "execute_tool weather")
    assert [tool.start_time for tool in tools] == sorted(number for number in sent if number)
    for tool in tools:
        assert turn.start_time <= tool.start_time <= tool.end_time <= turn.end_time
    last = [item for item in spans.finished() if item.name.startswith("chat")][-1]
    [denied] = [tool for tool in tools if tool.attributes.get("error.type") == "permission_denied"]
    assert denied.end_time <= last.start_time
    return denied


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("priority", [-1_000_001, -50, 0, 5, 11, 50, 999_999])
def test_check_51_a_denied_call_has_its_times_its_place_and_its_arguments(
    loop: str, priority: int, spans: Any
) -> None:
    denied = denied_call(spans, loop, (deny_rome, priority))
    assert json.loads(denied.attributes["gen_ai.tool.call.arguments"]) == {"city": "Rome"}
    assert denied.status.status_code.name == "ERROR"


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    ("handlers", "of_event"),
    [
        ([(deny_rome, 0), (look, 60)], "Rome"),
        ([(look, 10), (deny_rome, 20)], "Rome"),
        ([(deny_rome, 0), (look, 5)], None),
        ([(deny_rome, 20), (look, 60)], None),
    ],
)
def test_check_51_denied_arguments_are_read_after_redaction(
    loop: str, handlers: list[tuple[Any, int]], of_event: str | None, spans: Any
) -> None:
    """Handlers behind the one that denies are not asked. What the model wrote is content that has
    been recorded; the basic loop does not send it."""
    denied = denied_call(spans, loop, *handlers)
    attribute = denied.attributes.get("gen_ai.tool.call.arguments")
    expected = of_event or ("Rome" if loop == "streaming" else None)
    assert (None if attribute is None else json.loads(attribute)["city"]) == expected


@pytest.mark.parametrize("loop", LOOPS)
def test_check_51_denied_arguments_are_the_redacted_ones(loop: str, spans: Any) -> None:
    async def deny(event: str, data: Any) -> Any:
        denied = data["tool_input"]["city"] == "Rome, redacted"
        return kernel().HookResult(action="deny" if denied else "continue")

    denied = denied_call(spans, loop, (redact_city, 10), (deny, 20))
    assert json.loads(denied.attributes["gen_ai.tool.call.arguments"])["city"] == "Rome, redacted"


def test_check_51_a_call_denied_last_is_recorded_when_the_hook_leaves(spans: Any) -> None:
    """No further event of the session comes."""

    async def main() -> None:
        mounted = plan("Good day.")
        async with session(mounted) as item:
            item.coordinator.hooks.register("tool:pre", deny_rome, 0, "deny")
            await item.coordinator.hooks.emit("prompt:submit", {"prompt": "How is it?"})
            data = {"tool_name": "weather", "tool_call_id": "a", "tool_input": {"city": "Rome"}}
            assert (await item.coordinator.hooks.emit("tool:pre", data)).action == "deny"

    asyncio.run(main())
    [tool] = spans_named(spans, "execute_tool weather")
    assert tool.attributes["error.type"] == "permission_denied"
    assert tool.start_time <= tool.end_time
