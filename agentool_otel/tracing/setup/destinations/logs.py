"""Where log records go: decided once, for `instrument()` and for `doctor`.

Where spans go, unless the variables of the logs signal say otherwise. A logger provider that the
application has set, before or after us, is left alone: its records go where it sends them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agentool_otel.ground import environment, otlp_settings

if TYPE_CHECKING:
    from pathlib import Path

    from agentool_otel.tracing.export.pipeline import Pipeline
    from agentool_otel.tracing.export.send.otlp import OtlpTarget

__all__ = ["Plan", "foreign_provider", "plan", "put_into_force"]

_EXPORTER = environment.exporter_variable("logs")


class Plan(NamedTuple):
    """Where log records are to go."""

    way: Literal["theirs", "nowhere", "record", "send", "print"]
    description: str
    """The same in words."""
    target: OtlpTarget | None = None

    @property
    def ours(self) -> bool:
        """Whether they pass through our pipeline."""
        return self.way not in ("theirs", "nowhere")

    def current_description(self) -> str:
        """The current destination in words: the application may have set a provider meanwhile."""
        foreign = foreign_provider()
        return self.description if foreign is None else _description_of(foreign)


def foreign_provider() -> str | None:
    """Return the class of the logger provider that somebody else has set, if one is."""
    from opentelemetry import _logs

    present: Any = _logs.get_logger_provider()
    kind = type(present)
    if kind.__name__ == "ProxyLoggerProvider" or kind.__module__.startswith("agentool_otel."):
        return None
    return f"{kind.__module__}.{kind.__qualname__}"


def _description_of(foreign: str) -> str:
    return f"the application's own logger provider ({foreign})"


def plan(
    environ: Mapping[str, str],
    spans: OtlpTarget | Literal["recorded", "theirs", "elsewhere"],
    endpoint_in_code: bool = False,
) -> Plan:
    """Decide where log records go.

    Args:
        environ: the environment.
        spans: where spans are sent; `recorded` is the recording, `theirs` a tracer provider of the
            application's and nothing of ours behind it, `elsewhere` all the rest.
        endpoint_in_code: the target of the spans is named in code, and stands for the
            environment's.
    """
    from agentool_otel.tracing.export.otlp_variables import exporter, named_alone
    from agentool_otel.tracing.export.send.otlp import target_beside

    if (theirs := foreign_provider()) is not None:
        return Plan("theirs", _description_of(theirs))
    if spans == "theirs" and not named_alone(environ, "logs"):
        hint = otlp_settings.variable("ENDPOINT", "logs")
        why = "spans go to the application's own tracer provider"
        return Plan("nowhere", f"nowhere ({why}; hint: set {hint})")
    exporter_name = exporter(environ, "logs")
    if exporter_name == "none":
        return Plan("nowhere", f"nowhere ({_EXPORTER}=none)")
    if exporter_name == "console":
        return Plan("print", f"the console ({_EXPORTER}=console)")
    sent = None if isinstance(spans, str) else spans
    target = target_beside(sent, environ, "logs", endpoint_in_code)
    if target is not None:
        return Plan("send", f"{target} ({target.protocol})", target)
    if spans == "recorded":
        return Plan("record", "the recording of the spans")
    if spans == "elsewhere":
        return Plan("nowhere", "nowhere (spans are neither recorded nor sent)")
    hint = otlp_settings.variable("ENDPOINT", "logs")
    return Plan("nowhere", f"nowhere (hint: set {hint})")


def put_into_force(pipeline: Pipeline, decided: Plan, folder: Path | None) -> None:
    """Point the pipeline there, and be the logger provider of the process if records arrive.

    Args:
        pipeline: of this process.
        decided: the decision.
        folder: where records wait that are sent elsewhere than spans; None keeps them in memory.
    """
    if decided.way == "record":
        pipeline.record_logs()
    elif decided.target is not None:
        pipeline.send_logs(decided.target, folder)
    elif decided.way == "print":
        pipeline.print_logs()
    else:
        pipeline.leave_logs()
        return
    _offer(pipeline)


def _offer(pipeline: Pipeline) -> None:
    """Set a logger provider that the next one to be set replaces.

    The API takes one provider and refuses every later one; what it remembers that by is left as it
    was. Where its insides are not as known, ours is set as any other.
    Source: opentelemetry-api 1.30 to 1.45, `_logs/_internal/__init__.py`, `_set_logger_provider`.
    """
    from opentelemetry import _logs

    from agentool_otel.tracing.export.logs import LoggerProvider, resource_in_force

    if isinstance(_logs.get_logger_provider(), LoggerProvider):
        return
    provider = LoggerProvider(pipeline.log, pipeline.takes_logs_of, resource_in_force)
    insides: Any = getattr(_logs, "_internal", None)
    if hasattr(insides, "_LOGGER_PROVIDER") and hasattr(insides, "_LOGGER_PROVIDER_SET_ONCE"):
        insides._LOGGER_PROVIDER = provider
    else:
        _logs.set_logger_provider(provider)
