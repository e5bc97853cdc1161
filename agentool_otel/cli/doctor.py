"""`doctor`: check patches, destinations of spans and log records, and the arrival of a span."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import click
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from rich.console import Console
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._frameworks import (
    GOOD,
    frameworks,
    mounting,
    not_instrumented,
    print_frameworks,
    thread_patches,
)
from agentool_otel.cli._output import collect_warnings, data_stream, view
from agentool_otel.cli._round_trip import round_trip
from agentool_otel.content.masking.credentials import mask_any
from agentool_otel.content.masking.prefilter import look as prefilter
from agentool_otel.content.masking.secret_names import names_secret
from agentool_otel.content.policy import places
from agentool_otel.content.policy import requested as capture_requested
from agentool_otel.errors import AgentoolError
from agentool_otel.ground import environment, json_codec, otlp_settings
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.ground.integrations import installed_version, integrations
from agentool_otel.ground.unsupported_variables import is_read
from agentool_otel.ground.urls import printable_place
from agentool_otel.ground.version import __version__
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.otlp_variables import exporter
from agentool_otel.tracing.export.send.otlp import OtlpExporter, OtlpTarget, target_from_environment
from agentool_otel.tracing.setup.decision import check_variables
from agentool_otel.tracing.setup.destinations import logs as setup_logs
from agentool_otel.tracing.setup.destinations import metrics as setup_metrics
from agentool_otel.tracing.setup.destinations.plan import Plan

__all__ = ["command"]

_PACKAGES = ("opentelemetry-api", "opentelemetry-sdk", "opentelemetry-exporter-otlp", "wrapt",
             "msgspec", "orjson", "hyperscan")  # fmt: skip
_TRACERS = (
    *("openinference-*", "traceloop-sdk", "opentelemetry-distro", "opentelemetry-util-genai"),
    *("opentelemetry-instrumentation", "opentelemetry-instrumentation-*"),
)
"""Distributions that trace many libraries; products declare theirs themselves."""
_SECRET = re.compile(
    r"HEADERS|KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|TENANT|AUTH|COOKIE|SIGNATURE", re.IGNORECASE
)
"""Names of variables, and of members of their values, whose values are not shown."""
_EXPORTER = environment.exporter_variable("traces")
_EFFECTS = {
    environment.FOLDER: "folder of the recordings",
    environment.MAX_SIZE: "the oldest files of recordings are removed beyond it",
    environment.MAX_AGE: "older files of recordings are removed",
    environment.PREFILTER: "off: each text is searched in Python",
    environment.SYNC: "on: what is written is synced to the disk",
    environment.JOURNAL: "off: spans may be lost when the process is killed",
    environment.STRICT: "errors of this package are raised (for its own tests)",
    environment.CAPTURE: "whether messages, arguments and results are captured, and on what",
    environment.DISABLED: "true: nothing is recorded at all",
    _EXPORTER: "otlp, console or none instead of a recording",
    environment.exporter_variable("logs"): "otlp, console or none instead of the destination of "
    "spans",
    otlp_settings.variable("ENDPOINT", "logs"): "log records go there",
    environment.EXCEPTIONS: "logs: exceptions are log records; logs/dup: on spans as well",
    environment.exporter_variable("metrics"): "otlp, console or none instead of the destination "
    "of spans",
    otlp_settings.variable("ENDPOINT", "metrics"): "metrics go there",
    otlp_settings.variable("ENDPOINT"): "spans go there instead of into a recording",
    otlp_settings.variable("ENDPOINT", "traces"): "spans go there instead of into a recording",
    otlp_settings.variable("PROTOCOL"): "http/protobuf or grpc",
    otlp_settings.variable("PROTOCOL", "traces"): "http/protobuf or grpc",
    otlp_settings.variable("HEADERS"): "sent with every request",
    otlp_settings.variable("HEADERS", "traces"): "sent with every request",
    otlp_settings.variable("CERTIFICATE"): "the CA certificate that the receiver is verified with",
    environment.DELAY: "milliseconds that ended spans wait for others before they are sent",
    environment.BATCH_SIZE: "spans in a request at most",
    environment.QUEUE_SIZE: f"spans in the queue of a recording with {environment.JOURNAL}=off",
    environment.SERVICE_NAME: "service.name of the spans",
    environment.RESOURCE_ATTRIBUTES: "further attributes of the resource",
    environment.SAMPLER: "which runs are recorded",
    environment.INSTRUMENTATIONS_DISABLED: "frameworks that are left alone",
    environment.ATTRIBUTE_COUNT_LIMIT: "attributes beyond it are lost",
    **dict.fromkeys(
        environment.VALUE_LENGTH_LIMITS, "longer values are cut, JSON becomes unreadable"
    ),
}
_WITHOUT_PREFILTER = "each text is searched in Python: same result, more time"
_LARGE = 1_000_000_000
"""Bytes of recordings above which the report names a way to bound them."""
_NO_SERVER = "--source reads a run that was sent, and nothing is sent; hint: add --endpoint"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option("--endpoint", help="Try this OTLP endpoint instead of the configured destination.")
@click.option(
    "--source",
    metavar="SOURCE",
    help="Read the run back from: jaeger://localhost:16686, tempo://localhost:3200.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every function that is wrapped.")
@click.option(
    "--prepare",
    is_flag=True,
    help="Compile the prefilter of the search for credentials, for the image of a container.",
)
def command(
    as_json: bool, endpoint: str | None, source: str | None, verbose: bool, prepare: bool
) -> int:
    """Check the set-up and whether spans arrive.

    Frameworks are imported to see what attaches to them, and one span is sent to the current
    destination and, where that is a recording, read back. With --source a whole run is sent, read
    from there, and compared. Installed frameworks that this package does not instrument are named
    with the spans that they write themselves.
    """
    report: dict[str, Any] = {
        "versions": _versions(),
        "frameworks": frameworks(),
        "threads": thread_patches(),
        "mounting": mounting(),
        "not_instrumented": not_instrumented(),
        "other_tracing": _other_tracing(),
        "tracer_provider": _provider(),
        "environment": _environment(os.environ),
        "prefilter": _prefilter(prepare),
        **_destination(endpoint, source),
    }
    if as_json:
        stream = data_stream()
        stream.write(json_codec.dumps(report).encode() + b"\n")
        stream.flush()
    else:
        _print(view(), report, verbose)
    patches = [
        patch for framework in report["frameworks"] for patch in framework.get("patches", ())
    ]
    attached = all(patch["state"] in GOOD for patch in (*patches, *report["threads"]))
    loaded = not any(framework.get("error") for framework in report["frameworks"])
    prepared = not report["prefilter"]["error"]
    passed = report["self_test"]["ok"] is not False
    return 0 if attached and loaded and prepared and passed else 1


# --------------------------------------------------------------------------------- gathering


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {"agentool-otel": __version__}
    versions["python"] = f"{platform.python_version()} ({sys.executable})"
    for package in _PACKAGES:
        versions[package] = installed_version(package)
    return versions


def _provider() -> str:
    """Return which tracer provider `instrument()` would find in this process."""
    present = trace.get_tracer_provider()
    if isinstance(present, trace.ProxyTracerProvider):
        return "none is set: instrument() makes one"
    return f"{type(present).__module__}.{type(present).__qualname__} is set: instrument() joins it"


def _other_tracing() -> list[dict[str, str]]:
    """Return installed packages that trace agents too, and may record a call a second time."""
    names = {
        str(dist.metadata["Name"]).lower().replace("_", "-"): dist.version
        for dist in importlib.metadata.distributions()
    }
    tracers = [
        *_TRACERS,
        *(name for integration in integrations().values() for name in integration.tracers),
    ]
    return [
        {"name": name, "version": version}
        for name, version in sorted(names.items())
        if any(fnmatchcase(name, tracer) for tracer in tracers)
    ]


def _environment(environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the variables that affect this package; the values of secret ones are not shown."""
    check_variables()
    refused = environment.refused()
    named = {
        **{name: environ[name] for name in refused if name in environ},
        **environment.of_opentelemetry(environ),
        **environment.of_this_package(environ),
    }
    return [
        {
            "name": name,
            "value": _value(name, value),
            "effect": refused.get(name) or _EFFECTS.get(name) or _unknown_variable(name),
        }
        for name, value in sorted(named.items())
    ]


def _unknown_variable(name: str) -> str:
    """Return the notice about a variable that nothing here reads, "" if something may."""
    if is_read(name) or not environment.of_this_package({name: ""}):
        return ""
    return "nothing reads it"


def _value(name: str, text: str) -> str:
    """Return the value of a variable without credentials: those that its name announces, those in
    URLs, and those in texts and lists of `key=value`."""
    if _SECRET.search(name):
        return "(set, not shown)"
    if (url := printable_place(text)) != text:
        return url
    return ",".join(map(_member, mask_any(text).split(",")))


def _member(text: str) -> str:
    """Return a member of a list without a credential."""
    key, sign, value = text.partition("=")
    name = unquote(key).strip()
    if sign and (_SECRET.search(name) or names_secret(name)):
        return f"{key}=[masked]"
    return f"{key}{sign}{printable_place(value)}"


def _prefilter(prepare: bool) -> dict[str, Any]:
    """Return the state of the prefilter, compiled first with `--prepare`."""
    error = ""
    if prepare and prefilter.state().engine is not None:
        try:
            prefilter.prepare()
        except Exception as problem:  # the engine's own errors are of no common class
            error = f"it cannot be prepared: {problem}"
    return {**prefilter.state()._asdict(), "error": error}


class _Route(NamedTuple):
    """The destination of spans under the current settings."""

    where: str
    spans: OtlpTarget | Literal["recorded", "elsewhere"] = "elsewhere"
    ok: Literal[False] | None = None
    untested: str = "not tried: spans go nowhere"
    """Why no test span is sent, if none is; an error if `ok` is False."""


def _destination(endpoint: str | None, source: str | None) -> dict[str, Any]:
    """Return where spans, log records and metrics would go, and whether a test span arrived."""
    route = _Route("not known")
    try:
        route = _route(endpoint, source)
        test = _test(route, source)
        logs = setup_logs.plan(os.environ, route.spans, endpoint_in_code=endpoint is not None)
        metrics = setup_metrics.plan(os.environ, route.spans, endpoint_in_code=endpoint is not None)
    except AgentoolError as error:
        route, test = route._replace(where="not known"), {"ok": False, "said": str(error)}
        logs = Plan("nowhere", "not known")
        metrics = Plan("nowhere", "not known")
    return {
        "destination": route.where,
        "logs": logs.description,
        "metrics": metrics.description,
        "content": _content(isinstance(route.spans, OtlpTarget) or logs.way == "send"),
        "folder": _folder(recordings_folder()),
        "self_test": test,
    }


def _route(endpoint: str | None, source: str | None) -> _Route:
    target = OtlpTarget.at(endpoint, os.environ) if endpoint else None
    target = target or target_from_environment(os.environ)
    exporting = exporter(os.environ, "traces")
    if environment.sdk_disabled():
        return _Route(f"nowhere: {environment.DISABLED}=true")
    if target is not None:
        return _Route(f"{target} ({target.protocol})", target)
    if source is not None:
        return _Route("not at a server", ok=False, untested=_NO_SERVER)
    if exporting == "none":
        return _Route(f"nowhere: {_EXPORTER}=none")
    if exporting == "console":
        return _Route(f"the console: {_EXPORTER}=console", untested="not tried")
    return _Route(f"recordings in {recordings_folder().absolute()}", "recorded")


def _folder(folder: Path) -> dict[str, Any]:
    """Return the size of the folder of recordings, and how to bound it where it is large."""
    size = 0
    for inner, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(inner, name)).st_size
    hint = ""
    if size > _LARGE:
        hint = f"{environment.MAX_SIZE}=500MB or {environment.MAX_AGE}=7d bounds it, agentool-otel "
        hint += "clean removes recordings, clean --unsent ENDPOINT what waits for an endpoint"
    return {"path": str(folder.absolute()), "bytes": size, "hint": hint}


def _test(route: _Route, source: str | None) -> dict[str, Any]:
    if isinstance(route.spans, OtlpTarget):
        return _try_endpoint(route.spans) if source is None else round_trip(route.spans, source)
    if route.spans == "recorded":
        return _try_recording(recordings_folder())
    return {"ok": route.ok, "said": route.untested}


def _content(network: bool) -> dict[str, Any]:
    """Return whether content is captured, on which signals, and why."""
    requested = capture_requested(os.environ)
    capture = not network if requested is None else requested
    on = places(os.environ)
    destinations = (
        "on spans and events" if on.spans and on.events else "on events" if on.events else ""
    )
    reason = f"{environment.CAPTURE} says so"
    if requested is None:
        reason = "spans leave this machine" if network else "spans stay on this machine"
        reason += f"; {environment.CAPTURE}={'NO_CONTENT' if capture else 'SPAN_ONLY'} changes that"
    return {"captured": capture, "on": destinations or "on spans", "because": reason}


def _try_recording(folder: Path) -> dict[str, Any]:
    """Write a span the way a program would, in a folder of its own, and read it back."""
    above = folder.absolute()
    while not above.exists():
        above = above.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".agentool-doctor-", dir=above) as trial:
            span_id = _send_span(RecordingExporter(trial))
            read = [span.span_id for span in open_source(trial).spans()]
    except (OSError, AgentoolError) as error:
        return {"ok": False, "said": f"nothing can be recorded there: {error}"}
    if read != [span_id]:
        return {
            "ok": False,
            "said": f"a span was recorded, and reading it back found {len(read)} spans",
        }
    return {"ok": True, "said": "a span was recorded there, read back and removed"}


def _try_endpoint(target: OtlpTarget) -> dict[str, Any]:
    exporter = OtlpExporter(target)
    began = time.monotonic()
    with collect_warnings("agentool_otel.tracing.export.send.otlp"):
        span_id = _send_span(exporter)
    took = _text.duration((time.monotonic() - began) * 1000)
    if exporter.failed:
        return {"ok": False, "said": f"the endpoint did not take a span: {exporter.reason}"}
    return {
        "ok": True,
        "said": f"the endpoint accepted span {span_id} 'agentool-otel doctor' in {took}; --source "
        "jaeger://HOST:16686 or tempo://HOST:3200 reads it back",
    }


def _send_span(exporter: SpanExporter) -> str:
    resource = Resource({"service.name": "agentool-otel-doctor"})
    provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("agentool_otel.doctor").start_as_current_span(
        "agentool-otel doctor"
    ) as span:
        span_id = f"{span.get_span_context().span_id:016x}"
    provider.shutdown()
    return span_id


# ---------------------------------------------------------------------------------- printing


def _print(console: Console, report: dict[str, Any], verbose: bool) -> None:
    def heading(text: str) -> None:
        console.print(text, style="bold")

    def line(*parts: str | tuple[str, str]) -> None:
        console.print(Text.assemble("  ", *parts), soft_wrap=True)

    heading("Versions")
    for name, version in report["versions"].items():
        line(f"{name:<28}", version or ("not installed", "yellow"))

    heading("Frameworks")
    print_frameworks(console, report, verbose)

    heading("Tracer provider")
    line(report["tracer_provider"])

    heading("Other tracing packages")
    for package in report["other_tracing"]:
        line(f"{package['name']:<42}{package['version']}")
    if report["other_tracing"]:
        line(("where one of them is switched on too, a call may be recorded twice", "dim"))
    else:
        line(("none", "dim"))

    heading("Environment")
    for variable in report["environment"]:
        name, value = variable["name"], _text.line(variable["value"])
        line(f"{name}={value}", (f"  {variable['effect']}", "dim"))
    if not report["environment"]:
        line(("no OTEL_* and no AGENTOOL_* variables are set", "dim"))

    heading("Search for credentials")
    state = report["prefilter"]
    line(
        f"{'prefilter':<14}{state['engine'] or 'none'}", (f"  {_text.line(state['detail'])}", "dim")
    )
    if state["error"]:
        line(" " * 14, (_text.line(state["error"]), "red"))
    elif not state["stored"]:
        hint = "" if state["engine"] is None else "; hint: doctor --prepare"
        line(" " * 14, (f"{_WITHOUT_PREFILTER}{hint}", "dim"))

    heading("Where spans go")
    line(f"{'destination':<14}{_text.line(report['destination'])}")
    line(f"{'log records':<14}{_text.line(report['logs'])}")
    line(f"{'metrics':<14}{_text.line(report['metrics'])}")
    captured = f"captured {report['content']['on']}"
    captured = captured if report["content"]["captured"] else "not captured"
    line(f"{'content':<14}{captured}", (f" ({report['content']['because']})", "dim"))
    folder = report["folder"]
    if folder["hint"]:
        line(
            f"{'size':<14}",
            (f"{_text.size(folder['bytes'])} in {_text.line(folder['path'])}", "yellow"),
            (f" ({folder['hint']})", "dim"),
        )
    test = report["self_test"]
    mark, style = {True: ("✓", "green"), False: ("✗", "red")}.get(test["ok"], ("-", "dim"))
    line(f"{'self-test':<14}", (f"{mark} {_text.line(test['said'])}", style))
