"""The boards of `collector-config/grafana/`, and their queries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from tests.backends.servers import CONFIGS

__all__ = ["BOARDS", "GRAFANA", "board", "filled", "links", "panels", "promql", "traceql"]

Json = dict[str, Any]
GRAFANA = CONFIGS / "grafana"
BOARDS = sorted(path.name for path in (GRAFANA / "boards").iterdir())
_FILLED = {
    "$__range": "1h",
    "$__interval": "1m",
    "$__rate_interval": "4m",
    **{f"${name}": ".*" for name in ("program", "agent", "provider", "model")},
}
_VARIABLE = re.compile(r"\$\w+")


def board(name: str) -> Json:
    return dict(json.loads((GRAFANA / "boards" / name).read_text()))


def panels(name: str) -> list[Json]:
    return list(board(name)["panels"])


def filled(expr: str) -> str:
    """Put values where Grafana would; a variable that is not known is an error."""
    return _VARIABLE.sub(lambda item: _FILLED[item.group()], expr)


def promql(name: str) -> Iterator[tuple[Json, Json]]:
    """Yield every query of Prometheus, with its panel."""
    for panel in panels(name):
        for target in panel["targets"]:
            if target["datasource"]["type"] == "prometheus":
                yield panel, target


def links(panel: Json, query: str | None = None) -> list[Json]:
    """Return the links of a panel's rows or series, and of one query's result if named."""
    return [
        link
        for override in panel["fieldConfig"]["overrides"]
        if override["matcher"]["id"] == "byName" or query in (None, override["matcher"]["options"])
        for item in override["properties"]
        if item["id"] == "links"
        for link in item["value"]
    ]


def traceql(panel: Json) -> list[str]:
    """Return the Tempo queries of a panel and its links."""
    queries = [
        target["query"] for target in panel["targets"] if target["datasource"]["type"] == "tempo"
    ]
    linked = [unquote(link["url"]).partition("&panes=")[2] for link in links(panel)]
    return [*queries, *(json.loads(item)["a"]["queries"][0]["query"] for item in linked)]
