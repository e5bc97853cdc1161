"""LangGraph's `interrupt`: question and answer are output and input of the runs of one session."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from tests.integrations.langchain.langchain_agents import WAYS, instrumented, run_it
from tests.records import records

__all__ = ["instrumented"]

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

# langgraph 1.0 warns of its own names while it is imported
pytestmark = pytest.mark.filterwarnings("ignore:.*has been moved to `langchain.agents`")

QUESTION = {"question": "Refund 40 EUR?", "options": ["yes", "no"]}
ASKED = {"request": "refund order 7"}
CONFIG = {"configurable": {"thread_id": "t-1"}}


class State(TypedDict, total=False):
    request: str
    answers: Annotated[list[Any], operator.add]


def skip_where_langgraph_cannot_interrupt(way: str) -> None:
    """Skip asynchronous graphs on Python 3.10, whose tasks cannot be given a context."""
    if sys.version_info < (3, 11) and way.startswith("a"):
        pytest.skip("LangGraph does not support interrupt() in asynchronous graphs on Python 3.10")


def asking(question: Any) -> Callable[[State], State]:
    from langgraph.types import interrupt

    return lambda _: {"answers": [interrupt(question)]}


def graph(name: str = "refunds", saved: bool = True, **nodes: Any) -> Any:
    """A graph whose nodes run side by side."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, StateGraph

    built: Any = StateGraph(State)
    for node, body in nodes.items():
        built.add_node(node, body)
        built.add_edge(START, node)
    return built.compile(name=name, checkpointer=InMemorySaver() if saved else None)


def resumed(answer: Any) -> Any:
    from langgraph.types import Command

    return Command(resume=answer)


def traces(spans: Any) -> list[ReasoningTrace]:
    assert {span.status.status_code.name for span in spans.finished()} == {"UNSET"}
    return [item.trace for item in rebuild(records(spans.finished()))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("answer", ["yes, go ahead", {"approved": True}, False])
def test_question_and_answer_are_output_and_input_of_one_session(
    spans: Any, way: str, answer: Any
) -> None:
    skip_where_langgraph_cannot_interrupt(way)
    refunds = graph(approve=asking(QUESTION))
    run_it(refunds, way, ASKED, CONFIG)
    run_it(refunds, way, resumed(answer), CONFIG)
    request, answered = traces(spans)
    assert (request.input, request.output, request.status) == (ASKED, QUESTION, "in_progress")
    assert (answered.input, answered.status) == (answer, "success")
    assert answered.output == {**ASKED, "answers": [answer]}
    assert request.session_id == answered.session_id == "t-1"


def test_a_question_in_words_is_a_message(spans: Any) -> None:
    graph(approve=asking("May I?")).invoke(ASKED, CONFIG)
    [text] = spans.json("gen_ai.output.messages")
    assert text == {
        "role": "assistant",
        "parts": [{"type": "text", "content": "May I?"}],
        "finish_reason": "stop",
    }


def test_several_questions_stay_with_their_ids_as_their_answers_do(spans: Any) -> None:
    refunds = graph(approve=asking("Refund?"), check=asking("Is it hers?"))
    interrupt = refunds.invoke(ASKED, CONFIG)["__interrupt__"]
    answers = {item.id: f"yes to {item.value}" for item in interrupt}
    refunds.invoke(resumed(answers), CONFIG)
    first, second = traces(spans)
    assert first.output == {item.id: item.value for item in interrupt}
    assert second.input == answers


def test_one_answer_needs_no_id(spans: Any) -> None:
    refunds = graph(approve=asking(QUESTION))
    [request] = refunds.invoke(ASKED, CONFIG)["__interrupt__"]
    refunds.invoke(resumed({request.id: "yes"}), CONFIG)
    assert traces(spans)[1].input == "yes"


def test_the_question_of_a_subgraph_is_that_of_the_graphs_around_it(spans: Any) -> None:
    inner = graph("inner", saved=False, approve=asking(QUESTION))
    outer = graph("outer", child=inner)
    outer.invoke(ASKED, CONFIG)
    outer.invoke(resumed("yes"), CONFIG)
    first, children, second, _ = traces(spans)
    assert (first.agent_id, children.agent_id) == ("outer", "inner")
    assert first.output == children.output == QUESTION
    assert first.status == children.status == "in_progress"
    assert second.input == "yes"


def test_the_question_of_a_tool_is_that_of_its_run(spans: Any) -> None:
    from langchain_core.tools import tool
    from langgraph.types import interrupt

    @tool
    def refund(amount: int) -> str:
        """Refund."""
        return f"{amount} {interrupt(QUESTION)}"

    def work(_: State) -> State:
        return {"answers": [refund.invoke({"amount": 40})]}

    refunds = graph(work=work)
    refunds.invoke(ASKED, CONFIG)
    refunds.invoke(resumed("yes"), CONFIG)
    first, second = traces(spans)
    assert (first.output, first.status) == (QUESTION, "in_progress")
    assert [step.type for step in first.steps] == ["tool_call"]
    assert second.input == "yes"
    assert [step.type for step in second.steps] == ["tool_call", "tool_result"]


def test_the_question_of_a_function_that_is_an_entrypoint(spans: Any) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.func import entrypoint, task
    from langgraph.types import interrupt

    @task
    def ask(amount: int) -> Any:
        return interrupt(f"Refund {amount}?")

    @entrypoint(checkpointer=InMemorySaver())
    def refunds(amount: int) -> Any:
        return ask(amount).result()

    run_it(refunds, "invoke", 40, CONFIG)
    run_it(refunds, "invoke", resumed("yes"), CONFIG)
    first, second = traces(spans)
    assert (first.input, first.output, first.status) == (40, "Refund 40?", "in_progress")
    assert (second.input, second.output) == ("yes", "yes")


def test_without_content_only_the_interruption_is_recorded(spans: Any) -> None:
    spans.without_content()
    refunds = graph(approve=asking("Refund 40 EUR?"))
    refunds.invoke(ASKED, CONFIG)
    refunds.invoke(resumed("yes, go ahead"), CONFIG)
    first, second = traces(spans)
    assert (first.status, second.status) == ("in_progress", "success")
    assert first.metadata == {"interrupted": "GraphInterrupt"}
    assert first.session_id == second.session_id == "t-1"
    written = "".join(span.to_json() for span in spans.finished())
    assert "Refund" not in written
    assert "go ahead" not in written


def test_a_command_without_an_answer_is_its_state_update(spans: Any) -> None:
    from langgraph.types import Command

    built = graph(work=lambda _: {"answers": ["done"]})
    built.invoke(Command(update=ASKED, goto="work"), CONFIG)
    assert traces(spans)[0].input == ASKED
