"""Destination of log records: one decision for `instrument()` and `doctor`.

Where spans go, unless the variables of the logs signal override this. A logger provider that the
application has set, before or after us, is left alone: its records go where it sends them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentool_otel.ground import otlp_settings
from agentool_otel.tracing.setup.destinations.plan import Plan, SpansTarget, plan_beside

if TYPE_CHECKING:
    from pathlib import Path

    from agentool_otel.tracing.export.pipeline import Pipeline

__all__ = ["apply", "current_description", "foreign_provider", "plan"]


def current_description(decided: Plan) -> str:
    """Return where log records go in words: the application may have set a provider meanwhile."""
    foreign = foreign_provider()
    return decided.description if foreign is None else _description_of(foreign)


def foreign_provider() -> str | None:
    """Return the class of the logger provider that the application has set, if one is."""
    from opentelemetry import _logs

    present: Any = _logs.get_logger_provider()
    kind = type(present)
    if kind.__name__ == "ProxyLoggerProvider" or kind.__module__.startswith("agentool_otel."):
        return None
    return f"{kind.__module__}.{kind.__qualname__}"


def _description_of(foreign: str) -> str:
    return f"the application's own logger provider ({foreign})"


def plan(environ: Mapping[str, str], spans: SpansTarget, endpoint_in_code: bool = False) -> Plan:
    """Decide where log records go; the arguments are those of `plan_beside`."""
    if (theirs := foreign_provider()) is not None:
        return Plan("application", _description_of(theirs))
    own_plan = plan_beside("logs", environ, spans, endpoint_in_code)
    if own_plan is not None:
        return own_plan
    if spans == "recorded":
        return Plan("record", "the recording of the spans")
    if spans == "elsewhere":
        return Plan("nowhere", "nowhere (spans are neither recorded nor sent)")
    hint = otlp_settings.variable("ENDPOINT", "logs")
    return Plan("nowhere", f"nowhere (hint: set {hint})")


def apply(pipeline: Pipeline, decided: Plan, folder: Path | None) -> None:
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
