"""The run of `tests/reading/sources/encoders/exports.py`, as Google Cloud Trace exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso

__all__ = ["EXPORTS"]


def _google_cloud_1() -> Json:
    return {"traces": [{"projectId": "p", "traceId": TRACE, "spans": [
        {"spanId": str(int(act.span_id, 16)), "name": act.name, "startTime": iso(act.begins),
         "endTime": iso(act.ends), "labels": {
             **{k: str(v) for k, v in act.attributes().items()},
             **({"/error/message": FAILED} if act.failed else {})},
         **({"parentSpanId": str(int(act.parent, 16))} if act.parent else {})}
        for act in RUN
    ]}]}  # fmt: skip


def _google_cloud_2() -> Json:
    def value(value: Json) -> Json:
        return {"intValue": str(value)} if type(value) is int else {"stringValue": {"value": value}}

    return {"spans": [{
        "name": f"projects/p/traces/{TRACE}/spans/{act.span_id}", "spanId": act.span_id,
        "parentSpanId": act.parent, "displayName": {"value": act.name},
        "startTime": iso(act.begins),
        "endTime": iso(act.ends), "status": {"code": 2, "message": FAILED} if act.failed else {},
        "attributes": {"attributeMap": {k: value(v) for k, v in act.attributes().items()}},
    } for act in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Google Cloud Trace v1": _google_cloud_1,
    "Google Cloud Trace v2": _google_cloud_2,
}
