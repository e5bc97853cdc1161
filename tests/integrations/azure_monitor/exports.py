"""The shared run as Azure Monitor exports it."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso

__all__ = ["EXPORTS"]


def _application_insights() -> Json:
    rows: list[Json] = [{
        "timestamp": iso(act.begins), "id": act.span_id, "operation_Id": TRACE, "type": "InProc",
        "operation_ParentId": act.parent or TRACE, "name": act.name, "itemType": "dependency",
        "duration": (act.ends - act.begins) * 1000, "success": str(not act.failed),
        "customDimensions": json.dumps(act.attributes()),
    } for act in RUN]  # fmt: skip
    raised = {
        "timestamp": iso(4), "operation_Id": TRACE, "operation_ParentId": RUN[2].span_id,
        "itemType": "exception", "outerMessage": FAILED, "problemId": "ValueError",
        "customDimensions": "{}",
    }  # fmt: skip
    return [*rows, raised]


def _log_analytics() -> Json:
    names = {"timestamp": "TimeGenerated", "id": "Id", "operation_Id": "OperationId",
             "operation_ParentId": "ParentId", "name": "Name", "type": "DependencyType",
             "duration": "DurationMs", "success": "Success", "customDimensions": "Properties",
             "outerMessage": "OuterMessage", "problemId": "ProblemId",
             "itemType": "Type"}  # fmt: skip
    kinds = {"dependency": "AppDependencies", "exception": "AppExceptions"}
    return [{names[k]: kinds.get(v, v) if k == "itemType" else v for k, v in row.items()}
            for row in _application_insights()]  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Application Insights": _application_insights,
    "Log Analytics": _log_analytics,
}
