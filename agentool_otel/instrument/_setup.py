"""`instrument()`: decide where spans go, then attach to every framework that is installed."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from opentelemetry import trace

from agentool_otel import _registry
from agentool_otel.capture.context import inherited
from agentool_otel.capture.threads import carry_into_threads, stop_carrying
from agentool_otel.dialects.gen_ai import GenAI
from agentool_otel.emit import content as content_rules
from agentool_otel.emit import metrics as emit_metrics
from agentool_otel.emit.exceptions import signals
from agentool_otel.emit.session import session
from agentool_otel.errors import ConfigurationError
from agentool_otel.instrument import _content, _logs, _metrics
from agentool_otel.instrument._giving_way import give_way
from agentool_otel.instrument.base import AgentInstrumentor
from agentool_otel.semconv import gen_ai

if TYPE_CHECKING:
    from agentool_otel.export.masking import Masking
    from agentool_otel.export.otlp import OtlpTarget
    from agentool_otel.export.pipeline import Pipeline

__all__ = ["flush", "instrument", "instrumentors", "status", "uninstrument"]

_log = logging.getLogger("agentool_otel")

_pipeline: Pipeline | None = None
_masking: Masking | None = None
_log_plan: _logs.Plan | None = None
_metric_plan: _metrics.Plan | None = None
_destination: str | None = None
_joined = False
_content_asked = False
_told: set[str] = set()

_THREADS = "threads"
"""What `exclude` calls the carrying of context into threads and pools."""


def instrument(
    endpoint: str | None = None,
    service_name: str | None = None,
    content: bool | None = None,
    redact: content_rules.Redact | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
) -> None:
    """Record every supported agent framework of this process, from here on.

    Without an endpoint, here or in `OTEL_EXPORTER_OTLP_*`, spans are recorded in `.agentool/`
    (`AGENTOOL_DIR`). A tracer provider that is configured already is joined, never replaced: spans
    go where it sends them, and to `endpoint` as well if one is given here. Calling it again changes
    what is given and attaches nothing twice. `AGENTOOL_SEMCONV` (`1.41`, `1.36`) writes an older
    generation of the conventions, for dashboards that read those names, or both (`dual`). Runs join
    the trace of a `TRACEPARENT` in the environment.

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
        service_name: `service.name` of the spans; `OTEL_SERVICE_NAME` by default.
        content: capture messages, arguments and results. By default the environment decides
            (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`), and where that is unset content
            is captured into a local recording and not sent over the network. The same variable
            says where captured content goes: on spans, on events beside them, or on both.
        redact: called with attribute name and text of every captured content; returns the text to
            keep, or None to leave it out.
        include: names of the frameworks to attach, all by default.
        exclude: names of frameworks to leave alone; `threads` leaves threads and pools alone, which
            otherwise work in the context of whoever gives them the work.

    Raises:
        ConfigurationError: if the endpoint is not a URL, or a name or a generation is not known.
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        _say("disabled", "OTEL_SDK_DISABLED=true: agentool_otel records nothing")
        return
    chosen = _chosen(include, exclude)
    _prepare_names()
    network = _prepare_provider(endpoint, service_name)
    network = _prepare_logs(given=endpoint is not None) or network
    _prepare_metrics(given=endpoint is not None)
    _prepare_content(content, redact, network)
    pipeline = _pipeline
    session.opened = pipeline.opened if pipeline is not None and pipeline.keeps_open else None
    session.exceptions = signals(os.environ)
    session.enabled = True
    session.inherited = inherited(os.environ)
    if _THREADS in (exclude or ()) or {f"agentool-{_THREADS}", "*"} & _disabled():
        stop_carrying()
    else:
        carry_into_threads()
    for instrumentor in chosen.values():
        instrumentor.instrument()


def uninstrument() -> None:
    """Stop recording and let every call pass untouched again; what was recorded is written out."""
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
    if callable(provider_flush) and _joined:
        done = bool(provider_flush(millis)) and done
    return done


def status() -> dict[str, Any]:
    """Return what is attached, where spans, log records and metrics go and how many have passed, as
    a JSON object."""
    state: dict[str, Any] = {
        "enabled": session.enabled and session.provider is not None,
        "destination": _destination,
        "joined_provider": _joined,
        "content": session.policy.capture,
        "journal": _journal_wanted(os.environ),
        "spans": {},
        "logs": {"destination": _log_destination()},
        "metrics": {"destination": None if _metric_plan is None else _metric_plan.said},
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
    if _log_plan is None:
        return None
    theirs = _logs.foreign_provider()
    return _log_plan.said if theirs is None else _logs.said_of(theirs)


def instrumentors() -> dict[str, AgentInstrumentor]:
    """Return our instrumentors by framework name; one that cannot be loaded is left out, logged."""
    found: dict[str, AgentInstrumentor] = {}
    # Several tracing packages have one called "openai"; those are none of our business.
    for name, point in _registry.found("opentelemetry_instrumentor", "agentool-").items():
        try:
            found[name.removeprefix("agentool-")] = point.load()()
        except Exception:  # a plug-in of a third party may break; the others still load
            _log.warning("instrumentor %s could not be loaded", name, exc_info=True)
    return found


# -------------------------------------------------------------------------------------- insides


def _chosen(
    include: Iterable[str] | None, exclude: Iterable[str] | None
) -> dict[str, AgentInstrumentor]:
    known = instrumentors()
    wanted = set(known) if include is None else set(include)
    unwanted = set(exclude or ()) - {_THREADS}
    unknown = sorted((wanted | unwanted) - set(known))
    if unknown:
        raise ConfigurationError(
            f"unknown framework {unknown[0]!r}: supported are {', '.join(sorted(known))}"
        )
    names = _disabled()
    if "*" in names:
        return {}
    return {
        name: instrumentor
        for name, instrumentor in known.items()
        if name in wanted - unwanted and f"agentool-{name}" not in names
    }


def _disabled() -> set[str]:
    """Spec: the variable by which `opentelemetry-instrument` leaves instrumentors out."""
    said = os.environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "")
    return {name.strip() for name in said.split(",")}


def _prepare_names() -> None:
    """Write the generation of the conventions that `AGENTOOL_SEMCONV` asks for.

    With an older one the metrics that the conventions replaced are recorded as well.
    """
    generation = os.environ.get("AGENTOOL_SEMCONV", "").strip()
    if generation:
        session.configure(dialect=GenAI(generation))
        emit_metrics.configure(older=generation not in (gen_ai.BASELINE, "latest"))


def _prepare_provider(endpoint: str | None, service_name: str | None) -> bool:
    """Make or join the tracer provider; tell whether spans leave over the network."""
    global _pipeline, _joined
    # The SDK starts threads in a forked child; it hangs if this is first imported after its
    # provider is made.
    import concurrent.futures.thread  # noqa: F401  # pyright: ignore[reportUnusedImport]

    from opentelemetry.sdk.trace import TracerProvider

    from agentool_otel.export.otlp import OtlpTarget, target_from_environment

    target = None
    if endpoint is not None:
        target = OtlpTarget.at(endpoint, os.environ)
    present = session.provider if _pipeline is not None else trace.get_tracer_provider()
    if isinstance(present, trace.ProxyTracerProvider):
        present = TracerProvider(resource=_resource(service_name))
        _pipeline = _new_pipeline()
        present.add_span_processor(_pipeline)
        trace.set_tracer_provider(present)
        give_way(present, _join_later)
    elif _pipeline is None:
        _joined = True
        session.configure(provider=present)
        if target is None:
            _set_destination("the application's own tracer provider")
            return True
        add = getattr(present, "add_span_processor", None)
        if add is None:
            raise ConfigurationError(
                f"the tracer provider in force ({type(present).__qualname__}) takes no processors: "
                "call instrument() without endpoint, or before that provider is set"
            )
        _pipeline = _new_pipeline()
        add(_pipeline)
    session.configure(provider=present)
    if target is None and not _joined:
        target = target_from_environment(os.environ)
    return _direct(_pipeline, target)


def _new_pipeline() -> Pipeline:
    """A pipeline that lets nothing out that the content policy keeps."""
    global _masking
    from agentool_otel.export.masking import Masking
    from agentool_otel.export.masking_logs import mask_log
    from agentool_otel.export.pipeline import Pipeline

    pipeline = Pipeline()
    _masking = masking = Masking(lambda: session.policy)
    pipeline.stages.append(masking)
    pipeline.log_stages.append(lambda record: mask_log(masking, record))
    return pipeline


def _prepare_logs(given: bool) -> bool:
    """Decide where log records go; tell whether they leave over the network through us."""
    global _log_plan
    pipeline, before = _pipeline, _log_plan
    spans: Any = "theirs"
    if pipeline is not None:
        spans = pipeline.target or ("recorded" if pipeline.records else "elsewhere")
    _log_plan = made = _logs.plan(os.environ, spans, given)
    if pipeline is not None and (
        before is None or made.said != before.said or made.ours != pipeline.takes_logs
    ):
        _logs.put_into_force(pipeline, made, _folder() if _journal_wanted(os.environ) else None)
    return made.way == "send"


def _prepare_metrics(given: bool) -> None:
    """Decide where metrics go, and have them collected from the first span on."""
    global _metric_plan
    pipeline, before = _pipeline, _metric_plan
    if pipeline is None:  # spans are left to the application, and so are they
        return
    _metric_plan = made = _metrics.plan(os.environ, pipeline.target, given)
    if made != before and made.way in ("send", "print"):
        pipeline.at_first = lambda: _metrics.collect(made, _masking)


def _join_later(provider: trace.TracerProvider) -> None:
    """Move to the provider the application has set after us.

    Our own destination stays: it is attached to that provider, so that it gets the application's
    spans too, as it did before. Spans now also go where the application sends them, so content is
    captured from here on only if it was asked for.
    """
    global _joined, _destination
    add = getattr(provider, "add_span_processor", None)
    if _pipeline is not None and callable(add):
        add(_pipeline)
    _joined = True
    _destination = f"{_destination}, and the application's own tracer provider"
    policy = session.policy
    if not _content_asked:
        policy = msgspec.structs.replace(policy, capture=False, store=None)
        _log.warning(
            "the application set a tracer provider of its own after agentool_otel: message, "
            "argument and result content is no longer captured, because it would go there too; "
            "content=True or %s=SPAN_ONLY captures it",
            content_rules.CAPTURE_VARIABLE,
        )
    session.configure(provider=provider, policy=policy)


def _direct(pipeline: Pipeline, target: OtlpTarget | None) -> bool:
    """Point the pipeline at its destination, unless it points there already."""
    from agentool_otel.export import variables

    exporter = variables.exporter(os.environ, "traces")
    folder = _folder()
    journal = _journal_wanted(os.environ)
    if target is not None:
        if _set_destination(f"{target} ({target.protocol})"):
            pipeline.send(target, folder if journal else None)
            session.handed_down = target.as_variables()
        return True
    if _joined:
        return True
    if exporter == "none":
        if _set_destination("nowhere (OTEL_TRACES_EXPORTER=none)"):
            pipeline.export_to(None)
        return False
    if exporter == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        if _set_destination("the console (OTEL_TRACES_EXPORTER=console)"):
            pipeline.export_to(ConsoleSpanExporter())
        return False
    if _set_destination(str(folder)):
        pipeline.record(folder, journal)
        session.handed_down = {"AGENTOOL_DIR": str(folder.absolute())}
    return False


def _folder() -> Path:
    return Path(os.environ.get("AGENTOOL_DIR") or ".agentool")


def _journal_wanted(environ: Mapping[str, str]) -> bool:
    """Tell whether spans are to be on disk before their `end()` returns."""
    said = environ.get("AGENTOOL_JOURNAL", "").strip().lower()
    return said not in ("off", "false", "0", "no")


def _set_destination(where: str) -> bool:
    global _destination
    changed = where != _destination
    _destination = where
    return changed


def _prepare_content(
    content: bool | None, redact: content_rules.Redact | None, network: bool
) -> None:
    global _content_asked
    _content_asked = content is not None or content_rules.requested(os.environ) is not None
    logs = _log_plan
    folder = _folder()
    going = _content.Going(
        spans=_destination,
        logs=logs.said if logs is not None and logs.way == "nowhere" else None,
        network=network,
        beside=folder if _destination == str(folder) else None,
    )
    session.configure(policy=_content.policy(content, redact, going, os.environ, _say))


def _resource(service_name: str | None) -> Any:
    """The resource of our own provider; a program without a service name has its script's."""
    from opentelemetry.sdk.resources import Resource

    if service_name:
        return Resource.create({"service.name": service_name})
    resource = Resource.create()
    if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
        script = Path(sys.argv[0] if sys.argv else "").stem
        if script not in ("", "-c", "-m", "__main__"):
            return resource.merge(Resource({"service.name": script}))
    return resource


def _say(topic: str, text: str, level: int = logging.INFO) -> None:
    if topic not in _told:
        _told.add(topic)
        _log.log(level, text)
