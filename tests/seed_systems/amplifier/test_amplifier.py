"""Checks 46 to 60: Amplifier, in real sessions of its kernel.

The published orchestrators are not on PyPI: one of our own sends what either of them sends.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import agentool_otel
from agentool_otel.integrations.amplifier.events.event_names import DELTAS, KERNEL, MODULES, WATCHED
from agentool_otel.integrations.amplifier.hook import mounting
from tests.records import records
from tests.seed_systems.amplifier.sessions import (
    LOOPS,
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

FIVE = [call(f"call_{n}", city=city) for n, city in
        enumerate(("Paris", "Atlantis", "Rome", "Nowhere", "Paris"))]  # fmt: skip


@pytest.fixture(autouse=True)
def configured(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider of the test is in force already: mounting the hook configures nothing."""
    monkeypatch.setattr(mounting, "instrument", lambda **_: None)


def facts(span: Any) -> tuple[Any, ...]:
    at = span.attributes
    return (
        at.get("gen_ai.tool.call.arguments"),
        at.get("gen_ai.tool.call.result"),
        at.get("error.type"),
    )


def parents(spans: Any) -> dict[str, str | None]:
    """Return the name of each span's parent, by the name of the span."""
    names = {item.context.span_id: item.name for item in spans.finished()}
    return {
        item.name: None if item.parent is None else names.get(item.parent.span_id)
        for item in spans.finished()
    }


async def allow(event: str, data: Any) -> Any:
    return kernel().HookResult(action="continue")


# ------------------------------------------------------------------------------------ mounting


def test_check_46_the_hook_is_an_entry_point_that_a_real_session_mounts(spans: Any) -> None:
    entry_points = importlib.metadata.entry_points(group="amplifier.modules")
    assert "hooks-agentool-otel" in {item.name for item in entry_points}
    assert run(plan("Good day."), "Hello") == ["Good day."]
    assert [item.name for item in spans.finished()] == ["chat scripted-1", "invoke_agent"]


def test_check_46_an_unknown_option_disables_only_the_hook(
    spans: Any,
) -> None:
    hooks = [{"module": "hooks-agentool-otel", "config": {"endpont": "http://x"}}]
    assert run(plan("Good day.", hooks=hooks), "Hello") == ["Good day."]
    assert spans.finished() == []


def test_check_47_every_kernel_event_is_watched_or_excluded() -> None:
    assert set(kernel(".events").ALL_EVENTS) == set(KERNEL)
    assert set(KERNEL) - set(WATCHED) == DELTAS
    assert not DELTAS & set(MODULES)


@pytest.mark.parametrize("event", sorted(set(WATCHED)))
def test_check_47_no_event_troubles_a_session_whatever_it_holds(event: str, spans: Any) -> None:
    async def send(item: Any) -> None:
        for data in ({}, {"tool_name": 3, "error": [], "usage": 1, "block": None, "prompt": {}}):
            await item.coordinator.hooks.emit(event, data)

    assert run(plan("Good day."), "Hello", before=send) == ["Good day."]
    assert spans_named(spans, "chat scripted-1")


def test_check_48_announced_events_are_on_their_step(spans: Any) -> None:
    hooks = [{"module": "scripted-announcing"}, {"module": "hooks-agentool-otel"}]
    run(plan("Good day.", hooks=hooks), "Hello")
    [turn] = spans_named(spans, "invoke_agent")
    [event] = [event for event in turn.events if event.name == "amplifier.garden.watered"]
    assert dict(event.attributes) == {"amplifier.litres": 3}


# ----------------------------------------------------------------------------------- tool calls


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("ids", [True, False])
def test_check_49_parallel_calls_of_one_tool_are_paired(loop: str, ids: bool, spans: Any) -> None:
    run(plan({"calls": FIVE}, "Sunny.", loop=loop, ids=ids), "How is it?")
    tools = spans_named(spans, "execute_tool weather")
    cities = [json.loads(tool.attributes["gen_ai.tool.call.arguments"])["city"] for tool in tools]
    assert Counter(cities) == Counter(Paris=2, Atlantis=1, Rome=1, Nowhere=1)
    for city, tool in zip(cities, tools, strict=True):
        _, result, error = facts(tool)
        assert (error is not None) == (
            city == "Atlantis" or (city, loop) == ("Nowhere", "streaming")
        )
        if city in ("Paris", "Rome"):
            assert city in result


@pytest.mark.parametrize("loop", LOOPS)
def test_check_50_a_tool_that_raises_or_fails_is_an_error(loop: str, spans: Any) -> None:
    requests = [call("a", city="Atlantis"), call("b", tool="absent", x=1)]
    run(plan({"calls": requests}, "Sorry.", loop=loop), "How is it?")
    [raised] = spans_named(spans, "execute_tool weather")
    [absent] = spans_named(spans, "execute_tool absent")
    for span in (raised, absent):
        assert span.status.status_code.name == "ERROR"
    assert raised.attributes["agentool.tool.error"] == "Atlantis has sunk"
    assert "absent" in absent.attributes["agentool.tool.error"]


def test_check_51_an_approval_that_waits_is_on_the_call_it_is_about(spans: Any) -> None:
    async def before(item: Any) -> None:
        async def ask(event: str, data: Any) -> Any:
            requests = {"tool_name": "weather", "action": "look", "risk_level": "high"}
            await item.coordinator.hooks.emit("approval:required", requests)
            await item.coordinator.hooks.emit("approval:granted", {"tool_name": "weather"})
            return await allow(event, data)

        # Behind ours: the call is under way by then.
        item.coordinator.hooks.register("tool:pre", ask, 2_000_000, "ask")

    run(plan({"calls": FIVE[:1]}, "Sunny."), "How is it?", before=before)
    [tool] = spans_named(spans, "execute_tool weather")
    assert [event.name for event in tool.events] == [
        "amplifier.approval.required",
        "amplifier.approval.granted",
    ]
    assert tool.events[0].attributes["amplifier.risk_level"] == "high"


# ---------------------------------------------------------------------------------- model calls


def test_check_52_a_failed_call_with_two_ends_is_one_span(spans: Any) -> None:
    with pytest.raises(RuntimeError, match="too many"):
        run(plan({"error": "too many"}), "Hello")
    [chat] = spans_named(spans, "chat scripted-1")
    assert chat.attributes["error.type"] == "error"
    assert chat.status.description == "too many"


def test_check_52_retries_are_on_the_call_that_is_retried(spans: Any) -> None:
    run(plan({"text": "Good day.", "retries": 2}), "Hello")
    [chat] = spans_named(spans, "chat scripted-1")
    assert [event.name for event in chat.events] == ["amplifier.provider.retry"] * 2


@pytest.mark.parametrize("silent", [False, True])
def test_check_52_calls_at_the_same_time_are_paired(silent: bool, spans: Any) -> None:
    async def main() -> None:
        async with session(plan("a", "b", "c", provider={"silent": silent})) as item:
            provider = item.coordinator.get("providers")["scripted"]
            request = kernel(".message_models").ChatRequest(messages=[])
            await asyncio.gather(*(provider.complete(request) for _ in range(3)))

    asyncio.run(main())
    chats = [item for item in spans.finished() if item.name.startswith("chat")]
    assert len(chats) == 3
    assert {chat.attributes["gen_ai.usage.output_tokens"] for chat in chats} == {7}


def test_check_52_an_older_kernel_without_request_ids_is_paired_in_order() -> None:
    lines: list[dict[str, Any]] = [
        {"event": "prompt:submit", "data": {"prompt": "Hello"}},
        *({"event": "llm:request", "data": {"model": model}} for model in ("a", "b")),
        *({"event": "llm:response", "data": {"usage": {"input": n}}} for n in (1, 2)),
        {"event": "orchestrator:complete", "status": "success"},
    ]
    chats = [item for item in recorded(lines) if item.name.startswith("chat")]
    assert [(chat.name, chat.attributes["gen_ai.usage.input_tokens"]) for chat in chats] == [
        ("chat a", 1),
        ("chat b", 2),
    ]


@pytest.mark.parametrize("loop", LOOPS)
def test_check_53_a_child_session_lies_below_the_call_that_started_it(
    loop: str, spans: Any
) -> None:
    tools = [{"module": "scripted-delegate", "config": {"child": plan("A poem.", loop=loop)}}]
    requests = {"calls": [call("call_1", tool="delegate", task="Write!")]}
    run(plan(requests, "Done.", loop=loop, tools=tools), "A poem, please.")
    assert parents(spans)["invoke_agent writer"] == "execute_tool delegate"
    assert len({item.context.trace_id for item in spans.finished()}) == 1


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_check_53_a_child_of_a_turn_that_is_over_lies_below_that_turn(
    loop: str, ended: bool, spans: Any
) -> None:
    async def main() -> None:
        parent = session(plan("Good day.", "Good night.", loop=loop), "first")
        async with parent:
            await parent.execute("Hello")
            await parent.execute("And now?")
            if not ended:
                await child()
        if ended:
            await child()

    async def child() -> None:
        mounted = plan("A poem.", loop=loop)
        async with kernel().AmplifierSession(
            mounted, session_id="second", parent_id="first"
        ) as amplifier_session:
            await amplifier_session.execute("Write!")

    asyncio.run(main())
    hello, now, write = spans_named(spans, "invoke_agent")
    assert write.parent.span_id == now.context.span_id
    assert write.context.trace_id == now.context.trace_id != hello.context.trace_id
    traces = list(agentool_otel.rebuild(records(spans.finished())))
    outputs = {str(trace.trace.input): trace.trace.output for trace in traces}
    assert outputs == {"Hello": "Good day.", "And now?": "Good night.", "Write!": "A poem."}


@pytest.mark.parametrize("loop", LOOPS)
def test_check_54_tool_and_model_spans_are_current(loop: str, spans: Any) -> None:
    from opentelemetry import trace

    modules = import_module("amplifier_module_scripted")

    counts: list[int] = []
    modules.probed(lambda: counts.append(trace.get_current_span().get_span_context().span_id))
    run(plan({"calls": FIVE[:1]}, "Sunny.", loop=loop), "How is it?")
    modules.probed(lambda: None)
    ids = {item.context.span_id: item.name for item in spans.finished()}
    assert [ids[number] for number in counts] == [
        "chat scripted-1",
        "execute_tool weather",
        "chat scripted-1",
    ]


# ------------------------------------------------------------------------------------- payloads


@pytest.mark.parametrize("given", ["input", "tool_input", "arguments"])
@pytest.mark.parametrize("gave", ["result", "tool_result"])
def test_check_55_arguments_and_results_are_read_under_all_their_names(
    given: str, gave: str, spans: Any
) -> None:
    run(plan({"calls": FIVE[2:3]}, "Sunny.", words=(given, gave)), "How is it?")
    [tool] = spans_named(spans, "execute_tool weather")
    arguments, result, _ = facts(tool)
    assert json.loads(arguments) == {"city": "Rome"}
    assert json.loads(result) == {"city": "Rome", "sky": "sunny"}


def test_check_55_usage_in_older_words_is_read(spans: Any) -> None:
    run(plan("Good day.", provider={"older": True}), "Hello")
    [chat] = spans_named(spans, "chat scripted-1")
    assert chat.attributes["gen_ai.usage.input_tokens"] == 21
    assert chat.attributes["gen_ai.usage.cache_read.input_tokens"] == 5


def test_check_55_usage_as_the_repr_of_a_model_is_read() -> None:
    from agentool_otel.integrations.amplifier.events.payloads import cost_of, usage_of

    usage = kernel(".message_models").Usage(
        input_tokens=21, output_tokens=7, total_tokens=28, cost_usd="0.0123"
    )
    for text in (str(usage), repr(usage)):
        read = usage_of({"usage": text})
        assert read is not None
        assert (read.input_tokens, read.output_tokens, read.total_tokens) == (21, 7, 28)
        assert cost_of({"usage": text}) == 0.0123


def test_check_56_content_is_what_a_redacting_hook_has_left(spans: Any) -> None:
    async def redact(event: str, data: Any) -> Any:
        return kernel().HookResult(action="modify", data={**data, "prompt": "[left out]"})

    async def before(item: Any) -> None:
        for event in ("prompt:submit", "execution:start"):
            item.coordinator.hooks.register(event, redact, 10, f"redact {event}")

    run(plan("Good day."), "My secret is blue.", before=before)
    [turn] = spans_named(spans, "invoke_agent")
    assert "[left out]" in turn.attributes["gen_ai.input.messages"]
    assert not any("blue" in str(item.attributes) for item in spans.finished())


def test_check_57_our_own_fault_is_not_the_sessions(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentool_otel.integrations.amplifier.events.translator import AmplifierEvents
    from agentool_otel.tracing.spans.settings import settings

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(settings, "strict", False)
    for name in ("read", "session", "deny", "end_call"):
        monkeypatch.setattr(AmplifierEvents, name, broken)
    requests = {"calls": FIVE[:2]}
    assert run(plan(requests, "Sunny."), "How is it?") == ["Sunny."]


def _methods(modules: list[Any]) -> list[dict[str, int]]:
    """Return what the classes of some modules hold, by identity: a wrapper equals its method."""
    return [{name: id(var) for name, var in vars(type(module)).items()} for module in modules]


def test_check_57_a_session_is_left_as_it_was_found(spans: Any) -> None:
    async def main() -> None:
        bare = session(plan(hooks=[]))
        await bare.initialize()
        modules = [bare.coordinator.get("tools")["weather"]]
        modules.append(bare.coordinator.get("providers")["scripted"])
        methods = _methods(modules)
        item = session(plan("Good day."))
        await item.initialize()
        assert _methods(modules) != methods
        await item.execute("Hello")
        handlers = item.coordinator.hooks.list_handlers
        assert any(handlers().values())
        await item.cleanup()
        assert not any("agentool" in name for names in handlers().values() for name in names)
        assert _methods(modules) == methods

    asyncio.run(main())


def test_check_57_nothing_is_altered(spans: Any) -> None:
    requests = [{"text": "Let me look.", "calls": FIVE}, "Sunny."]
    hooks: list[Any] = []
    assert run(plan(*requests), "How is it?") == run(plan(*requests, hooks=hooks), "How is it?")


def test_check_58_costs_and_cached_tokens_are_kept(spans: Any) -> None:
    run(plan("Good day."), "Hello")
    [chat] = spans_named(spans, "chat scripted-1")
    values = {name: value for name, value in chat.attributes.items() if "usage" in name}
    assert chat.attributes["agentool.cost.usd"] == 0.0123
    assert values["gen_ai.usage.cache_read.input_tokens"] == 5
    assert values["gen_ai.usage.reasoning.output_tokens"] == 3
    assert 2 in values.values()


def test_check_60_a_plain_dict_is_a_result_and_a_schema_may_be_on_the_class(spans: Any) -> None:
    run(plan({"calls": [call("a", city="Plain")]}, "Mild."), "How is it?")
    [tool] = spans_named(spans, "execute_tool weather")
    assert json.loads(tool.attributes["gen_ai.tool.call.result"]) == {"result": "mild"}
    assert "error.type" not in tool.attributes


# ----------------------------------------------------------------------------------------- logs


def recorded(lines: list[dict[str, Any]], session_id: str = "s1") -> list[Any]:
    """Return the spans of a log, in the order in which they began."""
    from agentool_otel.integrations.amplifier.log_reader import AmplifierLog

    log = AmplifierLog()
    results: list[Any] = []
    for second, line in enumerate(lines):
        stamped = {"session_id": session_id, "ts": f"2026-11-23T10:00:{second:02}.000+00:00"}
        full = {**stamped, "schema": {"name": "amplifier.log", "ver": "1.0.0"}, **line}
        assert AmplifierLog.recognises(full)
        results += log.spans(full)
    return sorted([*results, *log.rest()], key=lambda item: item.start_ns)


@pytest.mark.parametrize("loop", LOOPS)
def test_check_59_a_log_gives_the_trajectories_of_the_live_session(
    loop: str, spans: Any, tmp_path: Path
) -> None:
    log = tmp_path / "events.jsonl"
    hooks: list[dict[str, Any]] = [
        {"module": "scripted-logging", "config": {"path": str(log)}},
        {"module": "hooks-agentool-otel"},
    ]
    tools = [{"module": "scripted-delegate", "config": {
        "child": plan("A poem.", loop=loop, hooks=hooks)}}]  # fmt: skip
    requests = {
        "text": "Let me look.",
        "calls": [*FIVE, call("call_9", tool="delegate", task="Write!")],
    }
    run(plan(requests, "Sunny.", loop=loop, hooks=hooks, tools=tools), "How is it?")
    from agentool_otel.reading.sources.opening import open_source

    offline = sorted(_shape(span.attributes) for span in open_source(str(log)).spans())
    live = sorted(_shape(item.attributes) for item in spans.finished())
    assert offline == live
    documents = [item.to_dict() for item in agentool_otel.load(log)]
    assert documents == [item.to_dict() for item in agentool_otel.load(log)]
    assert {document["status"] for document in documents} == {"success"}


_LIVE_ONLY = ("agentool.span.", "agentool.step.", "agentool.metrics.", "gen_ai.agent.name")
"""Attributes that repeat a span's own data live: of the agent on every span of its run."""


def _shape(attributes: Any) -> str:
    """Return the attributes of a span, without its ids, its places in the run, and what a live run
    takes over from the model calls below it."""
    of_run = attributes.get("gen_ai.operation.name") == "invoke_agent"
    left_out = (*_LIVE_ONLY, "gen_ai.response.finish_reasons") if of_run else _LIVE_ONLY
    return json.dumps(
        {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in attributes.items()
            if not name.startswith(left_out)
        },
        sort_keys=True,
        default=str,
    )


def test_check_59_a_log_that_breaks_off_gives_what_there_is() -> None:
    lines = [
        {"event": "prompt:submit", "data": {"prompt": "Hello"}},
        {"event": "tool:pre", "data": {"tool_name": "weather", "tool_input": {"city": "Rome"}}},
    ]
    turn, tool = recorded(lines)
    assert turn.attributes["agentool.status"] == "incomplete"
    assert tool.attributes["agentool.tool.incomplete"] == "call_only"
