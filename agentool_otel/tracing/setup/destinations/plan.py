"""The plan of one signal: where it goes, decided before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, Union

from agentool_otel.ground import environment, otlp_settings

if TYPE_CHECKING:
    from agentool_otel.tracing.export.send.otlp import OtlpTarget

__all__ = ["Plan", "SpansTarget", "plan_beside", "plan_of_variable", "plan_to_send"]

SpansTarget = Union["OtlpTarget", Literal["recorded", "application", "elsewhere"]]
"""Target of spans. `recorded` is the recording, `application` a tracer provider of the application
with nothing of ours behind it, `elsewhere` all the rest.
"""


class Plan(NamedTuple):
    """Destination of one signal."""

    way: Literal["application", "nowhere", "record", "send", "print"]
    description: str
    """The same in words."""
    target: OtlpTarget | None = None

    @property
    def ours(self) -> bool:
        """Return whether the signal passes through our pipeline."""
        return self.way not in ("application", "nowhere")

    def same_destination(self, other: Plan) -> bool:
        """Return whether both lead to the same place. An endpoint with other credentials is
        another.
        """
        mine, its = self.target, other.target
        return (self.way, self.description, mine and mine.endpoint, mine and mine.also) == (
            other.way,
            other.description,
            its and its.endpoint,
            its and its.also,
        )


def plan_to_send(target: OtlpTarget) -> Plan:
    """Return the plan that sends a signal to a target."""
    return Plan("send", f"{target} ({target.protocol})", target)


def plan_of_variable(signal: environment.Signal, environ: Mapping[str, str]) -> Plan | None:
    """Return the plan of `OTEL_{SIGNAL}_EXPORTER=none` or `console`; None for other values."""
    from agentool_otel.tracing.export.otlp_variables import exporter

    variable = environment.exporter_variable(signal)
    value = exporter(environ, signal)
    if value == "none":
        return Plan("nowhere", f"nowhere ({variable}=none)")
    if value == "console":
        return Plan("print", f"the console ({variable}=console)")
    return None


def plan_beside(
    signal: environment.Signal,
    environ: Mapping[str, str],
    spans: SpansTarget,
    endpoint_in_code: bool,
) -> Plan | None:
    """Plan a signal that goes where spans are sent, unless its own variables override this.

    Args:
        signal: the signal, `logs` or `metrics`.
        environ: the environment.
        spans: where spans are sent.
        endpoint_in_code: whether the target of the spans is named in code. It then takes the place
            of the environment's.

    Returns:
        None if spans are not sent and no variable names another place.
    """
    from agentool_otel.tracing.export.otlp_variables import named_alone
    from agentool_otel.tracing.export.send.otlp import target_beside

    if spans == "application" and not named_alone(environ, signal):
        hint = otlp_settings.variable("ENDPOINT", signal)
        why = "spans go to the application's own tracer provider"
        return Plan("nowhere", f"nowhere ({why}; hint: set {hint})")
    if (plan := plan_of_variable(signal, environ)) is not None:
        return plan
    sent = None if isinstance(spans, str) else spans
    target = target_beside(sent, environ, signal, endpoint_in_code)
    return None if target is None else plan_to_send(target)
