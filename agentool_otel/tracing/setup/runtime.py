"""`instrument()` and its state: one `Runtime` object for the process."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from opentelemetry import trace

from agentool_otel.content import policy as content_rules
from agentool_otel.errors import ConfigurationError, MissingDependencyError
from agentool_otel.ground import environment
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.tracing.capture import threads
from agentool_otel.tracing.capture.context import inherited_context
from agentool_otel.tracing.setup import configuration as setup_configuration
from agentool_otel.tracing.setup import content_policy, sdk_variables, service
from agentool_otel.tracing.setup.configuration import Configuration
from agentool_otel.tracing.setup.decision import Decision, decide
from agentool_otel.tracing.setup.destinations import logs as setup_logs
from agentool_otel.tracing.setup.destinations import metrics
from agentool_otel.tracing.setup.destinations import spans as setup_spans
from agentool_otel.tracing.setup.destinations.plan import Plan
from agentool_otel.tracing.setup.frameworks import attach, framework_names, instrumentors
from agentool_otel.tracing.setup.provider_handover import give_way
from agentool_otel.tracing.setup.sdk_variables import import_sdk
from agentool_otel.tracing.setup.status import (
    Counts,
    Destination,
    Framework,
    Masked,
    Prefilter,
    Status,
)
from agentool_otel.tracing.spans.exceptions import signals
from agentool_otel.tracing.spans.native_spans import is_covered
from agentool_otel.tracing.spans.settings import guarded, settings
from agentool_otel.tracing.spans.uncaught import record_uncaught, uncaught

if TYPE_CHECKING:
    from agentool_otel.tracing.export.masking.spans import Masking
    from agentool_otel.tracing.export.pipeline import Pipeline
    from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["flush", "instrument", "instrument_for_run", "runtime", "status", "uninstrument"]

_log = logger("agentool_otel")


def instrument(
    endpoint: str | None = None,
    service_name: str | None = None,
    content: bool | None = None,
    redact: content_rules.Redact | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    also: str | None = None,
    record: bool | None = None,
    redact_all: bool | None = None,
    max_size: str | int | None = None,
    max_age: str | None = None,
    agent: str | None = None,
    infer_runs: bool | None = None,
) -> None:
    """Record every supported agent framework of this process, from here on.

    Without an endpoint, here or in `OTEL_EXPORTER_OTLP_*`, spans are recorded in `.agentool/`
    (`AGENTOOL_DIR`). An existing tracer provider is joined, never replaced: spans go where it sends
    them, and also to `endpoint` if it is given here. `AGENTOOL_SEMCONV` (`2026-08`, `1.41`, `1.36`)
    writes an older generation of the conventions, for dashboards that read its names. Runs join the
    trace of a `TRACEPARENT` in the environment.

    A second call changes only the options that it names: an option that is missing or None keeps
    its value from an earlier call or from `agentool-otel run`, and the environment decides about
    the others. `uninstrument()` forgets options set in code. A call that raises changes nothing.

    A span is on disk when its `end()` returns. A span that is open when the process dies is closed
    as incomplete by the next process that records into the same folder, or by `agentool-otel
    recover`. With `AGENTOOL_JOURNAL=off` spans are written in batches instead, up to half a second
    later, or wait in memory for the endpoint.

    Log records that libraries emit through OpenTelemetry's logs API go where the spans go, masked
    and stored in the same way; `OTEL_LOGS_EXPORTER` and `OTEL_EXPORTER_OTLP_LOGS_*` override this.
    A logger provider of the application is left alone, and Python's `logging` is never changed.

    The convention's metrics are sent where spans are; `OTEL_METRICS_EXPORTER` and
    `OTEL_EXPORTER_OTLP_METRICS_*` override this. If an endpoint is set for traces only (a URL that
    ends in `/v1/traces`, or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`), log records and metrics are sent
    only to endpoints of their own.

    Args:
        endpoint: OTLP endpoint, `http://host:4318` or `grpc://host:4317`.
        service_name: `service.name` of new spans; by default `OTEL_SERVICE_NAME`. A tracer provider
            of the application keeps its name.
        content: whether to capture messages, arguments and results. By default the environment
            decides (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`), and if that is unset
            content is captured into a local recording and not sent over the network. The same
            variable decides whether content is on spans, on events, or on both.
        redact: called with attribute name and text of all captured content; returns the text to
            keep, or None to drop it.
        include: names of the frameworks to attach, by default all; the others are detached.
        exclude: names of frameworks to leave alone; `threads` leaves threads and pools alone, which
            otherwise work in the context of their caller.
        also: `openinference` adds its names to the spans that are sent to an endpoint, for the
            pages of Phoenix, MLflow, Langfuse and others; `none` adds none, and by default
            `AGENTOOL_ALSO` decides. The names repeat data of the span, are added when it is sent,
            and are ignored by this package's reader. Recordings, and spans that the application's
            own provider sends, do not have them.
        record: whether to record spans as well if a tracer provider of the application takes them,
            with the same content; by default `AGENTOOL_RECORD` decides.
        redact_all: whether to call `redact` for every text that leaves the process, not only for
            content: other attributes by their names, and names as `span.name`, `event.name`,
            `attribute.name`, `scope` (name and version), `trace_state`, `severity_text`. A name
            that it drops is written as `[masked]`. By default it is called for content, exceptions,
            statuses and log bodies.
        max_size: size limit of the folder of the recordings, such as `500MB`, or bytes, at least
            100KB; by default `AGENTOOL_MAX_SIZE`, and without that there is no limit. A recording
            then continues in a new file at a sixteenth of the limit. The oldest files go first;
            spans that wait to be sent are never removed.
        max_age: time after its last write when a file of a recording is removed, such as `7d`; by
            default `AGENTOOL_MAX_AGE`, and without that never.
        agent: name of the agent that a loop around a client is, where nothing else names it; by
            default `AGENTOOL_AGENT`.
        infer_runs: whether the model calls and tools of such a loop become one run, whose span is
            marked as inferred; by default `AGENTOOL_INFER_RUNS` decides, and without that they do.

    Raises:
        ConfigurationError: an option has a wrong type, the endpoint is not a URL, `redact` is not a
            function of two arguments, or the name of a framework or vocabulary is unknown.
            Variables never raise: an invalid value counts as unset, is named once in the log, and
            is in `status().refused_variables`.
        MissingDependencyError: a library that an option needs is not installed; not the SDK.
    """
    runtime.instrument(
        setup_configuration.named(
            endpoint,
            service_name,
            content,
            redact,
            include,
            exclude,
            also,
            record,
            redact_all,
            max_size,
            max_age,
            agent,
            infer_runs,
        )
    )


def instrument_for_run(**options: Any) -> None:
    """Call `instrument()` for `agentool-otel run` before the program begins.

    Args:
        options: those of `run`, named as `instrument()` names them. They hold until the program
            names something else, and again after `uninstrument()`.

    Raises:
        ConfigurationError: as `instrument()` does; the options are remembered all the same.
    """
    with runtime.lock:
        runtime.from_cli = runtime.explicit = setup_configuration.named(**options)
        runtime.instrument(Configuration())


def uninstrument() -> None:
    """Stop recording and let every call pass unchanged again; recorded spans are written out.

    No span that starts from here on is recorded or sent by this package, from any library, nor are
    log records and metrics. Spans that are open now are kept when they end. A tracer provider of
    the application goes on as it is: only our processor in it accepts nothing more.

    Options set in code are forgotten, `redact` too: a later `instrument()` begins like the first
    one, with the options of `agentool-otel run` if the program runs under it.
    """
    runtime.uninstrument()


def flush(timeout_s: float = 5.0) -> bool:
    """Write out or send everything that has ended so far.

    Returns:
        False if that took longer than `timeout_s`.
    """
    return runtime.flush(timeout_s)


def status() -> Status:
    """Return attached instrumentors, destinations of spans, log records and metrics, and counts.

    It never raises: what cannot be read is left out.
    """
    return runtime.status()


class Runtime:
    """Current configuration of this process, and its replacement by another."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while the configuration changes."""
        self.explicit = Configuration()
        """Settings from code so far."""
        self.from_cli = Configuration()
        """The options of `agentool-otel run`, which `uninstrument()` does not forget."""
        self.decision: Decision | None = None
        """The resolved configuration, once it is applied."""
        self.pipeline: Pipeline | None = None
        self.masking: Masking | None = None
        self._own: trace.TracerProvider | None = None
        """The tracer provider that we made, if none was set."""
        self._application: trace.TracerProvider | None = None
        """The application's, set before us or after."""
        self._attached = False
        """Whether the pipeline is attached to a tracer provider; it may exist for log records and
        metrics only.
        """
        self._service_name: str | None = None
        """The name in code that our own provider has."""
        self._noticed: set[str] = set()
        """Topics of what was logged once."""

    def forked(self) -> None:
        """Renew the lock in a forked child: its holder stayed in the parent."""
        self.lock = threading.RLock()
        settings.last_call = None  # the parent's, which has its own end

    # ---------------------------------------------------------------------------- public calls

    def instrument(self, call: Configuration) -> None:
        """Apply the options of a call on top of earlier ones."""
        with self.lock:
            standing = self.explicit.changed_by(call)
            if environment.sdk_disabled():
                self._notice(
                    "disabled", f"{environment.DISABLED}=true: agentool_otel records nothing"
                )
            elif self._has_sdk():
                self._apply(standing)
            self.explicit = standing
            self._notice_overruled(call)

    def uninstrument(self) -> None:
        """Stop recording, detach from everything, and write out all spans."""
        with self.lock:
            self.explicit = self.from_cli
            attach((), threads=False)
            settings.end_runs()
            settings.inherited = None
            settings.enabled = False
            settings.writer = None
            if self.pipeline is not None and not settings.locked:
                self.pipeline.pause()
                metrics.pause(self.pipeline)
        self.flush(5.0)

    def flush(self, timeout_s: float) -> bool:
        """Write out or send ended spans; False if that took longer."""
        millis = int(timeout_s * 1000)
        done = self.pipeline is None or self.pipeline.force_flush(millis)
        provider_flush = getattr(settings.provider, "force_flush", None)
        if callable(provider_flush) and self._application is not None:
            done = bool(provider_flush(millis)) and done
        return done

    def status(self) -> Status:
        """Return the current state and counts."""
        decision, pipeline = self.decision, self.pipeline
        joined = self._application is not None
        return Status(
            enabled=settings.enabled and settings.provider is not None,
            destination=decision and setup_spans.description_with(decision.spans, joined),
            joined_provider=joined,
            content=settings.policy.capture,
            journal=environment.journal_wanted(),
            spans=None if pipeline is None or not self._attached else Counts(**pipeline.counts()),
            logs=Destination(
                destination=decision and setup_logs.current_description(decision.logs),
                counts=None if pipeline is None else Counts(**pipeline.log_counts()),
            ),
            metrics=Destination(destination=decision and decision.metrics.description),
            instrumentors=self._frameworks(),
            threads=[patch._asdict() for patch in threads.patches()],
            refused_variables=environment.refused(),
            recording=None if pipeline is None else pipeline.recording,
            masking=None if self.masking is None else Masked(**self.masking.counts()),
            prefilter=self._prefilter(),
        )

    def summary(self) -> dict[str, Any]:
        """Return the part of the status that `agentool-otel run` sums up, without loading
        instrumentors.
        """
        decision, pipeline = self.decision, self.pipeline
        joined = self._application is not None
        return {
            "destination": decision and setup_spans.description_with(decision.spans, joined),
            "spans": None if pipeline is None or not self._attached else pipeline.counts(),
            "reason": "" if pipeline is None else pipeline.reason,
            "content": settings.policy.capture,
            "service": None if self._own is None else service.service_of(self._own),
        }

    def _prefilter(self) -> Prefilter | None:
        from agentool_otel.content.masking.prefilter.look import engine_in_use

        with guarded("reading the state of the prefilter"):
            name, detail = engine_in_use()
            return Prefilter(engine=name, detail=detail)
        return None

    def _frameworks(self) -> dict[str, Framework]:
        frameworks: dict[str, Framework] = {}
        with guarded(
            "reading the attached instrumentors"
        ):  # frameworks and plug-ins may do what they like
            for name, instrumentor in sorted(instrumentors().items()):
                frameworks[name] = Framework(
                    installed=instrumentor.version,
                    supports=list(instrumentor.supports),
                    enabled=instrumentor.enabled,
                    patches=[
                        patch._asdict()
                        for patch in instrumentor.attached.values()
                        if instrumentor.version is not None or patch.state != "missing"
                    ],
                    replaces=self._replaced(instrumentor),
                    others=instrumentor.others(),
                )
        return frameworks

    def _replaced(self, instrumentor: AgentInstrumentor) -> list[str]:
        ours = self._own is not None and self._application is None
        return [
            native_scope
            for native_scope in instrumentor.native_scopes
            if ours and is_covered(native_scope)
        ]

    def carries_into_threads(self) -> bool:
        """Return whether the last `instrument()` made threads and pools carry the context."""
        return self.decision is not None and self.decision.threads

    # --------------------------------------------------------------------- changing what holds

    def _apply(self, standing: Configuration) -> None:
        application = self._application_provider()
        decision = self._decide(standing, application)
        if settings.locked:
            settings.enabled = True
        else:
            self._apply_decision(decision, application, standing.service_name)
        attach(decision.frameworks, decision.threads)

    def _application_provider(self) -> trace.TracerProvider | None:
        """Return the tracer provider that the application has set, before us or after."""
        if self.pipeline is not None:
            return self._application
        present = trace.get_tracer_provider()
        return None if isinstance(present, trace.ProxyTracerProvider) else present

    def _decide(
        self, standing: Configuration, application: trace.TracerProvider | None
    ) -> Decision:
        joined: Literal["first", "later"] | None = None
        if application is not None:
            joined = "first" if self._own is None else "later"
        decision = decide(standing, framework_names(), joined, self.decision, self._notice)
        if application is None or self._attached or decision.spans.way == "application":
            return decision
        if not hasattr(application, "add_span_processor"):
            raise ConfigurationError(
                f"the tracer provider in force ({type(application).__qualname__}) accepts no "
                f"processors: call instrument() without endpoint, or before that provider is set"
            )
        return decision

    def _apply_decision(
        self,
        decision: Decision,
        application: trace.TracerProvider | None,
        service_name: str | None,
    ) -> None:
        """Apply the differences from the current decision."""
        before, self.decision = self.decision, None  # what fails half-way is done by the next call
        if decision.dialect is not None:
            settings.configure(dialect=decision.dialect)
        if self.masking is not None and content_policy.tightens(settings.policy, decision.policy):
            self.masking.distrust_open_spans()
        settings.configure(policy=content_policy.stricter(settings.policy, decision.policy))
        if self.pipeline is None:
            self._begin(decision, application, service_name)
        elif before is None or decision.spans is not before.spans:
            setup_spans.apply(self.pipeline, decision.spans)
            self._attach(decision.spans, application)
        if self.pipeline is not None:
            self.pipeline.limit(decision.limits)
            settings.handed_down = {**settings.handed_down, **decision.limits.as_variables()}
            self._apply_logs_and_metrics(self.pipeline, decision, before)
        self._name_service(service_name)
        settings.configure(policy=decision.policy)
        self._configure_session(decision, application)
        _end_runs_at_exit()
        self.decision = decision

    def _begin(
        self,
        decision: Decision,
        application: trace.TracerProvider | None,
        service_name: str | None,
    ) -> None:
        """Make or join the tracer provider."""
        self._application = application
        if application is not None:
            settings.configure(provider=application)
            if not decision.ours:
                return
        # The SDK starts threads in a forked child; it hangs if this is first imported after its
        # provider is made.
        import concurrent.futures.thread  # noqa: F401  # pyright: ignore[reportUnusedImport]

        from agentool_otel.content.masking.credentials import prepare
        from agentool_otel.tracing.export.pipeline import masked_pipeline
        from agentool_otel.tracing.setup.own_provider import OwnProvider

        prepare()
        pipeline, self.masking = masked_pipeline()
        setup_spans.apply(pipeline, decision.spans)
        provider = application or OwnProvider(
            sampler=sdk_variables.sampler(),
            resource=service.resource_of(service_name),
            span_limits=sdk_variables.limits(),
        )
        self.pipeline = pipeline
        self._attach(decision.spans, provider)
        settings.configure(provider=provider)
        if application is None:
            self._own, self._service_name = provider, service_name
            trace.set_tracer_provider(provider)
            give_way(provider, self._join)

    def _attach(self, spans: Plan, provider: Any) -> None:
        """Put the pipeline behind a tracer provider, if spans are to go there."""
        if self._attached or self.pipeline is None:
            return
        if spans.way == "application":
            atexit.register(self.pipeline.shutdown)  # as no provider does
            return
        provider.add_span_processor(self.pipeline)
        self._attached = True

    def _apply_logs_and_metrics(
        self, pipeline: Pipeline, decision: Decision, before: Decision | None
    ) -> None:
        """Point log records and metrics to where they go."""
        # Log records that went beside spans have lost their store when that changed.
        lost = decision.logs.ours != pipeline.takes_logs
        if before is None or decision.logs.description != before.logs.description or lost:
            folder = environment.recordings_folder() if environment.journal_wanted() else None
            setup_logs.apply(pipeline, decision.logs, folder)
        metrics.apply(pipeline, decision.metrics, self.masking)
        pipeline.resume()

    def _configure_session(
        self, decision: Decision, application: trace.TracerProvider | None
    ) -> None:
        pipeline = self.pipeline
        local = application is None and decision.spans.way == "record"
        settings.agent, settings.infer_runs = decision.agent, decision.infer_runs
        settings.repeat_times = local or environment.copies_wanted()
        settings.agent_usage = environment.agent_usage_wanted(default=local)
        settings.before_first_span = None if pipeline is None else pipeline.begin
        settings.on_described = (
            pipeline.opened if pipeline is not None and pipeline.keeps_open else None
        )
        if pipeline is not None and self.masking is not None and application is None:
            settings.writer = pipeline.direct_writer(self.masking)
        settings.exceptions = signals(os.environ)
        settings.enabled = True
        settings.inherited = inherited_context(os.environ)

    def _join(self, provider: trace.TracerProvider) -> None:
        """Move to the provider that the application has set after us.

        Our own destination stays: it is attached to that provider, so that it gets the
        application's spans too, as it did before. Spans now also go where the application sends
        them, so content is captured from here on only if it was requested.
        """
        with self.lock:
            add = getattr(provider, "add_span_processor", None)
            if self.pipeline is not None and callable(add):
                add(self.pipeline)
            self._application = provider
            policy = settings.policy
            if self.decision is None or not self.decision.content_decided:
                policy = msgspec.structs.replace(policy, capture=False, store=None)
                _log.warning(
                    "the application set a tracer provider of its own after agentool_otel: "
                    "message, argument and result content is no longer captured, because it would "
                    "go there too; content=True or %s=SPAN_ONLY captures it",
                    environment.CAPTURE,
                )
            settings.configure(provider=provider, policy=policy)
            _end_runs_at_exit()
            settings.repeat_times = environment.copies_wanted()
            settings.agent_usage = environment.agent_usage_wanted()
            if self._service_name is not None:
                self._notice_unused_name(self._service_name)

    def _name_service(self, service_name: str | None) -> None:
        """Apply the configured service name, or the default one, to new spans of our own
        providers.
        """
        if service_name == self._service_name:
            return
        self._service_name = service_name
        if self._own is not None:
            name = service_name or str(service.resource_of(None).attributes[service.NAME])
            for provider in (self._own, metrics.provider()):
                service.rename(provider, name)
        if self._application is not None and service_name is not None:
            self._notice_unused_name(service_name)

    # -------------------------------------------------------------------------------- notices

    def _has_sdk(self) -> bool:
        """Return whether the SDK can be imported. Without it nothing is recorded, and no error is
        raised.
        """
        try:
            import_sdk()
        except MissingDependencyError as error:
            environment.notice(f"nothing is recorded: {error}")
            settings.has_sdk = False
            return False
        return True

    def _notice(self, topic: str, text: str, level: int = logging.INFO) -> None:
        """Log a text, once for its topic."""
        if topic not in self._noticed:
            self._noticed.add(topic)
            _log.log(level, text)

    def _notice_unused_name(self, service_name: str) -> None:
        self._notice(
            "service-name",
            f"service_name={service_name!r} is not used: spans have the service.name of the "
            "application's own tracer provider; set it on the resource of that one",
            logging.WARNING,
        )

    def _notice_overruled(self, call: Configuration) -> None:
        """Warn of options of `agentool-otel run` that the program has replaced."""
        for name, option in setup_configuration.overruled(self.from_cli, call):
            self._notice(
                option,
                f"the program replaces the agentool-otel run option {option}: its own "
                f"instrument({name}=...) applies from here on",
                logging.WARNING,
            )


def _end_runs() -> None:
    """End what only the end of the program ends."""
    settings.end_runs(uncaught())
    record_uncaught()


def _end_runs_at_exit() -> None:
    """End inferred runs and record the exception that ends the program, before the provider shuts
    down: the function registered last runs first.
    """
    atexit.unregister(_end_runs)
    atexit.register(_end_runs)


runtime = Runtime()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=runtime.forked)
