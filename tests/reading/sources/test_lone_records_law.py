"""The law of log records: one whose span is not in the input stands for itself.

Events of agents name the span that was open. Where spans went elsewhere, the events alone make the
run: with the ids of spans they give what they give without.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

from tests.laws import many
from tests.programs import rebuilt, words
from tests.reading.sources.encoders.otlp import with_base64_ids
from tests.reading.sources.encoders.values import pairs

START = 1_790_000_000_000_000_000
Event = tuple[str, dict[str, Any]]
claude_code = st.one_of(
    words.map(lambda text: ("user_prompt", {"prompt": text})),
    st.tuples(st.integers(1, 99), st.integers(1, 99)).map(
        lambda n: ("api_request", {"model": "m", "input_tokens": n[0], "output_tokens": n[1]})
    ),
    st.tuples(words, words).map(
        lambda t: ("tool_result", {"tool_name": t[0], "tool_use_id": t[1], "success": "true"})
    ),
    words.map(lambda text: ("assistant_response", {"response": text})),
    words.map(lambda text: ("assistant_response", {"response": text, "agent_id": "sub1"})),
)
codex = st.one_of(
    words.map(lambda text: ("codex.user_prompt", {"prompt": text})),
    st.tuples(words, words, words).map(
        lambda t: (
            "codex.tool_result",
            {"tool_name": t[0], "call_id": t[1], "output": t[2], "success": "true"},
        )
    ),
    words.map(lambda text: ("codex.agent_response", {"response": text})),
)
AGENTS = {
    "Claude Code": ("com.anthropic.claude_code.events", "session.id", claude_code),
    "Codex": ("codex_otel.log_only", "conversation.id", codex),
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("binary", [False, True], ids=["JSON", "protobuf"])
@settings(max_examples=many(50))
@given(data=st.data(), session=words)
def test_records_without_their_spans_make_the_same_run(
    agent: str, binary: bool, data: st.DataObject, session: str
) -> None:
    scope, name, events = AGENTS[agent]
    drawn = data.draw(st.lists(events, min_size=1, max_size=5))
    records = [
        {
            "timeUnixNano": str(START + n * 10**9),
            "attributes": pairs({"event.name": kind, name: session, **attributes}),
        }
        for n, (kind, attributes) in enumerate(drawn)
    ]
    ids = {"traceId": "a1" * 16, "spanId": "b2" * 8}
    with_ids = [{**record, **ids} for record in records]
    alone, named = (rebuilt(logs(scope, group, binary)) for group in (records, with_ids))
    assert [content(document) for document in named] == [content(document) for document in alone]


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=many(50))
@given(data=st.data(), session=words)
def test_the_output_is_the_last_answer_of_the_agent(
    agent: str, data: st.DataObject, session: str
) -> None:
    scope, name, events = AGENTS[agent]
    prompt = {"Claude Code": "user_prompt", "Codex": "codex.user_prompt"}[agent]
    drawn = [(prompt, {"prompt": "q"}), *data.draw(st.lists(events, min_size=1, max_size=5))]
    drawn = [event for n, event in enumerate(drawn) if n == 0 or event[0] != prompt]
    records = [
        {
            "timeUnixNano": str(START + n * 10**9),
            "traceId": "a1" * 16,
            "spanId": "b2" * 8,
            "eventName": "event otel/src/events.rs:17",
            "attributes": pairs({"event.name": kind, name: session, **attributes}),
        }
        for n, (kind, attributes) in enumerate(drawn)
    ]
    answers = [
        attributes["response"]
        for _, attributes in drawn
        if "response" in attributes and "agent_id" not in attributes
    ]
    runs = rebuilt(logs(scope, records, binary=False))
    (document,) = (run for run in runs if "parent_trace_id" not in run.get("metadata", {}))
    assert document["input"] == "q"
    if answers:
        assert document["output"] == answers[-1]
    elif not any("response" in attributes for _, attributes in drawn):  # else a sub-agent's counts
        assert "output" not in document


def content(document: Any) -> Any:
    """Return a document without ids, which are made of the session where there are no others."""
    content = {name: value for name, value in document.items() if name != "trace_id"}
    names = ("sub_traces", "parent_trace_id")
    metadata = {name: v for name, v in content.pop("metadata", {}).items() if name not in names}
    return {**content, "metadata": metadata}


def logs(scope: str, records: list[dict[str, Any]], binary: bool) -> bytes:
    scoped = {"scope": {"name": scope}, "logRecords": records}
    document = {"resourceLogs": [{"scopeLogs": [scoped]}]}
    if not binary:
        return json.dumps(document).encode()
    message = LogsData()
    json_format.ParseDict(with_base64_ids(document), message)
    encoded: bytes = message.SerializeToString()
    return encoded
