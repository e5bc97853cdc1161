"""The shared run as Google Cloud Trace exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso

__all__ = ["EXPORTS"]


def _google_cloud_1() -> Json:
    return {"traces": [{"projectId": "p", "traceId": TRACE, "spans": [
        {"spanId": str(int(it.span_id, 16)), "name": it.name, "startTime": iso(it.begins),
         "endTime": iso(it.ends), "labels": {
             **{k: str(v) for k, v in it.attributes().items()},
             **({"/error/message": FAILED} if it.failed else {})},
         **({"parentSpanId": str(int(it.parent, 16))} if it.parent else {})}
        for it in RUN
    ]}]}  # fmt: skip


def _google_cloud_2() -> Json:
    def value(given: Json) -> Json:
        return {"intValue": str(given)} if type(given) is int else {"stringValue": {"value": given}}

    return {"spans": [{
        "name": f"projects/p/traces/{TRACE}/spans/{it.span_id}", "spanId": it.span_id,
        "parentSpanId": it.parent, "displayName": {"value": it.name}, "startTime": iso(it.begins),
        "endTime": iso(it.ends), "status": {"code": 2, "message": FAILED} if it.failed else {},
        "attributes": {"attributeMap": {k: value(v) for k, v in it.attributes().items()}},
    } for it in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Google Cloud Trace v1": _google_cloud_1,
    "Google Cloud Trace v2": _google_cloud_2,
}
