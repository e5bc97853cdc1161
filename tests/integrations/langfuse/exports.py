"""The shared run as Langfuse exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso, usage

__all__ = ["EXPORTS"]


def _langfuse_observations() -> Json:
    kinds = {"llm": "GENERATION", "tool": "TOOL", "agent": "AGENT"}
    return {"data": [{
        "id": act.span_id, "traceId": TRACE, "type": kinds[act.kind], "name": act.name,
        "parentObservationId": act.parent, "startTime": iso(act.begins), "endTime": iso(act.ends),
        "input": act.given, "output": act.gave, "level": "ERROR" if act.failed else "DEFAULT",
        "statusMessage": FAILED if act.failed else None, "sessionId": "s1",
        "providedModelName": "gpt-5", "usageDetails": usage(act, "input", "output"),
    } for act in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Langfuse observations v2": _langfuse_observations,
}
