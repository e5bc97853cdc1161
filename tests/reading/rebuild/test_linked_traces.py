"""Runs that are spread over several OTel traces: AutoGen's teams, tied by links, and CrewAI's
crews.
"""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text
from agentool_otel.model.spans import SpanLink, SpanRecord
from agentool_otel.reading.rebuild.correlation.linked_traces import Parts, part_of
from agentool_otel.reading.rebuild.tree import Node
from tests.records import shape
from tests.strategies import exact

TEAM = "11111111-2222-4333-8444-555555555555"
RUNTIME = "autogen SingleThreadedAgentRuntime"
MANAGER = "RoundRobinGroupChatManager"


class Runtime:
    """Emits messages as AutoGen's runtime does, each in a trace of its own, or all in one."""

    def __init__(self, team: str = TEAM, *, one_trace: bool = False):
        self.spans: list[SpanRecord] = []
        self.team = team
        self._clock = 1_700_000_000_000_000_000
        self._one = self.span("main", scope="app") if one_trace else None

    def span(self, name: str, up: SpanRecord | None = None, **fields: Any) -> SpanRecord:
        self._clock += 1_000_000
        number = f"{len(self.spans) + 1:x}{self.team[:4]}"
        span_record = SpanRecord(
            up.trace_id if up else number.zfill(32),
            number.zfill(16),
            up.span_id if up else None,
            name,
            start_ns=self._clock,
            end_ns=self._clock + 1_000_000,
            scope=RUNTIME,
        )
        for field, value in fields.items():
            setattr(span_record, field, value)
        self.spans.append(span_record)
        return span_record

    def message(
        self, sender: SpanRecord | None, kind: str, to: str, output: Any, *agents: str
    ) -> SpanRecord:
        """Send a message to a topic or the manager, and let it arrive at agents; return the last
        arrival."""
        place = f"{to}_{self.team}.({self.team})-{'A' if agents == (to,) else 'T'}"
        sent = self.span(
            f"autogen create {place}",
            sender or self._one,
            attributes={"messaging.operation": "create", "messaging.destination": place,
                        "messaging.message.type": kind},
        )  # fmt: skip
        links = [SpanLink(sent.trace_id, sent.span_id)]
        passed = self.span(
            f"autogen publish {place}",
            self._one,
            links=links,
            attributes={"messaging.operation": "publish", "messaging.destination": place},
        )
        last = passed
        for agent in agents:
            place = f"{agent}_{self.team}.({self.team})-A"
            passed_on = {
                "messaging.operation": "process",
                "messaging.destination": place,
                "recipient_agent_class": agent if agent == MANAGER else "ChatAgentContainer",
                "message": json.dumps(output),
            }
            last = self.span(f"autogen process {place}", passed, links=links, attributes=passed_on)
        return last

    def turn(self, asks: SpanRecord, name: str, *events: dict[str, Any]) -> SpanRecord:
        """Let an agent take its turn, and answer to all; return the arrival at the manager."""
        request = self.message(asks, "GroupChatRequestPublish", name, {}, name)
        run = self.span(
            f"invoke_agent {name}",
            request,
            scope="autogen-core",
            attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name,
                        "gen_ai.agent.id": f"{name}_{self.team}/{self.team}"},
        )  # fmt: skip
        *before, last = ({"source": name, **event} for event in events)
        answer = {"response": {"chat_message": last, "inner_messages": before}, "name": name}
        everybody = ("writer", "critic", MANAGER)
        return self.message(run, "GroupChatAgentResponse", "group_topic", answer, *everybody)

    def start(self, task: str) -> SpanRecord:
        values = {"messages": [{"source": "user", "content": task, "type": "TextMessage"}]}
        start = self.message(None, "GroupChatStart", MANAGER, values, MANAGER)
        self.message(start, "GroupChatStart", "group_topic", values, "writer", "critic")
        return start


def says(content: str, **fields: Any) -> dict[str, Any]:
    return {"type": "TextMessage", "content": content, **fields}


def usage(number: int, count: int) -> dict[str, Any]:
    return {"models_usage": {"prompt_tokens": number, "completion_tokens": count}}


WANTS = {
    "type": "ToolCallRequestEvent",
    "content": [{"id": "c1", "name": "look", "arguments": "{}"}],
}
GOT = {"type": "ToolCallExecutionEvent", "content": [{"call_id": "c1", "content": "a word"}]}


def a_run(runtime: Runtime, task: str = "Write.") -> None:
    start = runtime.start(task)
    wrote = runtime.turn(start, "writer", WANTS | usage(9, 1), GOT, says("A poem.", **usage(20, 3)))
    runtime.turn(wrote, "critic", says("Good.", **usage(30, 2)))


def traces(spans: list[SpanRecord]) -> list[dict[str, Any]]:
    return [result.trace.to_dict() for result in rebuild(spans)]


def test_a_team_is_a_run_that_holds_those_of_its_agents() -> None:
    runtime = Runtime()
    a_run(runtime)
    team, writer, critic = traces(runtime.spans)
    assert (team["agent_id"], team["input"], team["output"]) == (MANAGER, "Write.", "Good.")
    assert shape(team) == ["handoff critic"]
    assert team["metadata"]["sub_traces"] == [writer["trace_id"], critic["trace_id"]]
    assert writer["metadata"] == critic["metadata"] == {"parent_trace_id": team["trace_id"]}
    assert {item["session_id"] for item in (team, writer, critic)} == {TEAM}
    assert team["finished_at"] >= critic["finished_at"]


def test_an_agents_output_is_what_the_others_receive() -> None:
    runtime = Runtime()
    a_run(runtime)
    _, writer, _ = traces(runtime.spans)
    assert (writer["agent_id"], writer["input"], writer["output"]) == (
        "writer",
        "Write.",
        "A poem.",
    )
    assert shape(writer) == ["call c1 look {}", "result c1 a word"]
    assert writer["metrics"]["total_tokens"] == 33


def test_tokens_missing_from_a_streamed_answer_are_unknown() -> None:
    runtime = Runtime()
    runtime.turn(runtime.start("Write."), "writer", says("A poem.", **usage(0, 0)))
    (writer,) = (trace for trace in traces(runtime.spans) if trace["agent_id"] == "writer")
    assert "total_tokens" not in writer["metrics"]


def test_model_calls_of_the_manager_belong_to_the_team() -> None:
    """They select agents and instruct them; the answer to the user is that of an agent."""
    runtime = Runtime()
    start = runtime.start("Write.")
    texts = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5}
    texts["gen_ai.output.messages"] = json.dumps([message("assistant", [text("critic")])])
    runtime.span("chat", start, scope="some.tracer", attributes=texts)
    wrote = runtime.turn(start, "writer", says("A poem."))
    runtime.span("chat", wrote, scope="some.tracer", attributes=texts)
    runtime.turn(wrote, "critic", says("Good."))
    team, _, _ = traces(runtime.spans)
    assert (team["metrics"]["total_tokens"], team["output"]) == (10, "Good.")


def test_an_agents_input_is_what_it_received_since_its_last_turn() -> None:
    runtime = Runtime()
    start = runtime.start("Write.")
    wrote = runtime.turn(start, "writer", says("A poem."))
    judged = runtime.turn(wrote, "critic", says("Longer."))
    runtime.turn(judged, "writer", says("A long poem."))
    _, _, _, again = traces(runtime.spans)
    assert (again["input"], again["output"]) == ("Longer.", "A long poem.")


def test_a_team_below_a_span_of_the_program_is_the_same() -> None:
    results = []
    for one_trace in (False, True):
        runtime = Runtime(one_trace=one_trace)
        a_run(runtime)
        results.append(
            [(trace["agent_id"], trace["input"], shape(trace)) for trace in traces(runtime.spans)]
        )
    assert results[0] == results[1]


def test_a_team_that_is_run_again_has_two_runs() -> None:
    for one_trace in (False, True):
        runtime = Runtime(one_trace=one_trace)
        a_run(runtime)
        a_run(runtime, "Once more.")
        teams = [trace for trace in traces(runtime.spans) if trace["agent_id"] == MANAGER]
        assert [team["input"] for team in teams] == ["Write.", "Once more."]
        assert not any("parent_trace_id" in team["metadata"] for team in teams)


def test_a_team_fails_with_the_agent_that_reports_a_failure() -> None:
    runtime = Runtime()
    start = runtime.start("Write.")
    error = {"error": {"error_type": "BadRequestError", "error_message": "no"}}
    runtime.message(start, "GroupChatError", "group_topic", error, MANAGER)
    [team] = traces(runtime.spans)
    assert team["status"] == "error"
    assert "output" not in team


def test_without_the_teams_start_each_agent_is_a_run() -> None:
    runtime = Runtime()
    a_run(runtime)
    first = runtime.spans[1].trace_id  # what the manager is told with
    result = traces([span for span in runtime.spans if span.trace_id != first])
    assert [item["agent_id"] for item in result] == ["writer", "critic"]
    assert all("metadata" not in item for item in result)


def test_before_0_6_2_an_agent_has_no_span_of_its_own() -> None:
    runtime = Runtime()
    start = runtime.start("Write.")
    request = runtime.message(start, "GroupChatRequestPublish", "writer", {}, "writer")
    answer = {"agent_response": {"chat_message": {"source": "writer", **usage(3, 4)}}}
    runtime.message(request, "GroupChatAgentResponse", "group_topic", answer, "critic", MANAGER)
    request = runtime.message(start, "GroupChatRequestPublish", "critic", {}, "critic")
    team, writer, critic = traces(runtime.spans)
    assert (writer["agent_id"], writer["metrics"]["total_tokens"]) == ("writer", 7)
    assert team["metadata"]["sub_traces"] == [writer["trace_id"], critic["trace_id"]]


def test_before_0_5_only_the_receiver_of_a_message_is_known() -> None:
    runtime = Runtime()
    a_run(runtime)
    for span in runtime.spans:
        span.attributes = {k: v for k, v in span.attributes.items() if k.startswith("messaging.")}
    assert [trace["agent_id"] for trace in traces(runtime.spans)] == [MANAGER, "writer", "critic"]


def test_spans_of_one_id_in_several_traces_are_not_mixed() -> None:
    runtime = Runtime()
    a_run(runtime)
    _, *later = (span for span in runtime.spans if span.name.startswith("invoke_agent"))
    for span in later:
        span.span_id = "f" * 16
    second = msgspec.structs.replace(later[0], trace_id=runtime.spans[0].trace_id)
    names = [trace["agent_id"] for trace in traces([*runtime.spans, second])]
    assert sorted(names) == sorted([MANAGER, "writer", "critic", "critic"])


class Crew:
    """Emits a crew as CrewAI's telemetry does, where it shares what its crews do."""

    def __init__(self, crew_id: str = "c1"):
        self.spans: list[SpanRecord] = []
        self.clock = 1_700_000_000_000_000_000
        self.crew_id = crew_id

    def span(self, name: str, ms: int, up: SpanRecord | None = None, **output: Any) -> SpanRecord:
        number = f"{len(self.spans) + 1:x}"
        span_record = SpanRecord(
            up.trace_id if up else number.zfill(32),
            number.zfill(16),
            up.span_id if up else None,
            name,
            start_ns=self.clock,
            end_ns=self.clock + ms * 1_000_000,
            attributes={"crew_id": self.crew_id, **output},
            scope="crewai.telemetry",
        )
        self.spans.append(span_record)
        return span_record

    def kickoff(self, city: str, up: SpanRecord | None = None) -> None:
        messages = {"crew_key": "k", "crew_inputs": city, "crew_output": "Sunny."}
        self.span("Crew Execution", 90, up, **messages)
        for agent in ("weather", "writer"):
            self.clock += 10_000_000
            values = {"agent_role": agent, "formatted_description": f"Look at {city}."}
            self.span("Task Execution", 9, up, **values, task_output="Sunny.")
        self.clock += 100_000_000


def test_a_task_is_part_of_the_crew_that_it_lies_within() -> None:
    crew = Crew()
    crew.kickoff("Paris")
    crew.kickoff("Oslo")
    result = traces(crew.spans)
    assert [item["agent_id"] for item in result] == ["k", "weather", "writer"] * 2
    for run, *tasks in (result[:3], result[3:]):
        assert shape(run) == ["handoff writer"]
        assert [task["metadata"]["parent_trace_id"] for task in tasks] == [run["trace_id"]] * 2


def test_a_crew_that_runs_repeatedly_is_never_in_memory_as_a_whole() -> None:
    crew = Crew()
    parts = Parts()
    for n in range(3):
        crew.kickoff(f"city {n}")
    for span in reversed(crew.spans):
        part = part_of([span], [Node(span)])
        assert part is not None
        parts.add(part)
    assert [len(spans) for spans in parts.runs()] == [3, 3, 3]
    parts.close()


def test_a_task_within_two_crews_of_one_id_belongs_to_neither() -> None:
    crew = Crew()
    crew.kickoff("Paris")
    first, *_ = crew.spans
    crew.spans.append(msgspec.structs.replace(first, trace_id="f" * 32, span_id="f" * 16))
    assert all("metadata" not in trace for trace in traces(crew.spans))


def test_a_crew_that_another_tracer_records_too_is_one_run() -> None:
    for key, kind in (("crew_id", "openinference.span.kind"), ("crewai.crew.id", "x.y")):
        crew = Crew()
        span = crew.span("kickoff", 95)
        span.scope = "some.tracer"
        span.attributes = {key: "c1", kind: "CHAIN", "gen_ai.operation.name": "invoke_workflow"}
        crew.kickoff("Paris", span)
        [run] = traces(crew.spans)
        assert run["steps"] == []


@settings(max_examples=30, deadline=None)
@given(chance=st.randoms(use_true_random=False))
def test_neither_order_nor_copies_change_anything(chance: random.Random) -> None:
    spans: list[SpanRecord] = []
    for n in range(2):
        runtime = Runtime(f"{n}{TEAM[1:]}", one_trace=chance.random() < 0.3)
        a_run(runtime)
        a_run(runtime, "Once more.")
        spans += runtime.spans
    crew = Crew()
    crew.kickoff("Paris")
    crew.kickoff("Oslo")
    spans += crew.spans
    copies = [msgspec.structs.replace(span) for span in [*spans, *chance.choices(spans, k=5)]]
    chance.shuffle(copies)
    assert exact(traces(copies)) == exact(traces(spans))
