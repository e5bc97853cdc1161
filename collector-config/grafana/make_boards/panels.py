"""Parts of boards. Spec: Grafana's schema of boards, v1, in `@grafana/schema` 13.2."""

from __future__ import annotations

from typing import Any

__all__ = ["at_once", "board", "chart", "choice", "figure", "found", "over_time", "table"]

from links import LAST, search

Json = dict[str, Any]
_FIGURES = {"type": "prometheus", "uid": "${datasource}"}

# ---- queries


def at_once(expr: str, legend: str = "") -> Json:
    """One figure for all of the time shown."""
    way = {"instant": True, "range": False}
    return {"datasource": _FIGURES, "expr": expr, **way, "legendFormat": legend}


def over_time(expr: str, legend: str, exemplars: bool = False) -> Json:
    way = {"instant": False, "range": True, "exemplar": exemplars}
    return {"datasource": _FIGURES, "expr": expr, **way, "legendFormat": legend}


# ---- panels


def figure(
    title: str, description: str, unit: str, *targets: Json, width: int = 4, **defaults: Any
) -> Json:
    """A number, or two."""
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "none",
        "graphMode": "none",
        "textMode": "value_and_name" if len(targets) > 1 else "value",
    }
    panel = _panel("stat", title, description, (width, 4), targets, options)
    panel["fieldConfig"]["defaults"] = {"unit": unit, "noValue": "none", **defaults}
    return panel


_LINES = {"drawStyle": "line", "lineWidth": 2, "showPoints": "auto", "spanNulls": 600_000}
_BARS = {
    "drawStyle": "bars",
    "fillOpacity": 80,
    "lineWidth": 0,
    "stacking": {"mode": "normal", "group": "A"},
}


def chart(
    title: str,
    description: str,
    unit: str,
    *targets: Json,
    bars: bool = False,
    links: tuple[Json, ...] = (),
) -> Json:
    """Lines or bars over time; links are those of each query's result."""
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    panel = _panel("timeseries", title, description, (12, 8), targets, options)
    panel["interval"] = "1m"  # programs send once a minute
    defaults = {"unit": unit, "min": 0, "custom": _BARS if bars else _LINES}
    queries = [target["refId"] for target in panel["targets"]]
    linked = [
        _override("byFrameRefID", query, "links", [link])
        for query, link in zip(queries, links, strict=False)
    ]
    panel["fieldConfig"] = {"defaults": defaults, "overrides": linked}
    return panel


def table(
    title: str,
    description: str,
    rows: dict[str, str],
    link: Json,
    columns: dict[str, tuple[str, str]],
    sort: str,
    width: int = 24,
) -> Json:
    """A table of figures.

    Args:
        title: a question.
        description: what else is to be known.
        rows: the labels that a row has, and what their columns are called.
        link: that of a row, in its first column.
        columns: name to expression and unit.
        sort: name of the column, the greatest value first.
        width: of 24.
    """
    targets = [{**at_once(expr), "format": "table"} for expr, _ in columns.values()]
    options = {"cellHeight": "sm", "sortBy": [{"displayName": sort, "desc": True}]}
    panel = _panel("table", title, description, (width, 8), targets, options)
    values = [f"Value #{target['refId']}" for target in panel["targets"]]
    named = dict(zip(values if len(values) > 1 else ["Value"], columns, strict=True))
    organise = {
        "excludeByName": {"Time": True},
        "indexByName": {row: n for n, row in enumerate([*rows, *named])},
        "renameByName": {**rows, **named},
    }
    panel["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": organise},
    ]
    units = [_override("byName", name, "unit", unit) for name, (_, unit) in columns.items()]
    first = next(iter(rows.values()))
    panel["fieldConfig"]["overrides"] = [*units, _override("byName", first, "links", [link])]
    return panel


def found(title: str, description: str, query: str, **options: Any) -> Json:
    """A table of spans, each with a link to its trace, as Tempo's search gives it."""
    of_how_many = f"{description} Of the last {LAST} of the agents chosen, in all programs."
    cells = {"cellHeight": "sm", **options}
    return _panel("table", title, of_how_many, (12, 9), (search(query),), cells)


def _panel(
    kind: str,
    title: str,
    description: str,
    size: tuple[int, int],
    targets: tuple[Json, ...] | list[Json],
    options: Json,
) -> Json:
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": targets[0]["datasource"],
        "gridPos": {"w": size[0], "h": size[1], "x": 0, "y": 0},
        "targets": [{"refId": chr(ord("A") + n), **target} for n, target in enumerate(targets)],
        "options": options,
        "fieldConfig": {"defaults": {}, "overrides": []},
    }


def _override(matcher: str, which: str, key: str, value: Any) -> Json:
    matched = {"id": matcher, "options": which}
    return {"matcher": matched, "properties": [{"id": key, "value": value}]}


# ---- boards


def board(uid: str, title: str, description: str, choices: list[Json], *rows: list[Json]) -> Json:
    sources = [
        _source("datasource", "Metrics", "prometheus"),
        _source("traces", "Traces", "tempo"),
    ]
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["agents"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "graphTooltip": 1,
        "links": [_TO_THE_OTHER],
        "templating": {"list": [*sources, *choices]},
        "panels": _placed(rows),
    }


_TO_THE_OTHER = {
    "type": "dashboards",
    "title": "Agents",
    "tags": ["agents"],
    "icon": "dashboard",
    "asDropdown": False,
    "includeVars": True,
    "keepTime": True,
    "targetBlank": False,
    "tooltip": "",
    "url": "",
}


def choice(name: str, title: str, values: str) -> Json:
    """A variable of a board; all of its values unless some are chosen."""
    requests = {"qryType": 1, "query": values, "refId": "Variable"}
    return {
        "type": "query",
        "name": name,
        "label": title,
        "datasource": _FIGURES,
        "query": requests,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _source(name: str, title: str, kind: str) -> Json:
    return {"type": "datasource", "name": name, "label": title, "query": kind}


def _placed(rows: tuple[list[Json], ...]) -> list[Json]:
    """Rows from the top down, panels from left to right."""
    placed: list[Json] = []
    y = 0
    for row in rows:
        x = 0
        for item in row:
            placed.append(
                {"id": len(placed) + 1, **item, "gridPos": {**item["gridPos"], "x": x, "y": y}}
            )
            x += item["gridPos"]["w"]
        y += row[0]["gridPos"]["h"]
    return placed
