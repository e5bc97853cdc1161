"""Traits of CrewAI: crews of several tasks, flows, models without a client, memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from tests.situations.conftest import Stage, stages
from tests.situations.drivers.crewai import keep_quiet

pytest.importorskip("crewai")

SEARCH = Turn(tool_calls=(ToolCall("search_web", {"query": "otel"}),))


@pytest.fixture(scope="module")
def _stage() -> Iterator[Stage]:
    with stages() as stage:
        yield stage


@pytest.fixture
def stage(_stage: Stage) -> Iterator[Stage]:
    keep_quiet()
    _stage.set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield _stage


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as model:
        yield model


def crewai() -> Any:
    return import_module("crewai")


def llm(model: LoopbackModel, **options: Any) -> Any:
    return crewai().LLM(
        model="openai/gpt-5", base_url=model.base_url, api_key="none", max_retries=0, **options
    )


def agent(llm: Any, role: str = "researcher", **options: Any) -> Any:
    options = {"max_retry_limit": 0, **options}
    return crewai().Agent(role=role, goal="g", backstory="b", llm=llm, **options)


def task(agent: Any, description: str = "Find out.", **options: Any) -> Any:
    return crewai().Task(description=description, expected_output="o", agent=agent, **options)


def crew(*tasks: Any, **options: Any) -> Any:
    agents = list({id(item.agent): item.agent for item in tasks}.values())
    return crewai().Crew(agents=agents, tasks=list(tasks), **options)


def tree(spans: list[SpanRecord]) -> list[str]:
    """Return the names of spans, each behind that of its parent, in order."""
    by_id = {span.span_id: span for span in spans}
    ordered = sorted(spans, key=lambda span: span.start_ns or 0)

    def path(span: SpanRecord) -> str:
        parent = by_id.get(span.parent_id or "")
        return span.name if parent is None else f"{path(parent)} > {span.name}"

    return [path(item) for item in ordered]


def attributes(stage: Stage, name: str) -> list[dict[str, Any]]:
    return [span.attributes for span in stage.recorded.spans() if span.name == name]


def test_a_crew_is_one_trajectory_that_hands_over_from_agent_to_agent(
    stage: Stage, model: LoopbackModel
) -> None:
    model.push("facts", "text")
    tasks = task(agent(llm(model))), task(agent(llm(model), "writer\n"), "Write.")
    crew(*tasks, name="desk").kickoff({"about": "it"})
    desk = next(
        item.trace for item in rebuild(stage.recorded.spans()) if item.trace.agent_id == "desk"
    )
    handoffs = [step for step in desk.to_dict()["steps"] if step["type"] == "handoff"]
    assert [handoff["to_agent"] for handoff in handoffs] == ["writer"]


def test_a_tools_work_is_below_its_span_with_the_calls_id(
    stage: Stage, model: LoopbackModel
) -> None:
    def search_web(query: str) -> str:
        """Search the web."""
        return str(llm(model).call("inside"))

    tool: Any = import_module("crewai.tools").tool
    model.push(SEARCH, "inner", "facts")
    crew(task(agent(llm(model), tools=[tool("search_web")(search_web)]))).kickoff()
    text = "invoke_workflow crew > invoke_agent researcher > "
    assert tree(stage.recorded.spans())[2:] == [
        f"{text}chat gpt-5",
        f"{text}execute_tool search_web",
        f"{text}execute_tool search_web > chat gpt-5",
        f"{text}chat gpt-5",
    ]
    executed = attributes(stage, "execute_tool search_web")[0]
    attribute = stage.recorded.spans()[0].attributes["gen_ai.output.messages"]
    assert executed["gen_ai.tool.call.id"] in attribute


def test_a_model_without_a_client_of_ours_is_recorded_by_its_events(stage: Stage) -> None:
    base: Any = import_module("crewai.llms.base_llm")
    kinds: Any = import_module("crewai.events.types.llm_events").LLMCallType

    class Own(base.BaseLLM):  # type: ignore[misc, name-defined, unused-ignore]
        def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> str:
            with base.llm_call_context():
                self._emit_call_started_event(messages=messages, tools=tools)
                self._emit_call_completed_event(
                    response="mine",
                    call_type=kinds.LLM_CALL,
                    usage={"prompt_tokens": 3, "completion_tokens": 2, "cached_prompt_tokens": 1},
                    finish_reason="stop",
                    response_id="r1",
                )
                return "mine"

    crew(task(agent(Own(model="own-1", provider="mistral")))).kickoff()
    assert tree(stage.recorded.spans())[-1].endswith("researcher > chat own-1")
    [call] = attributes(stage, "chat own-1")
    assert call["gen_ai.provider.name"] == "mistral_ai"
    assert call["gen_ai.response.id"] == "r1"
    assert call["gen_ai.usage.input_tokens"] == 3
    assert call["gen_ai.usage.cache_read.input_tokens"] == 1
    assert "mine" in call["gen_ai.output.messages"]


def test_a_model_called_by_hand_is_one_span(stage: Stage, model: LoopbackModel) -> None:
    model.push("hello")
    assert llm(model).call("hi") == "hello"
    assert tree(stage.recorded.spans()) == ["chat gpt-5"]


def test_an_agent_that_is_tried_again_runs_again(stage: Stage, model: LoopbackModel) -> None:
    model.push(Turn(status=400, error="holiday"), "fine")
    crew(task(agent(llm(model), max_retry_limit=2))).kickoff()
    runs = attributes(stage, "invoke_agent researcher")
    assert [run["agentool.status"] for run in runs] == ["error", "success"]
    assert tree(stage.recorded.spans())[1:] == [
        f"invoke_workflow crew > invoke_agent researcher{below}"
        for below in ("", " > chat gpt-5", "", " > chat gpt-5")
    ]


def test_an_agent_alone_is_a_run(stage: Stage, model: LoopbackModel) -> None:
    model.push("hello")
    agent(llm(model)).kickoff("hi")
    assert tree(stage.recorded.spans()) == [
        "invoke_agent researcher",
        "invoke_agent researcher > chat gpt-5",
    ]
    assert "hi" in attributes(stage, "invoke_agent researcher")[0]["gen_ai.input.messages"]


def test_user_flows_are_workflows_and_agent_loops_are_not(
    stage: Stage, model: LoopbackModel
) -> None:
    flows: Any = import_module("crewai.flow.flow")
    model.push("one", "two")

    def first(self: Any) -> str:
        return str(crew(task(agent(llm(model))), name="inner").kickoff().raw)

    async def second(self: Any, facts: str) -> str:
        return str((await agent(llm(model), "writer").kickoff_async(facts)).raw)

    started = flows.start()(first)
    parts = {"first": started, "second": flows.listen(started)(second), "__module__": __name__}
    assert type(flows.Flow)("Desk", (flows.Flow,), parts)().kickoff() == "two"
    assert tree(stage.recorded.spans()) == [
        "invoke_workflow Desk",
        "invoke_workflow Desk > invoke_workflow inner",
        "invoke_workflow Desk > invoke_workflow inner > invoke_agent researcher",
        "invoke_workflow Desk > invoke_workflow inner > invoke_agent researcher > chat gpt-5",
        "invoke_workflow Desk > invoke_agent writer",
        "invoke_workflow Desk > invoke_agent writer > chat gpt-5",
    ]


def test_an_unknown_coworker_is_an_ordinary_call(stage: Stage, model: LoopbackModel) -> None:
    requests = {"question": "q", "context": "c", "coworker": "nobody"}
    model.push(Turn(tool_calls=(ToolCall("ask_question_to_coworker", requests),)), "done")
    first = agent(llm(model), allow_delegation=True)
    second = agent(llm(model), "writer")
    crewai().Crew(agents=[first, second], tasks=[task(first)]).kickoff()
    [call] = attributes(stage, "execute_tool ask_question_to_coworker")
    assert "agentool.transfer.target" not in call
    assert "not found" in call["gen_ai.tool.call.result"]


def test_memory_is_read_and_written(stage: Stage, model: LoopbackModel, tmp_path: Any) -> None:
    memory: Any = import_module("crewai.memory.unified_memory").Memory(
        llm=llm(model),
        embedder=lambda texts: [[0.1] * 8 for _ in texts],
        storage=str(tmp_path / "memory"),
    )
    memory.remember("The sky is blue.", scope="/x", categories=["a"], importance=0.4)
    memory.recall("sky", depth="shallow")
    assert tree(stage.recorded.spans()) == ["upsert_memory", "search_memory"]
    [read] = attributes(stage, "search_memory")
    assert read["gen_ai.memory.record.count"] == 1
    assert "The sky is blue." in read["gen_ai.memory.records"]


def test_detached_in_the_middle_nothing_stays_open(stage: Stage, model: LoopbackModel) -> None:
    model.push("facts")
    running = crew(task(agent(llm(model))))

    def detach(inputs: Any) -> Any:
        stage.set(attached=False)
        return inputs

    running.before_kickoff_callbacks.append(detach)
    assert running.kickoff({"about": "it"}).raw == "facts"
    assert stage.recorded.spans() == []
