"""Laws of the emitter, for any objects of Agent Tool in any order."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.policy import Policy
from agentool_otel.ground.json_codec import canonical
from agentool_otel.integrations.agent_tool.documents import vocabulary as words
from agentool_otel.integrations.agent_tool.documents.objects import OBJECTS
from agentool_otel.integrations.agent_tool.emitter import AgentToolEmitter
from agentool_otel.integrations.agent_tool.events.from_spans import objects_in_spans
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.tracing.spans.settings import settings
from tests.seed_systems.agent_tool_documents import EXAMPLES, generated
from tests.seed_systems.agent_tool_spans import at
from tests.strategies import values

Object = dict[str, Any]
CANARY = "canary-9f3b27"


@pytest.fixture(scope="module", autouse=True)
def exporter() -> Iterator[Any]:
    """Yield the exporter of the spans in this module."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider)
    try:
        yield exporter
    finally:
        settings.reset()


def spans_of(exporter: Any, messages: list[Any], content: bool = True) -> list[Any]:
    """Return the spans of an emitter that records some objects."""
    exporter.clear()
    settings.configure(policy=Policy(capture=content))
    emitter = AgentToolEmitter()
    for item in messages:
        emitter.record(item)
    emitter.flush()
    return list(exporter.get_finished_spans())


def bytes_of(spans: list[Any]) -> bytes:
    return encode_spans(spans) + b"".join(map(encode_span, spans))


def calls_of(spans: list[Any]) -> list[Any]:
    results = [span for span in spans if span.name.startswith("execute_tool")]
    return [item.attributes["agenttool.invocation.id"] for item in results]


# Names of payloads, among them those that objects, events and references have themselves
payload_names = st.sampled_from(
    [
        *("city", "name", "status", "state", "content", "message", "result", "source", "reason"),
        *("data", "error", "type", "properties", "from", "to", "summary", "tool", "hook"),
    ]
)


def payloads(leaf: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of payloads that hold a leaf somewhere, also inside JSON text."""
    return st.recursive(
        st.just(leaf) | st.just([leaf]),
        lambda inner: (
            st.dictionaries(payload_names, inner, min_size=1, max_size=3)
            | st.lists(inner, min_size=1, max_size=2)
            | inner.map(json.dumps)
        ),
        max_leaves=4,
    )


@st.composite
def runs(draw: st.DrawFn, call: str = "inv_1", leaf: Any = "words") -> list[Object]:
    """Draw the objects of one call, from its request to its result."""
    payload = payloads(leaf)
    about = {"invocation_id": call, "tool_id": "tool_search"}

    def event(name: str, seconds: float) -> Object:
        return {
            "event_id": f"{call} {name}",
            "event_type": name,
            "source": "runtime",
            **about,
            "time": at(seconds),
            "data": {draw(payload_names): draw(payload)},
        }

    state = draw(st.sampled_from(words.STATES))
    first = {**about, "status": "planned", "created_at": at(0), "model_input": draw(payload)}
    last = {**about, "status": state, "ended_at": at(8), "call_input": draw(payload)}
    between = st.sampled_from(
        [
            event("tool.invocation.selected", 1),
            event(draw(st.sampled_from(words.EVENT_TYPES)), 2),
            event("tool.invocation.dreamt", 3),
            {**about, "decision_id": "d", "behavior": "ask", "updated_input": draw(payload)},
            {**about, "hook_id": "h", "hook_event": "pre_tool_use", "outputs": [draw(payload)]},
            {**about, "progress_id": "p", "sequence": draw(st.integers()), "message": str(leaf)},
            {**about, "mutation_id": "m", "source_type": "hook", "reason": str(leaf)},
            {**about, "decision_id": "k", "strategy": draw(st.sampled_from(["inline", "future"]))},
        ]
    )
    result = {
        "result_id": "r",
        "invocation_id": call,
        "structured_content": draw(payload),
        "status": draw(st.sampled_from(words.RESULT_STATUSES)),
        "summary": f"so: {leaf}",
        **draw(st.sampled_from([{}, {"redaction_state": "none"}])),
        "error": {"message": f"not for {leaf}", "error_code": 7},
    }
    return [first, *draw(st.lists(between, max_size=4)), last, result]


@st.composite
def disturbed(draw: st.DrawFn, messages: list[Object]) -> list[Object]:
    """Draw a sequence as it may arrive: shuffled, doubled, cut short, added to."""
    messages = draw(st.permutations(messages)) if draw(st.booleans()) else messages
    messages = [obj for obj in messages for _ in range(draw(st.integers(1, 2)))]
    messages = messages[: draw(st.integers(1, len(messages)))]
    extra = draw(st.dictionaries(st.sampled_from(["of_tomorrow", "x"]), values, max_size=1))
    return [{**extra, **obj} for obj in messages]


@given(told=runs("one").flatmap(disturbed), others=runs("two").flatmap(disturbed))
def test_every_call_is_exactly_one_span(
    told: list[Object], others: list[Object], exporter: Any
) -> None:
    spans = spans_of(exporter, [*told, *others])
    assert sorted(calls_of(spans)) == ["one", "two"]
    assert all(span.end_time >= span.start_time for span in spans)
    assert bytes_of(spans)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.builds(object),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip
members = sorted({name for example in EXAMPLES.values() for name in example})
about = st.sampled_from([{}, {"invocation_id": "over"}, {"invocation_id": "open"}])
odd = st.builds(
    lambda value, id_: {**value, **id_},
    st.dictionaries(st.sampled_from(members), anything, max_size=5),
    about,
)
OVER = {"invocation_id": "over", "tool_id": "t", "status": "failed"}
OPEN = {"invocation_id": "open", "tool_id": "t", "status": "running"}
RESULT = {"invocation_id": "over", "result_id": "r", "redaction_state": "none"}


@given(told=st.lists(anything | odd | st.one_of([generated(obj) for obj in OBJECTS]), max_size=4))
def test_no_object_raises(told: list[Any], exporter: Any) -> None:
    spans = spans_of(exporter, [OVER, RESULT, OPEN, *told])
    assert len({span.context.span_id for span in spans}) == len(spans)
    assert {"over", "open"} <= set(calls_of(spans))
    assert bytes_of(spans)


SENSITIVE = {
    **EXAMPLES["ToolDeclaration"],
    "input_contract": {"sensitive_fields": ["pin", "$.user['iban']", "name", "status", "content"]},
}
fields = st.sampled_from(["pin", "iban", "name", "status", "content"])
secrets = st.sampled_from([CANARY, f'a "{CANARY}"\n é', f"{CANARY}'s"])


@st.composite
def sensitive_runs(draw: st.DrawFn) -> list[Object]:
    """Draw a call with a secret in a sensitive field, which is repeated anywhere else."""
    secret = draw(secrets)
    message = draw(runs(leaf=secret))
    shown = {**message[0], "permission_input": {draw(fields): secret}}
    declared = draw(
        st.sampled_from([SENSITIVE, {**EXAMPLES["Event"], "data": {"tool": SENSITIVE}}])
    )
    return [*draw(st.permutations([declared, shown, *message[:-1]])), message[-1]]


@given(told=sensitive_runs())
def test_the_value_of_a_sensitive_field_is_in_no_byte(told: list[Object], exporter: Any) -> None:
    assert CANARY.encode() not in bytes_of(spans_of(exporter, told))


@given(told=runs(leaf=CANARY), state=st.sampled_from(["redacted", "partial", "unknown"]))
def test_a_redacted_payload_is_in_no_byte_of_its_result(
    told: list[Object], state: str, exporter: Any
) -> None:
    requests = [
        {**item, "model_input": 1, "call_input": 1, "updated_input": 1} for item in told[:-1]
    ]
    result = {**told[-1], "redaction_state": state}
    assert CANARY.encode() not in bytes_of(spans_of(exporter, [*requests, result]))


@given(told=runs(leaf=CANARY).flatmap(disturbed))
def test_without_permission_no_content_is_in_any_byte(told: list[Object], exporter: Any) -> None:
    assert CANARY.encode() not in bytes_of(spans_of(exporter, told, content=False))


@given(told=runs())
def test_the_objects_of_a_call_come_back(told: list[Object], exporter: Any) -> None:
    told = [obj for obj in told if obj.get("event_type") != "tool.result.redacted"]
    told[-1] |= {"redaction_state": "none", "status": "succeeded"}
    document = io.BufferedReader(io.BytesIO(encode_spans(spans_of(exporter, told))))
    objects = list(objects_in_spans(SpanFiles([document], "memory").spans()))
    invocation = {**told[0], **told[-2]}
    about_it = sorted(map(canonical, told[1:-2]))
    assert objects[0] == invocation
    assert sorted(map(canonical, objects[1:-1])) == about_it
    assert objects[-1] == told[-1]
