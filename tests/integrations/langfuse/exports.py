"""The shared run as Langfuse exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso, usage

__all__ = ["EXPORTS"]


def _langfuse_observations() -> Json:
    kinds = {"llm": "GENERATION", "tool": "TOOL", "agent": "AGENT"}
    return {"data": [{
        "id": it.span_id, "traceId": TRACE, "type": kinds[it.kind], "name": it.name,
        "parentObservationId": it.parent, "startTime": iso(it.begins), "endTime": iso(it.ends),
        "input": it.given, "output": it.gave, "level": "ERROR" if it.failed else "DEFAULT",
        "statusMessage": FAILED if it.failed else None, "sessionId": "s1",
        "providedModelName": "gpt-5", "usageDetails": usage(it, "input", "output"),
    } for it in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Langfuse observations v2": _langfuse_observations,
}
