"""A program that puts a canary and secrets into every place; run by `test_canary`.

Its texts are content, except in marked places: names, ids and error texts are not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import AsyncGenerator, Generator
from typing import Any

from opentelemetry import _logs, metrics, trace

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

CANARY = os.environ["CANARY"]
SECRET = os.environ["SECRET"]
BARE = SECRET[3:]
"""Of no shape that is known: only the name before it gives it away."""
WRITTEN = f"""OPENAI_API_KEY={BARE}
password: {BARE}
{{'api_key': '{BARE}'}} or {{"client_secret" : "{BARE}"}}
GET https://x.test/?access_token={BARE}&page=1
Authorization: Token {BARE}
Cookie: sid={BARE}; theme=dark"""
SAID: dict[str, Any] = {
    "written": WRITTEN,
    "inner": json.dumps({"result": json.dumps({"password": BARE, "text": WRITTEN})}),
    "text": f"say {CANARY}",
    "api_key": SECRET[3:],
    "nested": [{"password": SECRET[3:], "header": f"Bearer {SECRET}"}],
    CANARY: f"use {SECRET}",
    "dsn": f"postgres://me:{SECRET}@db/x",
    "json": f'{{"api_key": "{SECRET[3:]}", "n": "{CANARY}"}}',
    "object": object(),
}

logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
for noisy in ("httpx", "httpx2", "openai", "httpcore", "httpcore2", "asyncio", "langsmith"):
    logging.getLogger(noisy).disabled = True  # their debug output is the program's own
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(noisy):
            logging.getLogger(name).disabled = True
logging.getLogger("openai._base_client").disabled = True
logging.getLogger("httpcore").setLevel(logging.ERROR)
logging.getLogger("openai").setLevel(logging.ERROR)


@agentool_otel.tool
def give(value: Any, **more: Any) -> Any:
    return value


@agentool_otel.tool
async def give_later(value: Any) -> Any:
    return value


@agentool_otel.tool
def give_each(value: Any) -> Generator[Any, None, None]:
    yield value


@agentool_otel.tool
async def give_each_later(value: Any) -> AsyncGenerator[Any, None]:
    yield value


@agentool_otel.tool
def fail(value: Any) -> None:
    raise ValueError(f"login with password={SECRET} failed, token {SECRET}\n{WRITTEN}")


@agentool_otel.step("reasoning")
def think() -> str:
    return f"thinking of {CANARY} and {SECRET}\n{WRITTEN}"


@agentool_otel.step("memory_read")
def recall(query: str) -> Any:
    return SAID


@agentool_otel.step("memory_write")
def remember(key: str, content: Any) -> None:
    return None


@agentool_otel.step("handoff")
def hand_over(to_agent: str, message: str) -> None:
    return None


@agentool_otel.agent
def clerk(question: Any) -> Any:
    give(SAID, more=SAID)
    asyncio.run(give_later(SAID))
    list(give_each(SAID))

    async def each() -> None:
        async for _ in give_each_later(SAID):
            pass

    asyncio.run(each())
    with contextlib.suppress(ValueError):
        fail(SAID)
    think()
    recall(f"{CANARY} {SECRET}")
    remember("key", SAID)
    hand_over("writer", f"{CANARY} {SECRET}")
    return SAID


def by_hand() -> None:
    with agentool_otel.run("by-hand", input=SAID, session_id="s-1") as run:
        run.reasoning(f"{CANARY} {SECRET}")
        call = run.tool_call("search", SAID)
        run.tool_result(call, SAID)
        run.tool_result(run.tool_call("search", SAID), error=f"{CANARY} password={SECRET}")
        run.handoff("writer", f"{CANARY} {SECRET}")
        run.memory_read(f"{CANARY} {SECRET}", SAID)
        run.memory_write(SAID, key="k")
        run.metadata["api_key"] = SECRET
        run.output = SAID
    with agentool_otel.run("text", input=f"{CANARY} {SECRET}", session_id=SECRET) as run:
        run.output = f"{CANARY} {SECRET}"


def of_another_library() -> None:
    tracer = trace.get_tracer("openinference.instrumentation.other")
    error = ValueError(f"no access with {SECRET}")
    with tracer.start_as_current_span("llm", links=_links()) as span:
        span.set_attribute("input.value", f"{CANARY} {SECRET}")
        span.set_attribute("output.value", json.dumps({"said": CANARY, "text": WRITTEN}, indent=2))
        span.set_attribute("note", WRITTEN)
        span.set_attribute("llm.input_messages.0.message.content", f"{CANARY} {SECRET}")
        span.set_attribute("gen_ai.prompt.0.content", f"{CANARY} {SECRET}")
        span.set_attribute("gen_ai.input.messages", f'[{{"content": "{CANARY} {SECRET}"}}]')
        span.set_attribute("traceloop.entity.output", f'{{"a": "{CANARY}", "b": "{SECRET}"}}')
        span.set_attribute("http.request.header.authorization", (f"Bearer {SECRET}",))
        span.set_attribute("url.full", f"https://x.test/?api_key={SECRET}")
        span.set_attribute("bytes", SECRET.encode())
        span.add_event("gen_ai.content.prompt", {"gen_ai.prompt": f"{CANARY} {SECRET}"})
        span.add_event("gen_ai.user.message", {"content": f"{CANARY} {SECRET}"})
        span.add_event("log", {"message": f"password={SECRET}"})
        span.record_exception(error)
        span.set_status(trace.StatusCode.ERROR, f"failed: {error}")


def _links() -> list[trace.Link]:
    context = trace.SpanContext(1, 1, is_remote=True)
    return [trace.Link(context, {"api_key": SECRET, "note": f"token {SECRET}"})]


def logged_by_another_library() -> None:
    logger = _logs.get_logger("opentelemetry.instrumentation.other")
    texts = {"content": f"{CANARY} {SECRET}", "api_key": SECRET}
    details: dict[str, Any] = {
        "gen_ai.input.messages": [{"role": "user", "parts": [texts]}],
        "gen_ai.output.messages": f'[{{"content": "{CANARY} {SECRET}"}}]',
        "note": SECRET,
    }
    with trace.get_tracer("other").start_as_current_span("chat"):
        for name in ("gen_ai.user.message", "gen_ai.choice", "gen_ai.content.prompt"):
            logger.emit(_logs.LogRecord(body=texts, event_name=name))
            logger.emit(_logs.LogRecord(body=f"{CANARY} {SECRET}", attributes={"event.name": name}))
        name = "gen_ai.client.inference.operation.details"
        logger.emit(_logs.LogRecord(attributes=details, event_name=name))
        logger.emit(_logs.LogRecord(body={"message": texts, "n": SECRET}, event_name="other.event"))
        logger.emit(_logs.LogRecord(body=f"login with password={SECRET}", attributes=details))
        logger.emit(_logs.LogRecord(body=WRITTEN))
        logger.emit(_logs.LogRecord(body=[WRITTEN, SECRET, SECRET.encode(), {"token": SECRET}]))
        logger.emit(exception=ValueError(f"no access with {SECRET}"))
    _logs.get_logger("scope", attributes={"note": SECRET}).emit(_logs.LogRecord(body=1))


def measured() -> None:
    """A metric whose view keeps attributes off its points: they stand on the exemplars."""
    config = getattr(metrics.get_meter_provider(), "_sdk_config", None)
    if config is not None:  # metrics are collected, by a provider that takes views only when made
        from opentelemetry.sdk.metrics.view import View

        config.views = (View(instrument_name="other.duration", attribute_keys={"note"}),)
    meter = metrics.get_meter("other")
    duration = meter.create_histogram("other.duration")
    with trace.get_tracer("other").start_as_current_span("measured"):
        duration.record(1.0, {"api_key": SECRET, "note": f"Bearer {SECRET}", "input.value": CANARY})


@agentool_otel.tool
def adds_to_our_span() -> None:
    span = trace.get_current_span()
    span.set_attribute("input.value", f"{CANARY} {SECRET}")
    span.set_attribute("gen_ai.input.messages", f"{CANARY} {SECRET}")
    span.set_attribute("note", SECRET)
    span.add_event("noted", {"secret": SECRET, "input.value": CANARY})


def of_models() -> None:
    import openai

    with LoopbackModel() as server:
        server.push(
            Turn(
                reasoning=f"thinking {CANARY} {SECRET}",
                tool_calls=(ToolCall("find", {"q": CANARY, "api_key": SECRET}),),
            ),
            f"saying {CANARY} {SECRET}",
            f"streaming {CANARY} {SECRET}\n{WRITTEN}",
            f"responding {CANARY} {SECRET}",
            Turn(status=400, error=f"bad key {SECRET}"),
        )
        messages: list[Any] = [{"role": "user", "content": f"{CANARY} {SECRET}\n{WRITTEN}"}]
        with openai.OpenAI(base_url=server.base_url, api_key=SECRET, max_retries=0) as client:
            for stream in (False, False, True):
                reply: Any = client.chat.completions.create(
                    model="gpt-5", messages=messages, stream=stream
                )
                if stream:
                    list(reply)
            client.responses.create(model="gpt-5", input=f"{CANARY} {SECRET}")
            with contextlib.suppress(openai.BadRequestError):
                client.chat.completions.create(model="gpt-5", messages=messages)


def of_langchain() -> None:
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def find(q: str, api_key: str) -> str:
        """Find something."""
        return f"found {CANARY} {SECRET}\n{WRITTEN}"

    with LoopbackModel() as server:
        server.push(
            Turn(tool_calls=(ToolCall("find", {"q": CANARY, "api_key": SECRET}),)),
            f"saying {CANARY} {SECRET}",
        )
        url: Any = server.base_url
        key: Any = SECRET
        model = ChatOpenAI(model="gpt-5", base_url=url, api_key=key)
        agent: Any = create_agent(model, [find], system_prompt=f"{CANARY} {SECRET}", name="finder")
        agent.invoke({"messages": [{"role": "user", "content": f"{CANARY} {SECRET}"}]})


def main() -> None:
    agentool_otel.instrument(sys.argv[1] if len(sys.argv) > 1 else None)
    clerk(SAID)
    by_hand()
    of_another_library()
    logged_by_another_library()
    measured()
    adds_to_our_span()
    of_models()
    of_langchain()
    agentool_otel.flush()
    print(agentool_otel.status()["masking"])


if __name__ == "__main__":
    main()
