"""Destination of spans: decided before anything is changed, for every `instrument()`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentool_otel.ground import environment
from agentool_otel.tracing.setup.destinations.plan import Plan, plan_of_variable, plan_to_send
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    from agentool_otel.tracing.export.pipeline import Pipeline

__all__ = ["THEIRS", "apply", "description_with", "plan", "recording_plan"]

THEIRS = "the application's own tracer provider"


def description_with(spans: Plan, joined: bool) -> str:
    """Return where spans go in words, where they may go to the application's provider as well."""
    if joined and spans.way != "application":
        return f"{spans.description}, and {THEIRS}"
    return spans.description


def plan(endpoint: str | None, also: str | None, theirs: bool, record: bool = False) -> Plan:
    """Decide where spans go.

    Args:
        endpoint: named in code.
        also: the vocabulary to be written beside, as it is named in code.
        theirs: the application has set a tracer provider before us, and the variables with it.
        record: what that provider takes is to be recorded as well.

    Raises:
        ConfigurationError: the endpoint is no URL, or the vocabulary is not known.
    """
    from agentool_otel.tracing.export.otlp_variables import vocabulary_named
    from agentool_otel.tracing.export.send.otlp import OtlpTarget, target_from_environment

    if endpoint is None and theirs:
        return recording_plan() if record else Plan("application", THEIRS)
    if endpoint is None:
        target = target_from_environment(os.environ)
    else:
        target = OtlpTarget.at(endpoint, os.environ)
    if target is not None:
        if also is not None:
            target.also = vocabulary_named(also, "also")
        return plan_to_send(target)
    return plan_of_variable("traces", os.environ) or recording_plan()


def recording_plan() -> Plan:
    """Return the plan of recording spans."""
    return Plan("record", str(environment.recordings_folder()))


def apply(pipeline: Pipeline, spans: Plan) -> None:
    """Point the pipeline there, and processes that begin as children of this one."""
    folder = environment.recordings_folder()
    journal = environment.journal_wanted()
    settings.handed_down = {}
    if spans.target is not None:
        pipeline.send(spans.target, folder if journal else None)
        settings.handed_down = spans.target.as_variables()
    elif spans.way == "record":
        pipeline.record(folder, journal)
        settings.handed_down = {environment.FOLDER: str(folder.absolute())}
    elif spans.way == "print":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        pipeline.export_to(ConsoleSpanExporter())
    else:
        pipeline.export_to(None)
