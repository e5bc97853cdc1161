"""Every rule, with a span that breaks it beside one that keeps it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.pytest_plugin import AssertConformant
from agentool_otel.semconv.table import GENERATIONS, SHAPES
from agentool_otel.testing.conformance import assert_conformant, check, check_all

jsonschema: Any = pytest.importorskip("jsonschema")  # ships no types

CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5",
}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bot"}
CALL = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "search"}


def span(
    name: str,
    kind: str,
    *attributes: dict[str, Any],
    status: str = "UNSET",
    **events: dict[str, Any],
) -> SpanRecord:
    merged = {key: value for part in attributes for key, value in part.items()}
    return SpanRecord(
        trace_id="1" * 32,
        span_id="2" * 16,
        name=name,
        kind=kind,
        attributes=merged,
        events=[SpanEvent(name, None, event) for name, event in events.items()],
        status=status,
    )


def chat(more: dict[str, Any] | None = None, status: str = "UNSET") -> SpanRecord:
    return span("chat gpt-5", "CLIENT", CHAT, more or {}, status=status)


def tool(more: dict[str, Any] | None = None) -> SpanRecord:
    return span("execute_tool search", "INTERNAL", TOOL, more or {})


def broken(record: SpanRecord, content: bool = True) -> list[str]:
    return [str(violation) for violation in check(record, content=content)]


def rules(record: SpanRecord, content: bool = True) -> list[str]:
    return [violation.rule for violation in check(record, content=content)]


@pytest.mark.parametrize(
    "record",
    [
        span("chat gpt-5", "CLIENT", CHAT),
        span("chat gpt-5", "INTERNAL", CHAT),
        span("retrieval kb", "CLIENT", {"gen_ai.operation.name": "retrieval"},
             {"gen_ai.data_source.id": "kb"}),
        span("search_memory", "INTERNAL", {"gen_ai.operation.name": "search_memory"}),
        span("invoke_agent bot", "INTERNAL", AGENT),
        span("invoke_agent bot", "CLIENT", AGENT, {"gen_ai.provider.name": "openai"}),
        span("invoke_workflow", "INTERNAL", {"gen_ai.operation.name": "invoke_workflow"}),
        span("plan bot", "INTERNAL", {**AGENT, "gen_ai.operation.name": "plan"}),
        span("execute_tool search", "INTERNAL", TOOL),
        span("execute_tool search", "INTERNAL", TOOL, CALL, {"server.address": "localhost"}),
        span("tools/call search", "CLIENT", CALL, TOOL),
        span("tools/call search", "SERVER", CALL),
        span("resources/read file:///a", "CLIENT", {"mcp.method.name": "resources/read"},
             {"mcp.resource.uri": "file:///a"}),
        span("agentool.steps", "INTERNAL", {"agentool.trace.id": "t"}),
        span("uncaught exception", "INTERNAL", {"agentool.uncaught": True}),
        span("GET", "CLIENT", {"http.request.method": "GET"}),
        span("anything", "SERVER", {"gen_ai.operation.name": "my_own_operation"}),
    ],
    ids=lambda item: f"{item.name} {item.kind}",
)  # fmt: skip
def test_a_span_by_the_book_has_no_violation(record: SpanRecord) -> None:
    assert broken(record) == []


def test_the_name_is_operation_and_target() -> None:
    assert broken(span("ChatCompletion", "CLIENT", CHAT)) == [
        "ChatCompletion: name must be 'chat gpt-5' [name]"
    ]


def test_the_name_is_the_operation_alone_where_there_is_no_target() -> None:
    assert rules(span("invoke_agent", "INTERNAL", {"gen_ai.operation.name": "invoke_agent"})) == []
    assert rules(
        span("search_memory notes", "CLIENT", {"gen_ai.operation.name": "search_memory"})
    ) == ["name"]


def test_a_tool_span_may_append_the_skill_it_loads() -> None:
    loaded = span("execute_tool search maths", "INTERNAL", TOOL, {"gen_ai.skill.name": "maths"})
    assert rules(loaded) == []
    assert rules(span("execute_tool search maths", "INTERNAL", TOOL)) == ["name"]


def test_the_kind_is_that_of_the_operation() -> None:
    assert broken(span("execute_tool search", "CLIENT", TOOL)) == [
        "execute_tool search: kind must be INTERNAL, is CLIENT [kind]"
    ]


def test_an_agent_is_internal_or_client() -> None:
    assert broken(span("invoke_agent bot", "SERVER", AGENT)) == [
        "invoke_agent bot: kind must be CLIENT or INTERNAL, is SERVER [kind]"
    ]


def test_an_mcp_request_is_client_or_server() -> None:
    assert rules(span("tools/call search", "INTERNAL", CALL)) == ["kind"]


def test_a_local_agent_lacks_attributes_of_remote_ones() -> None:
    remote = {
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.id": "asst_1",
        "gen_ai.agent.version": "2",
        "gen_ai.usage.cache_read.input_tokens": 3,
        "server.address": "api.openai.com",
    }
    assert rules(span("invoke_agent bot", "CLIENT", AGENT, remote)) == []
    assert rules(span("invoke_agent bot", "INTERNAL", AGENT, remote)) == ["must-not"] * 5


def test_a_tool_has_no_provider() -> None:
    assert broken(tool({"gen_ai.provider.name": "openai"})) == [
        "execute_tool search: gen_ai.provider.name does not belong on gen_ai.execute_tool.internal "
        "[must-not]"
    ]


def test_required_attributes_are_present() -> None:
    bare = span("chat", "CLIENT", {"gen_ai.operation.name": "chat"})
    assert broken(bare) == ["chat: gen_ai.provider.name is missing [required]"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("gen_ai.response.id", "r1", 1),
        ("gen_ai.request.seed", 7, 7.0),
        ("gen_ai.request.max_tokens", 7, True),
        ("gen_ai.request.temperature", 1.0, 1),
        ("gen_ai.request.stream", True, "true"),
        ("gen_ai.output.type", "json", 1),
        ("gen_ai.response.finish_reasons", ["stop"], "stop"),
        ("gen_ai.request.stop_sequences", ["a"], ["a", 1]),
        ("agentool.cost.usd", 0.5, "0.5"),
    ],
)
def test_attributes_have_their_type(name: str, good: object, bad: object) -> None:
    assert rules(chat({name: good})) == []
    assert rules(chat({name: bad})) == ["type"]


def test_a_type_violation_names_the_expected_type() -> None:
    assert broken(chat({"gen_ai.request.top_k": "40"})) == [
        "chat gpt-5: gen_ai.request.top_k must be an integer, is string [type]"
    ]


def test_enums_of_the_conventions_are_open() -> None:
    assert rules(chat({"gen_ai.provider.name": "my_own", "gen_ai.output.type": "smell"})) == []


def test_closed_values_are_members() -> None:
    assert rules(tool({"agentool.tool.incomplete": "call_only"})) == []
    assert rules(tool({"agentool.tool.incomplete": "neither"})) == ["value"]
    assert rules(chat({"gen_ai.request.stream": False})) == ["value"]  # absent, not false


def test_an_mcp_request_is_an_operation_only_when_it_calls_a_tool() -> None:
    listing = {"mcp.method.name": "tools/list"}
    operation = {"gen_ai.operation.name": "execute_tool"}
    assert rules(span("tools/list", "CLIENT", listing)) == []
    assert rules(span("tools/list", "CLIENT", listing, operation)) == ["value"]


MESSAGE = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
SHAPED: list[tuple[str, Any, Any]] = [
    ("gen_ai.input.messages", [MESSAGE], MESSAGE),
    ("gen_ai.input.messages", [], [{"role": "user"}]),
    ("gen_ai.input.messages", [{**MESSAGE, "name": None}], [{**MESSAGE, "role": 1}]),
    ("gen_ai.output.messages", [{**MESSAGE, "finish_reason": "stop"}],
     [{**MESSAGE, "finish_reason": None}]),
    ("gen_ai.output.messages",
     [{"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": {}}]}],
     [{"role": "assistant", "parts": [{"type": "tool_call", "arguments": {}}]}]),
    ("gen_ai.output.messages",
     [{"role": "assistant", "parts": [{"type": "made_up", "x": 1}]}],
     [{"role": "assistant", "parts": [{"content": "no type"}]}]),
    ("gen_ai.input.messages",
     [{"role": "tool", "parts": [{"type": "tool_call_response", "response": None, "id": "1"}]}],
     [{"role": "tool", "parts": [{"type": "tool_call_response", "result": 1}]}]),
    ("gen_ai.system_instructions", [{"type": "text", "content": "be"}], [{"type": "text"}]),
    ("gen_ai.tool.definitions", [{"type": "function", "name": "f", "parameters": {}}],
     [{"type": "function", "function": {"name": "f"}}]),
    ("gen_ai.tool.call.arguments", {"q": 1}, [1]),
    ("gen_ai.tool.call.result", {"result": "ok"}, "ok"),
    ("gen_ai.tool.definitions", [{"type": "web_search", "name": "w"}], [{"type": "web_search"}]),
    ("gen_ai.tool.definitions", [], [{"name": "no type"}]),
    ("gen_ai.retrieval.documents", [{"id": "d", "score": 0.5}], [{"score": True}]),
    ("gen_ai.retrieval.documents", [{"content": "c", "score": None}], [{"id": None}]),
    ("gen_ai.memory.records", [{"content": 1, "metadata": {}}], [{"id": "no content"}]),
    ("gen_ai.memory.records", [{"content": None, "id": "k"}], [{"content": 1, "id": None}]),
]  # fmt: skip
SAID = {"role": "assistant", "parts": []}
BEFORE: list[tuple[str, str, Any, Any]] = [
    ("2026-08", "gen_ai.output.messages", [{**SAID, "finish_reason": "stop"}], [SAID]),
    ("1.41", "gen_ai.output.messages", [{**SAID, "finish_reason": "stop"}], [SAID]),
    ("1.41", "gen_ai.retrieval.documents", [{"id": "d", "score": 1}], [{"id": "d"}]),
    ("1.41", "gen_ai.retrieval.documents", [], [{"score": 1}]),
    ("1.41", "gen_ai.retrieval.documents", [], [{"id": "d", "score": None}]),
]


@pytest.mark.parametrize(("generation", "name", "good", "bad"), BEFORE)
def test_members_that_an_older_generation_requires_are_there(
    generation: str, name: str, good: Any, bad: Any
) -> None:
    def found(value: Any) -> list[str]:
        return [item.rule for item in check(chat({name: value}), generation=generation)]

    assert found(good) == []
    assert found(bad) == ["shape"]
    assert rules(chat({name: good})) == []
    assert not jsonschema.Draft202012Validator(GENERATIONS[generation].shapes[name]).is_valid(bad)


@pytest.mark.parametrize(("name", "good", "bad"), SHAPED)
def test_complex_attributes_have_their_shape_as_text_or_structured(
    name: str, good: Any, bad: Any
) -> None:
    assert rules(chat({name: good})) == rules(chat({name: json.dumps(good)})) == []
    assert set(rules(chat({name: json.dumps(bad)}))) == {"shape"}


@pytest.mark.parametrize(("name", "good", "bad"), SHAPED)
def test_the_shapes_mean_the_same_to_a_json_schema_validator(
    name: str, good: Any, bad: Any
) -> None:
    validator = jsonschema.Draft202012Validator(SHAPES[name])
    assert validator.is_valid(good)
    assert not validator.is_valid(bad)


def test_a_shape_violation_has_a_place_but_no_content() -> None:
    secret = [{"role": "user", "parts": [{"type": "text", "content": ["secret"]}]}]
    assert broken(chat({"gen_ai.input.messages": json.dumps(secret)})) == [
        "chat gpt-5: gen_ai.input.messages: expected string, got array - at $[0].parts[0].content "
        "[shape]"
    ]


def test_json_text_that_was_cut_is_not_a_message() -> None:
    cut = json.dumps([MESSAGE])[:-5]
    assert rules(chat({"gen_ai.input.messages": cut})) == ["shape"]


@pytest.mark.parametrize("name", ["gen_ai.cost", "mcp.tool.name", "agentool.steps.id"])
def test_names_in_reserved_namespaces_exist(name: str) -> None:
    assert broken(chat({name: 1})) == [f"chat gpt-5: {name} is not defined [unknown]"]


def test_names_completed_by_a_key_are_known() -> None:
    assert rules(chat({"gen_ai.prompt.variable.city": "Rome"})) == []
    assert rules(span("x", "INTERNAL", {"agentool.metrics.latency": 1})) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gen_ai.system", "gen_ai.provider.name"),
        ("gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"),
        ("gen_ai.completion", "gen_ai.output.messages"),
    ],
)
def test_deprecated_names_are_not_used(old: str, new: str) -> None:
    assert broken(chat({old: "x"})) == [f"chat gpt-5: {old} is called {new} today [deprecated]"]


def test_proposed_names_are_not_written() -> None:
    assert rules(tool({"gen_ai.transfer.target.name": "billing"})) == ["proposed"]
    assert rules(tool({"agentool.transfer.target": "billing"})) == []


def test_genai_attributes_need_an_operation_name() -> None:
    stray = span("llm", "CLIENT", {"gen_ai.request.model": "gpt-5"})
    assert broken(stray) == ["llm: gen_ai.request.model without gen_ai.operation.name [operation]"]


def test_status_ok_is_never_set() -> None:
    assert rules(chat(status="OK")) == ["status"]


def test_error_type_is_there_exactly_when_the_status_is_error() -> None:
    assert rules(chat({"error.type": "TimeoutError"}, status="ERROR")) == []
    assert rules(chat(status="ERROR")) == ["error-type"]
    assert rules(chat({"error.type": "TimeoutError"})) == ["error-type"]


def test_an_exception_is_recorded_once() -> None:
    failed = chat({"error.type": "ValueError"}, status="ERROR")
    event = SpanEvent("exception", None, {"exception.type": "ValueError"})
    failed.events = [event]
    assert rules(failed) == []
    failed.events = [event, event]
    assert rules(failed) == ["exception"]


def test_events_obey_the_same_rules_as_spans() -> None:
    run = span("invoke_agent bot", "INTERNAL", AGENT)
    run.events = [SpanEvent("agentool.step", None, {"agentool.step.index": 0})]
    assert rules(run) == []
    run.events = [SpanEvent("agentool.step", None, {"agentool.step.index": "0"})]
    assert broken(run) == [
        "invoke_agent bot: event agentool.step: agentool.step.index must be an integer, is string "
        "[type]"
    ]
    run.events = [SpanEvent("gen_ai.user.message")]
    assert rules(run) == ["unknown"]


@pytest.mark.parametrize(
    "name",
    [
        *("gen_ai.input.messages", "gen_ai.tool.call.result", "gen_ai.prompt.variable.city"),
        *("agentool.input", "agentool.output", "agentool.tool.error", "agentool.transfer.message"),
        *("agentool.memory.content", "agentool.memory.results"),
    ],
)
def test_without_content_no_content_attribute_is_allowed(name: str) -> None:
    value = "[]" if name.endswith("messages") else "{}"
    assert "content" not in rules(chat({name: value}))
    assert rules(chat({name: value}), content=False) == ["content"]


def test_without_content_events_have_none_either() -> None:
    run = span("invoke_agent bot", "INTERNAL", AGENT)
    run.events = [SpanEvent("agentool.step", None, {"agentool.step.content": "thinking"})]
    assert rules(run) == []
    assert broken(run, content=False) == [
        "invoke_agent bot: event agentool.step: agentool.step.content is content [content]"
    ]


def test_an_exception_may_be_recorded_as_a_log_record_as_well() -> None:
    failed = tool({"error.type": "ValueError"})
    texts = {"exception.type": "ValueError"}
    failed.status = "ERROR"
    failed.events = [
        SpanEvent("exception", None, texts),
        SpanEvent("exception", None, {**texts, "otel.scope.name": "lib"}),
    ]
    assert rules(failed) == []


def test_an_inference_event_has_its_operation_name() -> None:
    called = chat()
    name = "gen_ai.client.inference.operation.details"
    called.events = [SpanEvent(name, None, CHAT)]
    assert rules(called) == []
    called.events = [SpanEvent(name, None, {"gen_ai.request.model": "gpt-5"})]
    assert broken(called) == [
        f"chat gpt-5: event {name}: gen_ai.operation.name is missing [required]"
    ]


def test_content_on_an_event_is_content() -> None:
    called = chat()
    messages = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
    texts = {**CHAT, "gen_ai.input.messages": messages}
    called.events = [SpanEvent("gen_ai.client.inference.operation.details", None, texts)]
    assert rules(called) == []
    assert rules(called, content=False) == ["content"]


def test_metadata_and_exception_messages_are_not_content() -> None:
    failed = chat({"error.type": "E", "agentool.metadata": "{}"}, status="ERROR")
    failed.events = [SpanEvent("exception", None, {"exception.message": "no"})]
    assert rules(failed, content=False) == []


# ------------------------------------------------------------------------------- spans of the SDK


def sdk_span(attributes: dict[str, Any], error: bool = False) -> ReadableSpan:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("chat gpt-5", kind=SpanKind.CLIENT) as result:
        result.set_attributes(attributes)
        if error:
            result.set_status(StatusCode.ERROR)
    return exporter.get_finished_spans()[0]


def test_spans_of_the_sdk_are_checked_as_they_are() -> None:
    assert check(sdk_span({**CHAT, "gen_ai.response.finish_reasons": ["stop"]})) == []
    assert [item.rule for item in check(sdk_span(CHAT, error=True))] == ["error-type"]


def test_check_all_keeps_the_order_of_the_spans() -> None:
    spans = (chat(status="OK"), sdk_span({**CHAT, "gen_ai.nonsense": 1}))
    assert [item.rule for item in check_all(spans)] == ["status", "unknown"]


def test_a_failed_assertion_lists_every_violation() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_conformant([chat({"gen_ai.system": "openai"}, status="OK"), tool({"gen_ai.x": 1})])
    assert str(caught.value).splitlines() == [
        "3 violations of the GenAI conventions 2026-10:",
        "  chat gpt-5: status OK is for applications to set, leave it unset [status]",
        "  chat gpt-5: gen_ai.system is called gen_ai.provider.name today [deprecated]",
        "  execute_tool search: gen_ai.x is not defined [unknown]",
    ]


def test_the_fixture_is_the_assertion(assert_conformant: AssertConformant) -> None:
    assert_conformant([chat()])
    with pytest.raises(AssertionError, match="1 violation of"):
        assert_conformant([tool({"gen_ai.tool.call.result": "{}"})], content=False)


def test_neither_the_plugin_nor_the_check_loads_the_sdk() -> None:
    code = (
        "import sys, agentool_otel.pytest_plugin\n"
        "assert 'agentool_otel.testing.conformance' not in sys.modules\n"
        "import agentool_otel.testing.conformance\n"
        "assert not any(name.startswith('opentelemetry.sdk') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_mark_in_place_of_what_had_no_room_is_no_record() -> None:
    def shapes_broken_by(*records: Any) -> list[str]:
        texts = {"gen_ai.operation.name": "search_memory"}
        texts["gen_ai.memory.records"] = json.dumps(records)
        result = check(span("search_memory", "INTERNAL", texts))
        return [item.message for item in result if item.rule == "shape"]

    mark = {"$truncated": "bytes", "$length": 9}
    assert shapes_broken_by({"content": "a"}, mark) == []
    (message,) = shapes_broken_by({}, mark)
    assert "'content' is missing - at $[0]" in message
