"""Resolve a configuration in this environment, before anything is changed.

All that can be refused is refused here: a call of `instrument()` that raises has changed nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from agentool_otel.content import policy as content_rules
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment
from agentool_otel.ground import variable_values as values
from agentool_otel.ground.plugins import plugins
from agentool_otel.ground.unsupported_variables import refuse_misspelt, refuse_unsupported
from agentool_otel.semconv import table
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.setup import content_policy
from agentool_otel.tracing.setup.configuration import Configuration
from agentool_otel.tracing.setup.destinations import logs as setup_logs
from agentool_otel.tracing.setup.destinations import metrics as setup_metrics
from agentool_otel.tracing.setup.destinations import spans as setup_spans
from agentool_otel.tracing.setup.destinations.plan import Plan, SpansTarget
from agentool_otel.tracing.setup.sdk_variables import import_sdk, limits, sampler
from agentool_otel.tracing.spans.exceptions import signals as exception_signals
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    pass

__all__ = ["Decision", "check_variables", "decide", "frameworks_wanted"]

_THREADS = "threads"
"""Name in `exclude` for carrying context into threads and pools."""


class Decision(NamedTuple):
    """The complete effect of a configuration; later, the base for comparing the next decision."""

    spans: Plan
    logs: Plan
    metrics: Plan
    dialect: GenAI | None
    """With an older generation of the names, if one is configured."""
    content_decided: bool
    """Whether the capture of content was set explicitly."""
    policy: content_rules.Policy
    frameworks: frozenset[str]
    """Those to attach to."""
    threads: bool
    """Whether threads and pools carry the context."""
    limits: Limits
    """Of the folder that is recorded into."""
    agent: str | None
    """Name of the agent that a plain loop is."""
    infer_runs: bool
    """Whether the model calls of a plain loop become a run."""

    @property
    def ours(self) -> bool:
        """Return whether any signal passes through a pipeline of ours."""
        sent = self.metrics.way in ("send", "print")
        return self.spans.way != "application" or self.logs.ours or sent


def decide(
    configuration: Configuration,
    installed: Iterable[str],
    joined: Literal["first", "later"] | None,
    before: Decision | None,
    say: Callable[[str, str, int], None],
) -> Decision:
    """Decide everything, and check it.

    Args:
        configuration: what has been named in code.
        installed: the frameworks there are instrumentors for.
        joined: whether the application has set its tracer provider first, or later than we ours.
        before: what is in force.
        say: takes a topic, words about it and a level; says each topic once.

    Raises:
        ConfigurationError: something that is named in code cannot be used.
        MissingDependencyError: the SDK is not installed.
    """
    import_sdk()
    from agentool_otel.tracing.export.otlp_variables import check
    from agentool_otel.tracing.export.send.connection import files_usable

    frameworks = frameworks_wanted(configuration, frozenset(installed))
    # The application may have set the others for an SDK of its own.
    check(("traces",) if joined is None else ())
    if joined is None:
        refuse_unsupported()
    refuse_misspelt(of_opentelemetry=joined is None)
    dialect = environment.usable(environment.GENERATION, _dialect, None)
    endpoint_in_code = configuration.endpoint is not None
    spans = _spans_plan(configuration, joined == "first", before, say)
    signals = _target_of_other_signals(spans)
    logs = setup_logs.plan(os.environ, signals, endpoint_in_code)
    if logs.target is not None and not files_usable("logs"):
        logs = Plan("nowhere", "nowhere (one of its variables is invalid)")
    metrics = setup_metrics.plan(os.environ, signals, endpoint_in_code)
    if metrics.target is not None and not files_usable("metrics"):
        metrics = Plan("nowhere", "nowhere (one of its variables is invalid)")
    capture_requested = content_rules.requested(os.environ)
    going = content_policy.Going(
        spans=setup_spans.description_with(spans, joined is not None),
        logs=logs.description if logs.way == "nowhere" else None,
        network=joined is not None or spans.way == "send" or logs.way == "send",
        beside=environment.recordings_folder() if spans.way == "record" else None,
        messages=(dialect or settings.dialect).tells_messages,
    )
    policy = content_policy.policy(
        configuration.content,
        configuration.redact,
        going,
        os.environ,
        say,
        redact_all=bool(configuration.redact_all),
    )
    if joined == "first":
        environment.notice(_joining(spans, policy.capture))
    return Decision(
        spans=spans,
        logs=logs,
        metrics=metrics,
        dialect=dialect,
        content_decided=configuration.content is not None or capture_requested is not None,
        policy=policy,
        frameworks=frameworks,
        threads=_THREADS not in (configuration.exclude or ())
        and not {f"agentool-{_THREADS}", "*"} & environment.disabled_instrumentations(),
        limits=_limits(configuration),
        agent=configuration.agent or environment.agent(),
        infer_runs=environment.infer_runs()
        if configuration.infer_runs is None
        else configuration.infer_runs,
    )


def _limits(configuration: Configuration) -> Limits:
    """Return the limits that code has set, and otherwise those of the environment."""
    limits = Limits.requested()
    if configuration.max_size is not None:
        limits = limits._replace(size=values.size_limit(str(configuration.max_size)))
    if configuration.max_age is not None:
        limits = limits._replace(age_ns=values.age(configuration.max_age))
    return limits


def check_variables() -> None:
    """Read every variable, so that invalid ones are known."""
    import_sdk()
    from agentool_otel.tracing.export.otlp_variables import check
    from agentool_otel.tracing.export.send.connection import files_usable

    signals = get_args(environment.Signal)
    check(signals)
    for signal in signals:
        files_usable(signal)
    environment.usable(environment.GENERATION, _dialect, None)
    content_policy.check(os.environ)
    environment.sdk_disabled()
    environment.sdk_measures_itself()
    environment.copies_wanted()
    environment.agent_usage_wanted()
    environment.infer_runs()
    environment.strict()
    environment.sync_wanted()
    environment.size_limit()
    environment.age_limit()
    exception_signals(os.environ)
    limits()
    sampler()
    environment.pairs(environment.RESOURCE_ATTRIBUTES)
    refuse_unsupported()
    refuse_misspelt()


def _dialect(generation: str) -> GenAI:
    try:
        return GenAI(generation)
    except ConfigurationError:
        names = ", ".join(table.GENERATIONS)
        raise ValueError(f"is not a generation of the conventions: use one of {names}") from None


def _joining(spans: Plan, capture: bool) -> str:
    """Return the sentence about the destination of spans in a program with a provider."""
    content = "message, argument and result content"
    sentence = f"spans go to {setup_spans.description_with(spans, True)}, with {content}"
    if not capture:
        how = f"content=True or {environment.CAPTURE}=SPAN_ONLY captures it"
        sentence = (
            f"spans go to {setup_spans.description_with(spans, True)}, without {content} ({how})"
        )
    if spans.way != "application":
        return sentence
    folder = environment.recordings_folder()
    return f"{sentence}; record=True or {environment.RECORD}=on records them in {folder} as well"


def frameworks_wanted(configuration: Configuration, names: frozenset[str]) -> frozenset[str]:
    """Return the frameworks to attach to.

    Raises:
        ConfigurationError: one that is named is not known.
    """
    wanted = names if configuration.include is None else configuration.include
    unwanted = (configuration.exclude or frozenset()) - {_THREADS}
    unknown = sorted((wanted | unwanted) - names)
    if unknown:
        raise ConfigurationError(
            f"unknown framework {unknown[0]!r}: supported are {', '.join(sorted(names))}"
        )
    disabled = environment.disabled_instrumentations()
    if "*" in disabled:
        return frozenset()
    _refuse_names_of_none(disabled & names)
    return frozenset(name for name in wanted - unwanted if f"agentool-{name}" not in disabled)


def _refuse_names_of_none(names: Collection[str]) -> None:
    """Refuse names of frameworks that are no instrumentor's, so that leaving them out does
    nothing: ours have a prefix, since other packages have instrumentors of these names."""
    if not names:
        return
    for name in sorted(set(names) - plugins("opentelemetry_instrumentor").keys()):
        environment.refuse(
            environment.INSTRUMENTATIONS_DISABLED,
            f"has {name!r}, which is no instrumentor here; is agentool-{name} meant?",
        )


def _spans_plan(
    configuration: Configuration,
    theirs: bool,
    before: Decision | None,
    say: Callable[[str, str, int], None],
) -> Plan:
    from agentool_otel.tracing.export.send.connection import files_usable

    record = configuration.record
    record = environment.record_wanted() if record is None else record
    plan = setup_spans.plan(configuration.endpoint, configuration.also, theirs, record)
    if configuration.record and plan.way != "record":
        unused = f"is not used: spans go to {plan.description}"
        say("record", f"record=True {unused}", logging.WARNING)
    if configuration.also and plan.way == "application":
        unused = "is not used: spans are not sent by agentool_otel but by"
        say("also", f"also={configuration.also!r} {unused} {setup_spans.THEIRS}", logging.WARNING)
    if before is not None and plan.same_destination(before.spans):
        return before.spans  # with the target that the pipeline knows
    if plan.target is not None and not files_usable("traces"):
        return setup_spans.recording_plan()
    return plan


def _target_of_other_signals(spans: Plan) -> SpansTarget:
    """Return the target of spans as the plans of log records and metrics need it."""
    if spans.target is not None:
        return spans.target
    if spans.way == "application":
        return "application"
    return "recorded" if spans.way == "record" else "elsewhere"
