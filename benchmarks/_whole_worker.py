"""One way to trace, in a process of its own: the cost of its calls until a receiver or file has
them.

python benchmarks/_whole_worker.py VARIANT

The first line of stdin is a JSON object with `url` and `texts`. Each later line asks for a number
of calls, and the answer is the CPU time of the whole process per call in microseconds:

    {"case": "tool", "payload": "rows", "count": 1500}   ->   {"us": 41.2}
    {"case": "model", "payload": "rows", "count": 100}   ->   {"error": "openai is not installed"}

Needs nothing of this package but what a variant imports: it runs beside older versions of ours,
and in the environments of other packages.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

_TOOLS_PER_RUN = 10
_QUEUE = 200_000
"""Large enough that no span is dropped: a dropped span costs less than a sent one."""

_TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.type": "function",
    "gen_ai.agent.name": "bench",
    "gen_ai.conversation.id": "conversation-000000001",
    "gen_ai.tool.call.id": "call_0000000000000001",
}
_MODEL = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5",
    "server.address": "api.openai.com",
}


class Tracing(NamedTuple):
    """Functions of a variant: decorators of an agent and a tool, a client's method, and the
    flush.
    """

    agent: Decorator
    tool: Decorator
    create: Decorator
    flush: Callable[[], object]


def _same(function: Function) -> Function:
    return function


def _processor(url: str) -> Any:
    export: Any = import_module("opentelemetry.sdk.trace.export")
    otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    exporter = otlp.OTLPSpanExporter(endpoint=f"{url}/v1/traces")
    return export.BatchSpanProcessor(exporter, max_queue_size=_QUEUE)


def _untraced(url: str) -> Tracing:
    return Tracing(_same, _same, _same, lambda: None)


def _sdk(url: str) -> Tracing:
    """Spans written by hand, sent by the official exporter: the reference."""
    dumps: Any = import_module("orjson").dumps
    sdk: Any = import_module("opentelemetry.sdk.trace")
    provider = sdk.TracerProvider()
    provider.add_span_processor(_processor(url))
    start = provider.get_tracer("bench").start_as_current_span

    def agent(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with start("invoke_agent bench", attributes={"gen_ai.operation.name": "invoke_agent"}):
                return function(*args, **kwargs)

        return call

    def tool(function: Function) -> Function:
        @functools.wraps(function)
        def call(**kwargs: Any) -> Any:
            with start("execute_tool search", attributes=_TOOL) as span:
                span.set_attribute("gen_ai.tool.call.arguments", dumps(kwargs).decode())
                result = function(**kwargs)
                span.set_attribute("gen_ai.tool.call.result", dumps(result).decode())
                return result

        return call

    def create(function: Function) -> Function:
        @functools.wraps(function)
        def call(**kwargs: Any) -> Any:
            with start("chat gpt-5", attributes=_MODEL) as span:
                span.set_attribute("gen_ai.input.messages", dumps(kwargs["messages"]).decode())
                response = function(**kwargs)
                choice = response.choices[0]
                answer = {"role": "assistant", "content": choice.message.content}
                span.set_attribute("gen_ai.output.messages", dumps([answer]).decode())
                span.set_attribute("gen_ai.response.finish_reasons", (choice.finish_reason,))
                span.set_attribute("gen_ai.usage.input_tokens", response.usage.prompt_tokens)
                span.set_attribute("gen_ai.usage.output_tokens", response.usage.completion_tokens)
                return response

        return call

    return Tracing(agent, tool, create, provider.force_flush)


def _ours(url: str, sent: bool) -> Tracing:
    package: Any = import_module("agentool_otel")
    package.instrument(**({"endpoint": url, "content": True} if sent else {}))
    tools = package.agent(name="bench"), package.tool(name="search")
    return Tracing(*tools, _same, lambda: package.flush(60))


def _traceloop(url: str) -> Tracing:
    os.environ.update(
        TRACELOOP_METRICS_ENABLED="false",
        TRACELOOP_TELEMETRY="false",
        TRACELOOP_TRACE_CONTENT="true",
    )
    sdk: Any = import_module("traceloop.sdk")
    decorators: Any = import_module("traceloop.sdk.decorators")
    instruments: Any = import_module("traceloop.sdk.instruments")
    processor = _processor(url)
    sdk.Traceloop.init(
        app_name="bench",
        processor=processor,
        telemetry_enabled=False,
        instruments={instruments.Instruments.OPENAI},
    )
    tools = decorators.agent(name="bench"), decorators.tool(name="search")
    return Tracing(*tools, _same, processor.force_flush)


def _openlit(url: str) -> Tracing:
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = url
    package: Any = import_module("openlit")
    trace: Any = import_module("opentelemetry.trace")
    package.init(application_name="bench", disable_metrics=True)
    return Tracing(package.trace, package.trace, _same, trace.get_tracer_provider().force_flush)


def _openinference(url: str) -> Tracing:
    package: Any = import_module("openinference.instrumentation")
    provider = package.TracerProvider()
    provider.add_span_processor(_processor(url))
    if _installed("openinference.instrumentation.openai"):
        client: Any = import_module("openinference.instrumentation.openai")
        client.OpenAIInstrumentor().instrument(tracer_provider=provider)
    tracer = provider.get_tracer("bench")
    return Tracing(tracer.agent, tracer.tool, _same, provider.force_flush)


def _logfire(url: str) -> Tracing:
    package: Any = import_module("logfire")
    package.configure(
        send_to_logfire=False,
        console=False,
        metrics=False,
        service_name="bench",
        inspect_arguments=False,
        additional_span_processors=[_processor(url)],
    )
    if _installed("openai"):
        package.instrument_openai()
    decorate = package.instrument(extract_args=True, record_return=True)
    return Tracing(decorate, decorate, _same, package.force_flush)


VARIANTS: dict[str, Callable[[str], Tracing]] = {
    "untraced": _untraced,
    "sdk": _sdk,
    "recorded": lambda url: _ours(url, sent=False),
    "sent": lambda url: _ours(url, sent=True),
    "traceloop": _traceloop,
    "openlit": _openlit,
    "openinference": _openinference,
    "logfire": _logfire,
}


def _installed(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True


class Pieces:
    """Pieces of a text, each from where the last one ended."""

    def __init__(self, text: str):
        self._text = text
        self._at = 0

    def next(self, length: int) -> str:
        if self._at + length > len(self._text):
            self._at = 0
        start, self._at = self._at, self._at + length
        return self._text[start : self._at]


class Bench:
    """The calls of one variant."""

    def __init__(self, texts: dict[str, Any]):
        self._texts = texts
        self._payload: dict[str, Any] = {}
        self._answers: dict[str, Any] = {}
        self._pieces_of: dict[str, Pieces] = {}

    def close_client(self) -> None:
        """Let openai's client return a constant, before anybody wraps it.

        Its own milliseconds would hide what tracing costs.
        """
        openai: Any = import_module("openai")
        completion: Any = import_module("openai.types.chat").ChatCompletion
        for name, text in self._texts.items():
            self._answers[name] = completion.model_validate(_response(text["answer"]))
        openai.OpenAI.request = lambda client, *args, **kwargs: self._payload["response"]

    def measure(self, tracing: Tracing, case: str, payload: str, count: int) -> float:
        """Return CPU microseconds per call of the whole process, final flush included."""
        self._payload = dict(self._texts[payload], response=self._answers.get(payload))
        self._pieces = self._pieces_of.setdefault(payload, Pieces(self._payload["text"]))
        run, calls = self._tool(tracing) if case == "tool" else self._model(tracing)
        start = time.process_time()
        for _ in range(max(1, count // calls)):
            run()
        tracing.flush()
        return (time.process_time() - start) / (max(1, count // calls) * calls) * 1e6

    def _tool(self, tracing: Tracing) -> tuple[Function, int]:
        rows, pieces = self._payload["result"], self._pieces

        def search(query: str, limit: int = 5) -> list[dict[str, Any]]:
            """Search the archive."""
            return [{**row, "snippet": pieces.next(len(row["snippet"]))} for row in rows]

        tool = tracing.tool(search)

        def run() -> str:
            for _ in range(_TOOLS_PER_RUN):
                tool(query="when is high water at the harbour", limit=5)
            return "done"

        return tracing.agent(run), _TOOLS_PER_RUN

    def _model(self, tracing: Tracing) -> tuple[Function, int]:
        client: Any = import_module("openai").OpenAI(api_key="none", max_retries=0)
        create = tracing.create(client.chat.completions.create)
        messages, pieces = self._payload["messages"], self._pieces

        def ask() -> Any:
            asked = [{**item, "content": pieces.next(len(item["content"]))} for item in messages]
            return create(model="gpt-5", messages=asked, temperature=0.1)

        return ask, 1


def _response(answer: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-0000000001",
        "object": "chat.completion",
        "created": 1_770_000_000,
        "model": "gpt-5-2026-01-01",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer},
            }
        ],
        "usage": {"prompt_tokens": 9000, "completion_tokens": 100, "total_tokens": 9100},
    }


def main(variant: str) -> None:
    # What others print on the way goes to stderr; only answers go to stdout.
    with os.fdopen(os.dup(1), "w", buffering=1) as out:
        os.dup2(2, 1)
        document = json.loads(sys.stdin.readline())
        os.environ["OTEL_SERVICE_NAME"] = "bench"
        with tempfile.TemporaryDirectory() as folder:
            os.environ["AGENTOOL_DIR"] = folder
            bench = Bench(document["texts"])
            if has_client := _installed("openai"):
                bench.close_client()
            tracing = VARIANTS[variant](document["url"])
            out.write(json.dumps({"ready": variant}) + "\n")
            for line in sys.stdin:
                request = json.loads(line)
                if request["case"] == "model" and not has_client:
                    out.write(json.dumps({"error": "openai is not installed"}) + "\n")
                else:
                    out.write(json.dumps({"us": bench.measure(tracing, **request)}) + "\n")
    sys.stderr.flush()
    os._exit(0)  # without the farewells of libraries that wait for a network


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its modules have names that others use
    main(sys.argv[1])
