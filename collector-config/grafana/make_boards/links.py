"""Queries for Tempo, and links to them.

All of it was run by hand on a real Tempo of August 2026 that had the spans of real programs; tests
hold it to these forms: comparisons of attributes by `=` and `=~`, `status = error`, `&&`, and
`select` behind them.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

__all__ = ["LAST", "TRACES", "column", "label", "search", "spans", "to_traces"]

LAST = 100
"""Most spans that a search returns, the last ones."""
TRACES = {"type": "tempo", "uid": "${traces}"}
_ATTRIBUTES = {
    "operation": "gen_ai.operation.name",
    "agent": "gen_ai.agent.name",
    "tool": "gen_ai.tool.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "error": "error.type",
}


def spans(*also: str, select: tuple[str, ...] = (), **attributes: str) -> str:
    """Return the TraceQL for spans with given attributes; each selected attribute is a column."""
    wanted = [f'span.{_ATTRIBUTES[key]} = "{value}"' for key, value in attributes.items()]
    text = f"{{ {' && '.join([*wanted, *also])} }}"
    shown = ", ".join(f"span.{_ATTRIBUTES[key]}" for key in select)
    return f"{text} | select({shown})" if select else text


def search(query: str) -> dict[str, Any]:
    as_spans = {"limit": LAST, "tableType": "spans"}
    return {"datasource": TRACES, "queryType": "traceql", "query": query, **as_spans}


def to_traces(title: str, query: str) -> dict[str, Any]:
    """Return a link to Tempo's search; Grafana fills in the variables, which stay as they are."""
    shown = {"from": "${__from}", "to": "${__to}"}
    requests = {"datasource": TRACES["uid"], "queries": [{**search(query), "refId": "A"}]}
    panes = json.dumps({"a": {**requests, "range": shown}}, separators=(",", ":"))
    url = f"/explore?schemaVersion=1&panes={quote(panes, safe='${}')}"
    return {"title": title, "url": url, "targetBlank": True}


def column(name: str) -> str:
    """The value in a column of the row that the link is in."""
    return f"${{__data.fields.{name}:percentencode}}"


def label(name: str) -> str:
    """A label of the series that the link is on."""
    return f"${{__field.labels.{name}:percentencode}}"
