"""Checks 64, 65, 67, 68, 70 and 72: Agent Spec's tracing, as its runtimes use it, without one."""

from __future__ import annotations

import asyncio
import contextvars
import json
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.integrations.agent_spec.instrumentor.events import EVENTS
from agentool_otel.integrations.agent_spec.instrumentor.listener import listener
from agentool_otel.integrations.agent_spec.instrumentor.processor import AgentSpecProcessor
from agentool_otel.integrations.agent_spec.instrumentor.span_types import SPAN_TYPES
from agentool_otel.tracing.spans.settings import settings
from tests.seed_systems.agent_spec.recorded import current, everything, lines, named
from tests.seed_systems.agent_spec.specs import (
    ANSWER,
    QUESTION,
    SECRET,
    agent,
    answered,
    asked,
    config,
    event,
    flow,
    model_call,
    part,
    remote_tool,
    requested,
    span,
    tool,
    tool_call,
)

pytest.importorskip("pyagentspec", reason="pyagentspec is not installed")


def exported(module: str) -> set[str]:
    """Return the names of the classes a module of pyagentspec exports, without their base."""
    return set(import_module(f"pyagentspec.tracing.{module}").__all__) - {"Span", "Event"}


# ------------------------------------------------------------------------------ what is mapped


def test_check_64_every_type_of_span_and_every_event_has_a_meaning() -> None:
    assert exported("spans") <= set(SPAN_TYPES)
    assert exported("events") <= set(EVENTS)
    assert (len(SPAN_TYPES), len(EVENTS)) == (8, 22)


def components() -> dict[str, Any]:
    one, second = agent(), agent(name="other")
    return {
        "RootSpan": ("Trace", {}),
        "AgentExecutionSpan": ("weather", {"agent": one}),
        "SwarmExecutionSpan": (
            "team",
            {"swarm": part("Swarm")(name="team", first_agent=one, relationships=[(one, second)])},
        ),
        "ManagerWorkersExecutionSpan": (
            "team",
            {
                "managerworkers": part("ManagerWorkers")(
                    name="team", group_manager=one, workers=[second]
                )
            },
        ),
        "FlowExecutionSpan": ("weather flow", {"flow": flow()}),
        "NodeExecutionSpan": ("look up", {"node": flow().nodes[2]}),
        "ToolExecutionSpan": ("get_weather", {"tool": tool()}),
        "LlmGenerationSpan": ("gpt-5", {"llm_config": config()}),
    }


OPERATIONS = {
    "RootSpan": "invoke_workflow",
    "AgentExecutionSpan": "invoke_agent",
    "SwarmExecutionSpan": "invoke_agent",
    "ManagerWorkersExecutionSpan": "invoke_agent",
    "FlowExecutionSpan": "invoke_workflow",
    "NodeExecutionSpan": None,
    "ToolExecutionSpan": "execute_tool",
    "LlmGenerationSpan": "chat",
}


@pytest.mark.parametrize("kind", OPERATIONS)
def test_check_64_a_span_becomes_its_operation(kind: str, attached: Any) -> None:
    name, fields = components()[kind]
    with part("Trace")(), span(kind, **fields):
        pass
    *_, operation = OPERATIONS[kind], OPERATIONS[kind]
    result = attached.finished()[0]
    assert result.name == (name if operation is None else f"{operation} {name}")
    assert result.attributes.get("gen_ai.operation.name") == operation


@pytest.mark.parametrize("kind", sorted(OPERATIONS))
def test_check_64_no_event_troubles_any_span(kind: str, attached: Any) -> None:
    _, fields = components()[kind]
    base = import_module("pyagentspec.tracing.events").Event
    with part("Trace")(), span(kind, **fields) as item:
        for name in EVENTS:
            bare = type(name, (base,), {})
            item.add_event(bare())
    assert current() is None
    attached.forget()


def test_check_64_a_run_follows_from_its_events(attached: Any) -> None:
    component = agent()
    with span("AgentExecutionSpan", agent=component) as run:
        run.add_event(event("AgentExecutionStart", agent=component, inputs={"q": QUESTION}))
        calls = [
            part("ToolCall")(call_id="c1", tool_name="get_weather", arguments='{"city":"Paris"}')
        ]
        model_call("", tool_calls=calls, input_tokens=21, output_tokens=7)
        tool_call()
        model_call(input_tokens=30, output_tokens=4)
        run.add_event(event("AgentExecutionEnd", agent=component, outputs={"a": ANSWER}))
    at = named(attached, "invoke_agent weather").attributes
    assert json.loads(at["gen_ai.input.messages"])[0]["parts"][0]["content"] == QUESTION
    assert json.loads(at["gen_ai.output.messages"])[0]["parts"][0]["content"] == ANSWER
    first, last = [item.attributes for item in attached.finished() if item.name == "chat gpt-5"]
    assert (first["gen_ai.usage.input_tokens"], last["gen_ai.usage.output_tokens"]) == (21, 4)
    at = named(attached, "execute_tool get_weather").attributes
    assert at["gen_ai.tool.call.id"] == "c1"
    assert json.loads(at["gen_ai.tool.call.arguments"]) == {"city": "Paris"}
    assert "sunny" in at["gen_ai.tool.call.result"]


def test_check_64_pieces_of_streams_are_counted_and_not_kept(attached: Any) -> None:
    component, piece = config(), "piece of a stream"
    with span("LlmGenerationSpan", llm_config=component) as item:
        item.add_event(
            event("LlmGenerationChunkReceived", llm_config=component, content=piece, request_id="r")
        )
    with span("ToolExecutionSpan", tool=tool()) as item:
        item.add_event(requested(tool()))
        for _ in range(3):
            item.add_event(
                event(
                    "ToolExecutionStreamingChunkReceived",
                    tool=tool(),
                    content=piece,
                    request_id="t",
                )
            )
    chat, execution = attached.finished()
    assert chat.attributes["gen_ai.response.time_to_first_chunk"] > 0
    assert execution.attributes["agentspec.tool.chunks"] == 3
    assert piece not in repr([(item.attributes, item.events) for item in attached.finished()])


# ---------------------------------------------------------------------------- sync and async


async def start_and_end(*inner: Any) -> None:
    async with span("AgentExecutionSpan", agent=agent()):
        for item in inner:
            await item


async def model_call_async() -> None:
    component = config()
    async with span("LlmGenerationSpan", llm_config=component) as item:
        await item.add_event_async(asked(component, ("user", QUESTION)))
        await item.add_event_async(answered(component))


def test_check_65_asynchronous_spans_become_the_same_tree(attached: Any) -> None:
    async def main() -> str | None:
        async with part("Trace")(name="talk"):
            await asyncio.gather(*(start_and_end(model_call_async()) for _ in range(3)))
            return current()

    assert asyncio.run(main()) == "invoke_workflow talk"
    assert lines(attached) == [
        "invoke_workflow talk",
        *["  invoke_agent weather", "    chat gpt-5"] * 3,
    ]
    assert current() is None


def test_check_65_a_span_that_ends_in_another_context_leaves_none_behind(attached: Any) -> None:
    item = span("AgentExecutionSpan", agent=agent())
    one = contextvars.copy_context()
    one.run(item.start)
    assert (one.run(current), current()) == ("invoke_agent weather", None)
    one.copy().run(item.end)
    assert current() is None
    assert [item.name for item in attached.finished()] == ["invoke_agent weather"]


def test_check_65_an_error_of_ours_is_not_the_programs(
    attached: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(settings, "strict", False)
    for place in ("started", "event", "ended"):
        monkeypatch.setattr(
            f"agentool_otel.integrations.agent_spec.instrumentor.listener.{_WITHIN[place]}", fails
        )
    with part("Trace")(span_processors=[AgentSpecProcessor()]):
        model_call()
    attached.forget()


_WITHIN = {"started": "span_type_of", "event": "tell", "ended": "time_ns"}


def test_check_65_the_processor_alone_records_as_much(spans: Any) -> None:
    async def talk() -> None:
        async with part("Trace")(name="talk", span_processors=[AgentSpecProcessor(False)]):
            await start_and_end(model_call_async())

    with part("Trace")(name="talk", span_processors=[AgentSpecProcessor(False)]):
        model_call()
    asyncio.run(talk())
    names = [item.name for item in spans.finished()]
    assert names == [
        *("chat gpt-5", "invoke_workflow talk"),
        *("chat gpt-5", "invoke_agent weather", "invoke_workflow talk"),
    ]
    assert ANSWER in spans.finished()[0].attributes["gen_ai.output.messages"]


def test_check_66_unended_steps_end_with_their_parent(attached: Any) -> None:
    def run() -> None:
        with span("FlowExecutionSpan", flow=flow()):
            span("NodeExecutionSpan", node=flow().nodes[2]).start()
            raise ValueError("no network")

    with pytest.raises(ValueError, match="no network"):
        run()
    node, complete = attached.finished()
    assert (node.name, complete.name) == ("look up", "invoke_workflow weather flow")
    assert [item.attributes["error.type"] for item in (node, complete)] == ["ValueError"] * 2
    assert len(listener._open) == 0


def test_check_66_without_an_error_it_is_incomplete(attached: Any) -> None:
    with span("FlowExecutionSpan", flow=flow()):
        span("AgentExecutionSpan", agent=agent()).start()
    assert named(attached, "invoke_agent weather").attributes["agentool.incomplete"] is True


# ------------------------------------------------------------------------------------- masking


def secret_run() -> None:
    component = agent(tools=[tool(), remote_tool()])
    snapshot = {"conversation_id": "7", "state_snapshot": {"word": "canary-content"}}
    with part("Trace")(), span("AgentExecutionSpan", agent=component) as run:
        run.add_event(event("AgentExecutionStart", agent=component, inputs={"q": "canary-content"}))
        run.add_event(event("StateSnapshotEmitted", **snapshot))
        for name in ("HumanInTheLoopRequest", "HumanInTheLoopResponse"):
            run.add_event(event(name, request_id="h", content={"q": "canary-content"}))
        model_call("canary-content")
        tool_call("canary-content", remote_tool())
        run.add_event(
            event("ExceptionRaised", exception_type="Oops", exception_message="canary-content")
        )


def test_check_67_sensitive_values_are_recorded_where_content_is(attached: Any) -> None:
    secret_run()
    assert everything(attached).count("canary-content") > 6


def test_check_67_without_permission_none_is_recorded(attached: Any) -> None:
    attached.without_content()
    secret_run()
    assert "canary-content" not in everything(attached)
    assert named(attached, "invoke_agent weather").attributes["error.type"] == "Oops"


@pytest.mark.parametrize("masked", [True, False])
def test_check_67_a_processor_masks_by_default(masked: bool, attached: Any) -> None:
    processor = AgentSpecProcessor() if masked else AgentSpecProcessor(False)
    with part("Trace")(span_processors=[processor]):
        model_call("canary-content")
    assert ("canary-content" in everything(attached)) != masked


def test_check_67_headers_and_keys_never_leave(attached: Any) -> None:
    component = config(api_key=SECRET)
    with span("LlmGenerationSpan", llm_config=component) as item:
        item.add_event(asked(component, ("user", QUESTION), tools=[remote_tool()]))
        item.add_event(answered(component))
    secret_run()
    assert SECRET not in everything(attached)
    assert "example.org" not in everything(attached)


# ---------------------------------------------------------------------------------- call ids


@pytest.mark.parametrize("captured", [True, False])
def test_check_68_arguments_in_pythons_notation_are_read_and_calls_found(
    captured: bool, attached: Any
) -> None:
    if not captured:
        attached.without_content()
    arguments = "{'city': 'Paris', 'not': None}"
    calls = [
        part("ToolCall")(call_id="c0", tool_name="get_weather", arguments="{'city': 'Rome'}"),
        part("ToolCall")(call_id="c1", tool_name="get_weather", arguments="{'city': 'Paris'}"),
        part("ToolCall")(call_id="c2", tool_name="other", arguments=arguments),
    ]
    with span("AgentExecutionSpan", agent=agent()):
        model_call("", tool_calls=calls)
        tool_call()
    assert named(attached, "execute_tool get_weather").attributes["gen_ai.tool.call.id"] == "c1"
    if captured:
        [message] = json.loads(named(attached, "chat gpt-5").attributes["gen_ai.output.messages"])
        assert message["parts"][2]["arguments"] == {"city": "Paris", "not": None}


def test_check_68_the_id_that_langgraphs_adapter_hides_is_found(attached: Any) -> None:
    with span("AgentExecutionSpan", agent=agent()):
        tool_call(description="tcid__call_7")
    assert named(attached, "execute_tool get_weather").attributes["gen_ai.tool.call.id"] == "call_7"


# ------------------------------------------------------------------------------------ company


class Other:
    """A processor of somebody else's, which makes its own span current."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def heard(*args: Any) -> None:
            self.heard.append(name)

        return heard


def test_check_70_other_processors_get_everything_once(attached: Any) -> None:
    second = Other()
    processors = [second, AgentSpecProcessor(False)]
    with part("Trace")(name="talk", span_processors=processors) as trace:
        tool_call()
    assert trace.span_processors is processors
    assert second.heard == [
        *("startup", "on_start", "on_start", "on_event", "on_event", "on_end", "on_end"),
        "shutdown",
    ]
    assert [item.name for item in attached.finished()] == [
        "execute_tool get_weather",
        "invoke_workflow talk",
    ]


def test_check_70_without_a_trace_the_agent_is_the_root(attached: Any) -> None:
    with span("AgentExecutionSpan", agent=agent()):
        model_call()
    assert part("get_trace")() is None
    assert attached.tree().splitlines()[0] == "invoke_agent weather"
    assert named(attached, "chat gpt-5").parent is not None


def test_check_70_a_program_can_open_its_own_trace_inside(attached: Any) -> None:
    with span("AgentExecutionSpan", agent=agent()), part("Trace")(name="inner"):
        model_call()
    assert lines(attached) == ["invoke_agent weather", "  invoke_workflow inner", "    chat gpt-5"]


def test_check_70_detached_nothing_is_recorded(attached: Any) -> None:
    from agentool_otel.integrations.agent_spec.instrumentor.patches import AgentSpecInstrumentor

    AgentSpecInstrumentor().uninstrument()
    with part("Trace")():
        model_call()
    assert attached.finished() == []


# -------------------------------------------------------------------------- teams and humans


@pytest.mark.parametrize(
    ("kind", "field", "name"),
    [
        ("SwarmExecution", "swarm", "SwarmExecutionSpan"),
        ("ManagerWorkersExecution", "managerworkers", "ManagerWorkersExecutionSpan"),
    ],
)
def test_check_72_a_team_is_a_run_that_holds_those_of_its_agents(
    kind: str, field: str, name: str, attached: Any
) -> None:
    _, fields = components()[name]
    with span(name, **fields) as team:
        team.add_event(event(f"{kind}Start", **fields, inputs={"q": QUESTION}))
        with span("AgentExecutionSpan", agent=agent()):
            model_call()
        team.add_event(event(f"{kind}End", **fields, outputs={"a": ANSWER}))
    at = named(attached, "invoke_agent team").attributes
    assert at["agentspec.component.type"].lower() == field
    assert ANSWER in at["gen_ai.output.messages"]
    assert named(attached, "invoke_agent weather").parent is not None


def test_check_72_confirmations_humans_and_snapshots_are_events(attached: Any) -> None:
    component = tool(requires_confirmation=True)
    with span("AgentExecutionSpan", agent=agent()) as run:
        run.add_event(
            event("HumanInTheLoopRequest", request_id="h", content={"question": "Really?"})
        )
        run.add_event(event("HumanInTheLoopResponse", request_id="h", content={"answer": "Yes."}))
        run.add_event(
            event("StateSnapshotEmitted", conversation_id="7", state_snapshot={"turn": 1})
        )
        with span("ToolExecutionSpan", tool=component) as call:
            call.add_event(requested(component))
            call.add_event(event("ToolConfirmationRequest", tool=component, request_id="k"))
            call.add_event(
                event(
                    "ToolConfirmationResponse",
                    tool=component,
                    request_id="k",
                    execution_confirmed=False,
                )
            )
    execution, complete = attached.finished()
    assert [
        item.name.removeprefix("agentspec.")
        for item in complete.events
        if item.name.startswith("agentspec")
    ] == [
        "human_in_the_loop.request",
        "human_in_the_loop.response",
        "state_snapshot",
    ]
    question = next(item for item in complete.events if item.name.endswith("loop.request"))
    assert "Really?" in question.attributes["agentool.step.content"]
    assert execution.attributes["error.type"] == "rejected"
    confirmed = [item.attributes.get("agentspec.confirmed") for item in execution.events]
    assert False in confirmed
