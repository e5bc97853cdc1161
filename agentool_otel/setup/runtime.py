"""`instrument()`: decide where spans go, then attach to every framework that is installed."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from opentelemetry import trace

from agentool_otel.capture.context import inherited
from agentool_otel.capture.threads import carry_into_threads, stop_carrying
from agentool_otel.content import policy as content_rules
from agentool_otel.emit.exceptions import signals
from agentool_otel.emit.session import copies_wanted, session
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import registry
from agentool_otel.instrumentation.kit.instrumentor import AgentInstrumentor
from agentool_otel.setup import (
    configuration as setup_configuration,
)
from agentool_otel.setup import (
    content_policy,
    metrics,
    service,
)
from agentool_otel.setup import (
    logs as setup_logs,
)
from agentool_otel.setup import (
    spans as setup_spans,
)
from agentool_otel.setup.configuration import Configuration
from agentool_otel.setup.decision import Decision, decide
from agentool_otel.setup.provider_handover import give_way

if TYPE_CHECKING:
    from agentool_otel.export.masking.spans import Masking
    from agentool_otel.export.pipeline import Pipeline

__all__ = ["flush", "instrument", "instrument_for_run", "instrumentors", "status", "uninstrument"]

_log = logging.getLogger("agentool_otel")

_standing = Configuration()
_of_run = Configuration()
"""What `agentool-otel run` was told, which `uninstrument()` does not forget."""

_own: trace.TracerProvider | None = None
"""The tracer provider we have made, where none was set."""
_theirs: trace.TracerProvider | None = None
"""The application's, set before us or after."""
_service_name: str | None = None
"""What was named when our own provider got its name."""
_pipeline: Pipeline | None = None
_masking: Masking | None = None
_in_force: Decision | None = None
_told: set[str] = set()

_lock = threading.RLock()
"""Held while the configuration changes."""


def _renew_lock() -> None:
    """In a forked child: whoever held it has stayed in the parent."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def instrument(
    endpoint: str | None = None,
    service_name: str | None = None,
    content: bool | None = None,
    redact: content_rules.Redact | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    also: str | None = None,
) -> None:
    """Record every supported agent framework of this process, from here on.

    Without an endpoint, here or in `OTEL_EXPORTER_OTLP_*`, spans are recorded in `.agentool/`
    (`AGENTOOL_DIR`). A tracer provider that is configured already is joined, never replaced: spans
    go where it sends them, and to `endpoint` as well if one is given here. `AGENTOOL_SEMCONV`
    (`2026-08`, `1.41`, `1.36`) writes an older generation of the conventions, for dashboards that
    read its names. Runs join the trace of a `TRACEPARENT` in the environment.

    Calling it again changes what is named and nothing else: what is not named, or is None, stays as
    an earlier call or `agentool-otel run` has left it, and only for what nobody has named the
    environment is read. `uninstrument()` forgets what was named in code. A call that raises changes
    nothing.

    A span is on disk when its end returns, and one that is open when the process dies is closed as
    incomplete by the next process that records into the same folder, or by `agentool-otel recover`.
    `AGENTOOL_JOURNAL=off` saves that work: then spans are written in batches, up to half a second
    later, or wait in memory for the endpoint.

    Log records that libraries emit through OpenTelemetry's logs API go where the spans go, masked
    and kept as they are; `OTEL_LOGS_EXPORTER` and `OTEL_EXPORTER_OTLP_LOGS_*` say otherwise. A
    logger provider of the application is left alone, and Python's `logging` is never touched.

    The convention's metrics are sent where spans are; `OTEL_METRICS_EXPORTER` and
    `OTEL_EXPORTER_OTLP_METRICS_*` say otherwise. Where an endpoint is named for traces alone (a URL
    that ends in `/v1/traces`, or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`), log records and metrics are
    sent only to endpoints named for them.

    Args:
        endpoint: OTLP endpoint, `http://host:4318` or `grpc://host:4317`.
        service_name: `service.name` of the spans from here on; `OTEL_SERVICE_NAME` by default. A
            tracer provider of the application keeps the name it has.
        content: capture messages, arguments and results. By default the environment decides
            (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`), and where that is unset content
            is captured into a local recording and not sent over the network. The same variable
            says where captured content goes: on spans, on events beside them, or on both.
        redact: called with attribute name and text of every captured content; returns the text to
            keep, or None to leave it out.
        include: names of the frameworks to attach, all by default; the others are detached.
        exclude: names of frameworks to leave alone; `threads` leaves threads and pools alone, which
            otherwise work in the context of whoever gives them the work.
        also: `openinference` writes its names beside ours on the spans that are sent to an
            endpoint, so that the pages of Phoenix, MLflow, Langfuse and others are filled; `none`
            writes none, and by default `AGENTOOL_ALSO` decides. They say only what the span says,
            are added when it is sent, and this package reads it as if they were not there.
            Recordings, and spans that the application's own provider sends, stay as they are.

    Raises:
        ConfigurationError: if the endpoint is not a URL, `redact` is no function of two arguments,
            or a name, a generation, a vocabulary or the value of a variable is not known.
        MissingDependencyError: if `AGENTOOL_OFFLOAD` names a URL and fsspec is not installed.
    """
    global _standing
    call = setup_configuration.named(
        endpoint, service_name, content, redact, include, exclude, also
    )
    with _lock:
        standing = _standing.changed_by(call)
        if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            _say("disabled", "OTEL_SDK_DISABLED=true: agentool_otel records nothing")
        else:
            known, theirs = instrumentors(), _application_provider()
            decided = _decide(standing, known, theirs)
            if session.fixed:
                session.enabled = True
            else:
                _put_into_force(decided, theirs, standing.service_name)
            _attach(decided, known)
        _standing = standing
        _tell_overruled(call)


def instrument_for_run(**options: Any) -> None:
    """Do what `instrument()` does, for `agentool-otel run` before the program begins.

    Args:
        options: what `run` was told, named as `instrument()` names it. It holds until the program
            names something else, and again after `uninstrument()`.

    Raises:
        ConfigurationError: as `instrument()` does; the options are remembered all the same.
    """
    global _of_run, _standing
    with _lock:
        _of_run = _standing = setup_configuration.named(**options)
        instrument()


def uninstrument() -> None:
    """Stop recording and let every call pass untouched again; what was recorded is written out.

    What was named in code is forgotten, `redact` too: an `instrument()` after this begins as the
    first one did, with what `agentool-otel run` was told, if the program runs under it.
    """
    global _standing
    with _lock:
        _standing = _of_run
        for instrumentor in instrumentors().values():
            instrumentor.uninstrument()
        stop_carrying()
        session.inherited = None
        session.enabled = False
    flush()


def flush(timeout_s: float = 5.0) -> bool:
    """Write out or send everything that has ended so far.

    Returns:
        False if that took longer than `timeout_s`.
    """
    millis = int(timeout_s * 1000)
    done = True
    if _pipeline is not None:
        done = _pipeline.force_flush(millis)
    provider_flush = getattr(session.provider, "force_flush", None)
    if callable(provider_flush) and _theirs is not None:
        done = bool(provider_flush(millis)) and done
    return done


def status() -> dict[str, Any]:
    """Return what is attached, where spans, log records and metrics go and how many have passed, as
    a JSON object."""
    decided = _in_force
    state: dict[str, Any] = {
        "enabled": session.enabled and session.provider is not None,
        "destination": None if decided is None else decided.spans.said_with(_theirs is not None),
        "joined_provider": _theirs is not None,
        "content": session.policy.capture,
        "journal": _journal_wanted(os.environ),
        "spans": {},
        "logs": {"destination": _log_destination()},
        "metrics": {"destination": None if decided is None else decided.metrics.said},
        "instrumentors": {},
    }
    if _pipeline is not None:
        state["spans"] = _pipeline.counts()
        state["logs"] |= _pipeline.log_counts()
        if _pipeline.recording is not None:
            state["recording"] = _pipeline.recording
    if _masking is not None:
        state["masking"] = {
            "passed": _masking.passed,
            "changed": _masking.changed,
            "masked_values": _masking.masked,
            "dropped_attributes": _masking.dropped,
        }
    for name, instrumentor in sorted(instrumentors().items()):
        state["instrumentors"][name] = {
            "installed": instrumentor.version,
            "supports": list(instrumentor.supports),
            "enabled": instrumentor.enabled,
            "patches": [patch._asdict() for patch in instrumentor.attached.values()],
            "others": instrumentor.others(),
        }
    return state


def _log_destination() -> str | None:
    """Where log records go by now: an application may have set a provider of its own meanwhile."""
    if _in_force is None:
        return None
    theirs = setup_logs.foreign_provider()
    return _in_force.logs.said if theirs is None else setup_logs.said_of(theirs)


def instrumentors() -> dict[str, AgentInstrumentor]:
    """Return our instrumentors by framework name; one that cannot be loaded is left out, logged."""
    found: dict[str, AgentInstrumentor] = {}
    # Several tracing packages have one called "openai"; those are none of our business.
    for name, point in registry.found("opentelemetry_instrumentor", "agentool-").items():
        try:
            found[name.removeprefix("agentool-")] = point.load()()
        except Exception:  # a plug-in of a third party may break; the others still load
            _log.warning("instrumentor %s could not be loaded", name, exc_info=True)
    return found


def standing() -> Configuration:
    """Return what has been named in code so far."""
    return _standing


def restore(configuration: Configuration) -> None:
    """Forget what has been named since `standing()` was asked."""
    global _standing
    with _lock:
        _standing = configuration


def carries_into_threads() -> bool:
    """Whether the last `instrument()` wanted threads and pools to carry the context."""
    return _in_force is not None and _in_force.threads


# -------------------------------------------------------------------------------------- insides


def _application_provider() -> trace.TracerProvider | None:
    """Return the tracer provider that the application has set, before us or after."""
    if _pipeline is not None:
        return _theirs
    present = trace.get_tracer_provider()
    return None if isinstance(present, trace.ProxyTracerProvider) else present


def _decide(
    standing: Configuration, known: Iterable[str], theirs: trace.TracerProvider | None
) -> Decision:
    joined: Literal["first", "later"] | None = None
    if theirs is not None:
        joined = "first" if _own is None else "later"
    decided = decide(standing, known, joined, _in_force, _say)
    takes = hasattr(theirs, "add_span_processor")
    if theirs is not None and _pipeline is None and decided.spans.way != "theirs" and not takes:
        raise ConfigurationError(
            f"the tracer provider in force ({type(theirs).__qualname__}) takes no processors: "
            "call instrument() without endpoint, or before that provider is set"
        )
    return decided


def _put_into_force(
    decided: Decision, theirs: trace.TracerProvider | None, service_name: str | None
) -> None:
    """Change what differs from the decision in force."""
    global _in_force
    before, _in_force = _in_force, None  # what fails half-way is done again by the next call
    if decided.dialect is not None:
        session.configure(dialect=decided.dialect)
    if _masking is not None and content_policy.tightens(session.policy, decided.policy):
        _masking.distrust_open_spans()
    session.configure(policy=content_policy.stricter(session.policy, decided.policy))
    if _pipeline is None:
        _begin(decided.spans, theirs, service_name)
    elif before is None or decided.spans is not before.spans:
        _direct(_pipeline, decided.spans)
    pipeline = _pipeline
    if pipeline is not None:
        if before is None or decided.logs.said != before.logs.said or _logs_lost(decided.logs):
            folder = setup_spans.folder_of(os.environ) if _journal_wanted(os.environ) else None
            setup_logs.put_into_force(pipeline, decided.logs, folder)
        metrics.put_into_force(pipeline, decided.metrics, _masking)
    _name_service(service_name)
    session.configure(policy=decided.policy)
    local = theirs is None and decided.spans.way == "record"
    session.copies = local or copies_wanted(os.environ)
    session.first = None if pipeline is None else pipeline.begin
    session.opened = pipeline.opened if pipeline is not None and pipeline.keeps_open else None
    session.exceptions = signals(os.environ)
    session.enabled = True
    session.inherited = inherited(os.environ)
    _in_force = decided


def _begin(
    spans: setup_spans.Plan, theirs: trace.TracerProvider | None, service_name: str | None
) -> None:
    """Make or join the tracer provider."""
    global _own, _pipeline, _service_name, _theirs
    _theirs = theirs
    if theirs is not None:
        session.configure(provider=theirs)
        if spans.way == "theirs":
            return
    # The SDK starts threads in a forked child; it hangs if this is first imported after its
    # provider is made.
    import concurrent.futures.thread  # noqa: F401  # pyright: ignore[reportUnusedImport]

    from opentelemetry.sdk.trace import TracerProvider

    pipeline = _new_pipeline()
    _direct(pipeline, spans)
    provider: Any = theirs
    if theirs is None:
        provider = TracerProvider(resource=service.resource_of(service_name))
    provider.add_span_processor(pipeline)
    _pipeline = pipeline
    session.configure(provider=provider)
    if theirs is None:
        _own, _service_name = provider, service_name
        trace.set_tracer_provider(provider)
        give_way(provider, _join_later)


def _attach(decided: Decision, known: Mapping[str, AgentInstrumentor]) -> None:
    """Attach to the frameworks that are wanted, and detach from the others."""
    if decided.threads:
        carry_into_threads()
    else:
        stop_carrying()
    for name, instrumentor in known.items():
        if name in decided.frameworks:
            instrumentor.instrument()
        else:
            instrumentor.uninstrument()


def _new_pipeline() -> Pipeline:
    """A pipeline that lets nothing out that the content policy keeps."""
    global _masking
    from agentool_otel.export.masking.logs import mask_log
    from agentool_otel.export.masking.spans import Masking
    from agentool_otel.export.pipeline import Pipeline

    pipeline = Pipeline()
    _masking = masking = Masking(lambda: session.policy)
    pipeline.stages.append(masking)
    pipeline.log_stages.append(lambda record: mask_log(masking, record))
    return pipeline


def _logs_lost(logs: setup_logs.Plan) -> bool:
    """Whether they went with the destination of the spans, when that changed."""
    return _pipeline is not None and logs.ours != _pipeline.takes_logs


def _join_later(provider: trace.TracerProvider) -> None:
    """Move to the provider the application has set after us.

    Our own destination stays: it is attached to that provider, so that it gets the application's
    spans too, as it did before. Spans now also go where the application sends them, so content is
    captured from here on only if it was asked for.
    """
    global _theirs
    with _lock:
        add = getattr(provider, "add_span_processor", None)
        if _pipeline is not None and callable(add):
            add(_pipeline)
        _theirs = provider
        policy = session.policy
        if _in_force is None or not _in_force.content_asked:
            policy = msgspec.structs.replace(policy, capture=False, store=None)
            _log.warning(
                "the application set a tracer provider of its own after agentool_otel: message, "
                "argument and result content is no longer captured, because it would go there too; "
                "content=True or %s=SPAN_ONLY captures it",
                content_rules.CAPTURE_VARIABLE,
            )
        session.configure(provider=provider, policy=policy)
        session.copies = copies_wanted(os.environ)
        if _service_name is not None:
            _tell_unnamed(_service_name)


def _direct(pipeline: Pipeline, spans: setup_spans.Plan) -> None:
    """Point the pipeline at its destination."""
    folder = setup_spans.folder_of(os.environ)
    journal = _journal_wanted(os.environ)
    session.handed_down = {}
    if spans.target is not None:
        pipeline.send(spans.target, folder if journal else None)
        session.handed_down = spans.target.as_variables()
    elif spans.way == "record":
        pipeline.record(folder, journal)
        session.handed_down = {"AGENTOOL_DIR": str(folder.absolute())}
    elif spans.way == "print":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        pipeline.export_to(ConsoleSpanExporter())
    else:
        pipeline.export_to(None)


def _journal_wanted(environ: Mapping[str, str]) -> bool:
    """Tell whether spans are to be on disk before their `end()` returns."""
    said = environ.get("AGENTOOL_JOURNAL", "").strip().lower()
    return said not in ("off", "false", "0", "no")


def _name_service(service_name: str | None) -> None:
    """Give what our own providers make from here on the name that is named, or else its own."""
    global _service_name
    if service_name == _service_name:
        return
    _service_name = service_name
    if _own is not None:
        name = service_name or str(service.resource_of(None).attributes[service.NAME])
        for provider in (_own, metrics.provider()):
            service.rename(provider, name)
    if _theirs is not None and service_name is not None:
        _tell_unnamed(service_name)


def _tell_unnamed(service_name: str) -> None:
    _say(
        "service-name",
        f"service_name={service_name!r} is not used: spans have the service.name of the "
        "application's own tracer provider; set it on the resource of that one",
        logging.WARNING,
    )


def _tell_overruled(call: Configuration) -> None:
    """Say which options of `agentool-otel run` the program has replaced."""
    for name, option in setup_configuration.overruled(_of_run, call):
        _say(
            option,
            f"the program replaces what agentool-otel run was told by {option}: its own "
            f"instrument({name}=...) holds from here on",
            logging.WARNING,
        )


def _say(topic: str, text: str, level: int = logging.INFO) -> None:
    if topic not in _told:
        _told.add(topic)
        _log.log(level, text)
