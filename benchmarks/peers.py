"""Cost of a decorated tool call with other packages, where they are installed, each against the
same hand-written span in the same process.

Exporters drop, the network is closed: connections beyond this machine are refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from benchmarks._child import ChildError, in_child
from benchmarks._network import NOWHERE, close_network
from benchmarks._rounds import Compared, compared
from benchmarks._sizes import Size
from benchmarks._table import Row
from benchmarks._workload import (
    QUERY,
    ROWS,
    Decorator,
    Function,
    per_call,
    provider_of,
    reference,
    reference_agent,
    search,
)

__all__ = ["rows"]


class Decorators(NamedTuple):
    """Decorators of a peer for an agent and a tool, and its flush."""

    agent: Decorator
    tool: Decorator
    flush: Callable[[], object]


class Peer(NamedTuple):
    distribution: str
    how: str
    prepare: Callable[[Keep], Decorators]


def rows(size: Size) -> Iterator[Row]:
    for name, peer in PEERS.items():
        try:
            text = f"{peer.distribution} {version(peer.distribution)} {peer.how}"
        except PackageNotFoundError:
            yield Row(what=f"{peer.distribution} {peer.how}", note="not installed")
            continue
        try:
            cost, captured = in_child(measure, name, size.rounds, size.agent_runs, quiet=True)
        except ChildError as error:
            yield Row(what=text, note=f"failed: {error}")
            continue
        yield Row.of(text, "µs", Compared(*cost), note="" if captured else "content not captured")


def measure(name: str, rounds: int, runs: int) -> tuple[Compared, bool]:
    """Compare a peer's tool call with the hand-written one; return also whether its spans have
    content.
    """
    close_network()
    keep = Keep()
    peer = PEERS[name].prepare(keep)
    provider = provider_of(ALWAYS_ON)
    tracer = provider.get_tracer("ref")
    decorated, by_hand = peer.tool(search), reference(tracer, search)
    ref_agent = reference_agent(tracer)
    per_call(peer.agent, decorated, 1, peer.flush)
    captured = keep.holds(QUERY) and keep.holds(str(ROWS[0]["url"]))
    keep.text = None
    pairs: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        ours = per_call(peer.agent, decorated, runs, peer.flush)
        ours -= per_call(peer.agent, search, runs, peer.flush)
        call = per_call(ref_agent, by_hand, runs, provider.force_flush)
        call -= per_call(ref_agent, search, runs, provider.force_flush)
        if number:  # the first round only warms up
            pairs.append((ours, call))
    return compared(pairs), captured


class Keep(SpanExporter):
    """Drops spans after a look at them."""

    def __init__(self) -> None:
        self.text: list[str] | None = []
        """Text of the spans so far; None once it is no longer needed."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.text is not None:
            self.text += [str(dict(span.attributes or {})) for span in spans]
        return SpanExportResult.SUCCESS

    def holds(self, text: str) -> bool:
        return any(text in value for value in self.text or ())

    def shutdown(self) -> None:
        return None


def _provider(keep: Keep) -> TracerProvider:
    return provider_of(ALWAYS_ON, keep)


def _processor(keep: Keep) -> BatchSpanProcessor:
    return BatchSpanProcessor(keep, max_queue_size=65_536)


# ------------------------------------------------------------------------------------- the peers
# Imported by name: what is not installed has no types to check against.


def _agentool(keep: Keep) -> Decorators:
    from agentool_otel.content.policy import Policy
    from agentool_otel.tracing.capture import agent, tool
    from agentool_otel.tracing.spans.settings import settings

    provider = _provider(keep)
    settings.configure(provider=provider, policy=Policy(capture=True))
    return Decorators(agent, tool, provider.force_flush)


def _openinference(keep: Keep) -> Decorators:
    instrumentation: Any = import_module("openinference.instrumentation")
    provider = instrumentation.TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(_processor(keep))
    tracer = provider.get_tracer("bench")
    return Decorators(tracer.agent, tracer.tool, provider.force_flush)


def _util_genai(keep: Keep) -> Decorators:
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    module: Any = import_module("opentelemetry.util.genai.handler")
    provider = _provider(keep)
    handler = module.TelemetryHandler(tracer_provider=provider)
    tracer = provider.get_tracer("bench")

    def tool(fn: Function) -> Function:
        def call(**kwargs: Any) -> Any:
            with handler.tool("search", tool_type="function") as invocation:
                invocation.arguments = kwargs
                invocation.tool_result = result = fn(**kwargs)
                return result

        return call

    return Decorators(reference_agent(tracer), tool, provider.force_flush)


def _traceloop(keep: Keep) -> Decorators:
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    sdk: Any = import_module("traceloop.sdk")
    decorators: Any = import_module("traceloop.sdk.decorators")
    processor = _processor(keep)
    sdk.Traceloop.init(
        app_name="bench",
        processor=processor,
        telemetry_enabled=False,
        instruments=set(),
        api_key="none",
        api_endpoint=NOWHERE,
    )
    return Decorators(
        decorators.agent(name="bench"), decorators.tool(name="search"), processor.force_flush
    )


def _langfuse(keep: Keep) -> Decorators:
    langfuse: Any = import_module("langfuse")
    client = langfuse.Langfuse(
        public_key="pk", secret_key="sk", base_url=NOWHERE, span_exporter=keep
    )
    return Decorators(
        langfuse.observe(as_type="agent"), langfuse.observe(as_type="tool"), client.flush
    )


def _logfire(keep: Keep) -> Decorators:
    logfire: Any = import_module("logfire")
    logfire.configure(
        send_to_logfire=False,
        console=False,
        metrics=False,
        inspect_arguments=False,
        additional_span_processors=[_processor(keep)],
    )

    def tool(fn: Function) -> Function:
        decorated: Function = logfire.instrument(
            "execute_tool search", extract_args=True, record_return=True
        )(fn)
        return decorated

    return Decorators(logfire.instrument("invoke_agent bench"), tool, logfire.force_flush)


def _langsmith(keep: Keep) -> Decorators:
    os.environ["LANGSMITH_TRACING"] = "true"
    langsmith: Any = import_module("langsmith")
    requests: Any = import_module("requests")

    class Session(requests.Session):  # type: ignore[misc]
        """Takes every request and keeps the bodies that `kept` still wants to see."""

        def request(self, method: str, url: str, **options: Any) -> Any:
            if keep.text is not None:
                keep.text.append(_body(options.get("data")))
            response = requests.Response()
            response.status_code = 202
            response._content = b"{}"
            return response

    info = {"version": "1", "instance_flags": {"zstd_compression_enabled": True}}
    client = langsmith.Client(api_url=NOWHERE, api_key="none", session=Session(), info=info)
    return Decorators(
        langsmith.traceable(run_type="chain", client=client),
        langsmith.traceable(run_type="tool", client=client),
        client.flush,
    )


def _body(data: Any) -> str:
    """Return the text of a request's body, which may be packed."""
    raw: Any = data.read() if hasattr(data, "read") else data
    if not isinstance(raw, bytes):
        return str(raw)
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        zstandard: Any = import_module("zstandard")
        raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    return bytes(raw).decode(errors="replace")


def _agentops(keep: Keep) -> Decorators:
    exporters: Any = import_module("agentops.sdk.exporters")
    core: Any = import_module("agentops.sdk.core")
    decorators: Any = import_module("agentops.sdk.decorators")
    exporters.AuthenticatedOTLPExporter.export = lambda _, spans: keep.export(spans)
    # Without the client around it, which signs in first.
    core.tracer.initialize(exporter_endpoint=NOWHERE, metrics_endpoint=NOWHERE, max_queue_size=512)
    flush = core.tracer.provider.force_flush
    return Decorators(decorators.agent(name="bench"), decorators.tool(name="search"), flush)


def _openlit(keep: Keep) -> Decorators:
    openlit: Any = import_module("openlit")
    provider = _provider(keep)
    trace.set_tracer_provider(provider)  # it joins the one there is
    openlit.init(otlp_endpoint=NOWHERE, disable_metrics=True, disable_events=True)
    return Decorators(openlit.trace, openlit.trace, provider.force_flush)


def _mlflow(keep: Keep) -> Decorators:
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = NOWHERE
    mlflow: Any = import_module("mlflow")
    provider: Any = import_module("mlflow.tracing.provider")
    provider.get_otlp_exporter = lambda: keep

    def flush() -> None:
        provider.provider.get().force_flush()

    return Decorators(
        mlflow.trace(name="bench", span_type="AGENT"),
        mlflow.trace(name="search", span_type="TOOL"),
        flush,
    )


PEERS = {
    "agentool": Peer("agentool-otel", "@tool", _agentool),
    "util-genai": Peer("opentelemetry-util-genai", "handler.tool", _util_genai),
    "openinference": Peer("openinference-instrumentation", "@tracer.tool", _openinference),
    "traceloop": Peer("traceloop-sdk", "@tool", _traceloop),
    "langfuse": Peer("langfuse", "@observe(as_type='tool')", _langfuse),
    "logfire": Peer("logfire", "@instrument", _logfire),
    "langsmith": Peer("langsmith", "@traceable(run_type='tool')", _langsmith),
    "agentops": Peer("agentops", "@tool", _agentops),
    "openlit": Peer("openlit", "@trace", _openlit),
    "mlflow": Peer("mlflow", "@trace(span_type='TOOL')", _mlflow),
}
