"""Where spans go: decided before anything is changed, for every `instrument()`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from agentool_otel.ground import environment
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    from agentool_otel.tracing.export.pipeline import Pipeline
    from agentool_otel.tracing.export.send.otlp import OtlpTarget

__all__ = ["THEIRS", "Plan", "plan", "put_into_force", "recorded"]

_EXPORTER = environment.exporter_variable("traces")
THEIRS = "the application's own tracer provider"


class Plan(NamedTuple):
    """Where spans are to go, besides the application's own tracer provider where there is one."""

    way: Literal["theirs", "nowhere", "record", "send", "print"]
    description: str
    """The same in words."""
    target: OtlpTarget | None = None

    def description_with(self, joined: bool) -> str:
        """The same in words, where they may go to the application's provider as well."""
        return (
            f"{self.description}, and {THEIRS}"
            if joined and self.way != "theirs"
            else self.description
        )

    def leads_to(self, other: Plan) -> bool:
        """Whether both lead to the same place. An endpoint with other credentials is another."""
        mine, its = self.target, other.target
        return (self.way, self.description, mine and mine.endpoint, mine and mine.also) == (
            other.way,
            other.description,
            its and its.endpoint,
            its and its.also,
        )


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
    from agentool_otel.tracing.export.otlp_variables import exporter, vocabulary_named
    from agentool_otel.tracing.export.send.otlp import OtlpTarget, target_from_environment

    if endpoint is None and theirs:
        return recorded() if record else Plan("theirs", THEIRS)
    exporter_name = exporter(os.environ, "traces")
    if endpoint is None:
        target = target_from_environment(os.environ)
    else:
        target = OtlpTarget.at(endpoint, os.environ)
    if target is not None:
        if also is not None:
            target.also = vocabulary_named(also, "also")
        return Plan("send", f"{target} ({target.protocol})", target)
    if exporter_name == "none":
        return Plan("nowhere", f"nowhere ({_EXPORTER}=none)")
    if exporter_name == "console":
        return Plan("print", f"the console ({_EXPORTER}=console)")
    return recorded()


def recorded() -> Plan:
    """Return the plan of recording spans."""
    return Plan("record", str(environment.recordings_folder()))


def put_into_force(pipeline: Pipeline, spans: Plan) -> None:
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
