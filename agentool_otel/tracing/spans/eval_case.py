"""The evaluation case that a run is a try of, where whoever starts it names the case from outside:
a harness that starts a program with a variable, or that calls a service with baggage.

`run(case_id=...)` wins over baggage, baggage over the variable.
"""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry import baggage
from opentelemetry.context import Context

from agentool_otel.content.policy import label
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.run import RUN_KEY
from agentool_otel.tracing.spans.settings import settings

__all__ = ["case_attributes"]

_NONE: Mapping[str, str] = {}


def case_attributes(context: Context) -> Mapping[str, str]:
    """Return the case attributes of a span that starts in a context: none inside a run, which has
    the case of all its work.
    """
    if context.get(RUN_KEY) is not None:
        return _NONE
    case_id = baggage.get_baggage(agentool.CASE_ID, context) or settings.case_id
    text = label(case_id) if case_id else ""
    return {agentool.CASE_ID: text} if text else _NONE
