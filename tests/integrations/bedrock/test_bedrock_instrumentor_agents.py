"""Agents and knowledge bases that run at Bedrock."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from agentool_otel.testing._wire_bedrock import binary_event
from tests.integrations.bedrock.conftest import new_client

pytest.importorskip("boto3")

RUNTIME = "bedrock-agent-runtime"
AT = datetime(2026, 11, 1, 12, 0, 0, tzinfo=timezone.utc)
AGENT = {"agentId": "AGENT", "agentAliasId": "ALIAS", "sessionId": "s1"}


def trace(**part: Any) -> dict[str, Any]:
    at = AT.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"trace": {"trace": {"orchestrationTrace": part}, "eventTime": at}}


def chunk(text: str) -> dict[str, Any]:
    return {"chunk": {"bytes": b64encode(text.encode()).decode()}}


ACTION = {
    "actionGroupName": "search",
    "function": "search_web",
    "parameters": [
        {"name": "query", "type": "string", "value": "x"},
        {"name": "limit", "type": "integer", "value": "3"},
    ],
}
STEPS = [
    trace(modelInvocationInput={"traceId": "t1", "text": "the prompt", "foundationModel": "m"}),
    trace(
        modelInvocationOutput={
            "traceId": "t1",
            "metadata": {"usage": {"inputTokens": 40, "outputTokens": 12}},
            "rawResponse": {"content": "call search"},
        }
    ),
    trace(
        invocationInput={
            "traceId": "t2",
            "invocationType": "ACTION_GROUP",
            "actionGroupInvocationInput": ACTION,
        }
    ),
    trace(observation={"traceId": "t2", "actionGroupInvocationOutput": {"text": "found"}}),
    trace(
        invocationInput={
            "traceId": "t3",
            "knowledgeBaseLookupInput": {"text": "otel", "knowledgeBaseId": "KNOWLEDGE1"},
        }
    ),
    trace(
        observation={
            "traceId": "t3",
            "knowledgeBaseLookupOutput": {"retrievedReferences": [{"content": {"text": "doc"}}]},
        }
    ),
    chunk("A standard."),
]


@pytest.fixture
def invoke(instrumented: None) -> Iterator[Callable[..., Any]]:
    """Invokes an agent that answers with some events, and returns the stream of them."""
    served: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", "application/vnd.amazon.eventstream")
            self.send_header("x-amz-bedrock-agent-session-id", "s1")
            self.end_headers()
            self.wfile.write(b"".join(served))

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    client = new_client(RUNTIME, f"http://127.0.0.1:{server.server_address[1]}")

    def invoke(events: list[dict[str, Any]]) -> Any:
        served[:] = [binary_event(name, item) for event in events for name, item in event.items()]
        asked = {"inputText": "What is OpenTelemetry?", "enableTrace": True}
        return client.invoke_agent(**AGENT, **asked)["completion"]

    yield invoke
    client.close()
    server.shutdown()
    server.server_close()


def by_name(spans: Any, name: str) -> Any:
    [span] = [span for span in spans.finished() if span.name == name]
    return span


def test_a_run_has_its_session_and_its_steps(invoke: Callable[..., Any], spans: Any) -> None:
    assert len(list(invoke(STEPS))) == len(STEPS)
    run = by_name(spans, "invoke_agent")
    expected = {
        "gen_ai.agent.id": "AGENT",
        "gen_ai.conversation.id": "s1",
        "gen_ai.provider.name": "aws.bedrock",
    }
    assert {name: run.attributes.get(name) for name in expected} == expected
    [question] = json.loads(run.attributes["gen_ai.input.messages"])
    [answer] = json.loads(run.attributes["gen_ai.output.messages"])
    assert question["parts"][0]["content"] == "What is OpenTelemetry?"
    assert answer["parts"][0]["content"] == "A standard."
    steps = [span for span in spans.finished() if span is not run]
    assert {span.parent.span_id for span in steps} == {run.context.span_id}
    assert {span.start_time // 10**9 for span in steps} == {int(AT.timestamp())}


def test_its_model_calls_actions_and_look_ups_are_steps(
    invoke: Callable[..., Any], spans: Any
) -> None:
    list(invoke(STEPS))
    call = by_name(spans, "chat m").attributes
    assert call["gen_ai.usage.input_tokens"] == 40
    assert "the prompt" in call["gen_ai.input.messages"]
    tool = by_name(spans, "execute_tool search_web").attributes
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"query": "x", "limit": "3"}
    assert "found" in tool["gen_ai.tool.call.result"]
    found = by_name(spans, "retrieval KNOWLEDGE1").attributes
    assert found["gen_ai.retrieval.query.text"] == "otel"
    assert "doc" in found["gen_ai.retrieval.documents"]


def test_an_action_that_is_left_to_the_program_is_a_call_without_a_result(
    invoke: Callable[..., Any], spans: Any
) -> None:
    control = {
        "invocationId": "i1",
        "invocationInputs": [{"functionInvocationInput": {"actionGroup": "a", **ACTION}}],
    }
    list(invoke([{"returnControl": control}]))
    run = by_name(spans, "invoke_agent").attributes
    assert run["gen_ai.response.finish_reasons"] == ["tool_call"]
    [answer] = json.loads(run["gen_ai.output.messages"])
    assert answer["parts"][0]["name"] == "search_web"


def test_a_stream_that_is_closed_ends_its_steps(invoke: Callable[..., Any], spans: Any) -> None:
    stream = invoke(STEPS)
    next(iter(stream))
    stream.close()
    assert by_name(spans, "invoke_agent").attributes["agentool.interrupted"] == "closed"
    assert by_name(spans, "chat m").attributes["agentool.interrupted"] == "closed"


def test_what_a_knowledge_base_finds_is_a_retrieval(
    answering: Callable[..., Any], spans: Any
) -> None:
    found = {"content": {"text": "doc"}, "score": 0.5, "location": {"type": "S3"}}
    client = answering(RUNTIME, "retrieve", {"retrievalResults": [found]})
    client.retrieve(
        knowledgeBaseId="KNOWLEDGE1",
        retrievalQuery={"text": "otel"},
        retrievalConfiguration={"vectorSearchConfiguration": {"numberOfResults": 3}},
    )
    attributes = spans.attributes()
    assert spans.only().name == "retrieval KNOWLEDGE1"
    assert attributes["gen_ai.retrieval.query.text"] == "otel"
    assert attributes["gen_ai.retrieval.top_k"] == 3
    [document] = spans.json("gen_ai.retrieval.documents")
    assert (document["content"], document["score"]) == ("doc", 0.5)


def test_an_answer_from_a_knowledge_base_is_a_model_call(
    answering: Callable[..., Any], spans: Any
) -> None:
    answer = {"sessionId": "s1", "output": {"text": "A standard."}}
    client = answering(RUNTIME, "retrieve_and_generate", answer)
    source = {
        "knowledgeBaseId": "KNOWLEDGE1",
        "modelArn": "arn:aws:bedrock:us-east-1::foundation-model/m",
    }
    config = {"type": "KNOWLEDGE_BASE", "knowledgeBaseConfiguration": source}
    client.retrieve_and_generate(
        input={"text": "What is it?"}, retrieveAndGenerateConfiguration=config
    )
    assert spans.only().name == "chat m"
    [message] = spans.json("gen_ai.output.messages")
    assert message["parts"][0]["content"] == "A standard."
