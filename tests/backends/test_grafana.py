"""The boards, alerts and links for Grafana: a real Prometheus, to which real programs have sent
their metrics, answers their queries. No Grafana runs here: its drawing stays unseen.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from tests.backends.boards import (
    BOARDS,
    GRAFANA,
    board,
    filled,
    links,
    panels,
    promql,
    traceql,
)
from tests.backends.servers import wait_for
from tests.backends.workload import Measured, Route, workload

pytestmark = pytest.mark.backends
NOW = "2026-10"
SENT = [*((generation, route) for generation in (NOW, "2026-08", "1.41")
          for route in ("direct", "collector")), (NOW, "spans")]  # fmt: skip
NOT_COUNTED_BEFORE = {
    ("What are tokens used for?", "cached (part of the input)"),
    ("What are tokens used for?", "reasoning (part of the output)"),
}
NOT_FROM_SPANS = {
    ("Model calls a run", ""),
    ("Tool calls a run", ""),
    ("Which agent?", "model calls a run"),
    ("Which agent?", "tool calls a run"),
}
DOTS_NOT_FROM_SPANS = "How long until an answer begins?"


@pytest.fixture(scope="module", params=SENT, ids="-".join)
def measured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Measured]:
    generation, route = request.param
    with workload(generation, cast("Route", route), tmp_path_factory.mktemp("sent")) as item:
        yield item


def measured_boards(measured: Measured) -> list[str]:
    """1.41 has no metrics of agents and tools."""
    return ["models.json"] if measured.generation == "1.41" else BOARDS


def answer(measured: Measured, target: dict[str, Any]) -> list[dict[str, Any]]:
    """The series that a query of a panel gives, those without a number left out."""
    expr = filled(target["expr"])
    now = measured.ask("query", query="time()")["result"][0]
    if target["instant"]:
        result = measured.ask("query", query=expr)["result"]
        return [item for item in result if not math.isnan(float(item["value"][1]))]
    times = {"start": float(now) - 300, "end": now, "step": 15}
    result = measured.ask("query_range", query=expr, **times)["result"]
    return [
        item for item in result if any(not math.isnan(float(value)) for _, value in item["values"])
    ]


def figures(measured: Measured, name: str, title: str, column: int = 0) -> dict[str, float]:
    """Return the figures of a panel, by the values of its labels."""
    (panel,) = (panel for panel in panels(name) if panel["title"] == title)
    result = answer(measured, panel["targets"][column])
    return {" ".join(item["metric"].values()): float(item["value"][1]) for item in result}


def shown(panel: dict[str, Any], target: dict[str, Any]) -> str:
    """Return the label next to a query's figures: a column or a legend."""
    if panel["type"] != "table":
        return str(target["legendFormat"])
    renamed = panel["transformations"][1]["options"]["renameByName"]
    return str(renamed.get(f"Value #{target['refId']}", renamed.get("Value")))


def missing(measured: Measured) -> set[tuple[str, str]]:
    """Return the figures that are missing; the description of their panel explains why."""
    if measured.route == "spans":
        return NOT_FROM_SPANS
    return set() if measured.generation == NOW else NOT_COUNTED_BEFORE


def test_every_query_of_every_panel_has_an_answer(measured: Measured) -> None:
    silent = {
        (panel["title"], shown(panel, target)): panel["description"]
        for name in measured_boards(measured)
        for panel, target in promql(name)
        if not answer(measured, target)
    }
    assert silent.keys() == missing(measured)
    for description in silent.values():
        assert "spans alone" in description or "before 2026-10" in description


def test_the_figures_of_agents_are_those_of_the_spans(measured: Measured) -> None:
    if "agents.json" not in measured_boards(measured):
        pytest.skip("1.41 has no metrics of agents")
    runs = [*measured.of("invoke_agent")]
    failed = [run for run in runs if "error.type" in run.attributes]
    by_agent = Counter(str(run.attributes["gen_ai.agent.name"]) for run in runs)
    calls = [*measured.of("execute_tool")]
    by_tool = Counter(str(call.attributes["gen_ai.tool.name"]) for call in calls)
    assert figures(measured, "agents.json", "Runs") == {"": len(runs)}
    share = figures(measured, "agents.json", "Runs that failed")
    assert share == {"": pytest.approx(len(failed) / len(runs))}
    assert figures(measured, "agents.json", "Which agent?") == by_agent
    assert figures(measured, "agents.json", "Which tools are slow, which fail?") == by_tool
    assert figures(measured, "agents.json", "Which tools are slow, which fail?", 1) == {
        **dict.fromkeys(by_tool, 0.0),
        "forecast": 1.0,
    }
    errors = figures(measured, "agents.json", "With which errors do tools fail?")
    assert errors == {"TimeoutError forecast": 1.0}


def test_bars_add_up_to_what_was_counted(measured: Measured) -> None:
    calls = len([*measured.of("chat")])
    (panel,) = (
        panel for panel in panels("models.json") if panel["title"] == "Which models are called?"
    )
    now = float(measured.ask("query", query="time()")["result"][0])
    times = {"start": now - 600, "end": now, "step": 60}
    ask = measured.ask("query_range", query=filled(panel["targets"][0]["expr"]), **times)
    assert sum(float(value) for item in ask["result"] for _, value in item["values"]) == calls


def test_the_figures_of_models_are_those_of_the_spans(measured: Measured) -> None:
    calls = [*measured.of("chat")]
    failed = [call for call in calls if "error.type" in call.attributes]

    def model(span: Any) -> str:
        names = ("gen_ai.provider.name", "gen_ai.request.model")
        return " ".join(str(span.attributes[name]) for name in names)

    def used(kind: str) -> dict[str, float]:
        counted = Counter[str]()
        for call in calls:
            counted[model(call)] += int(call.attributes.get(kind, 0))
        return {name: count for name, count in counted.items() if count}

    def said(column: int) -> dict[str, float]:
        table = figures(measured, "models.json", "Which model?", column)
        return {name: value for name, value in table.items() if value}

    assert figures(measured, "models.json", "Calls") == {"": len(calls)}
    assert said(0) == Counter(map(model, calls))
    assert sum(figures(measured, "models.json", "With which errors do calls fail?").values()) == (
        len(failed)
    )
    assert said(5) == used("gen_ai.usage.input_tokens")
    assert said(6) == used("gen_ai.usage.output_tokens")


def test_dots_on_charts_lead_to_traces_that_were_sent(measured: Measured) -> None:
    traces = {span.trace_id for span in measured.spans}
    now = measured.ask("query", query="time()")["result"][0]
    for name in measured_boards(measured):
        dotted = [(panel, item) for panel, item in promql(name) if item.get("exemplar")]
        assert dotted
        for panel, target in dotted:
            if measured.route == "spans" and panel["title"] == DOTS_NOT_FROM_SPANS:
                assert "from spans alone there are none" in panel["description"]
                continue
            times = {"start": float(now) - 300, "end": now}
            ask = measured.ask("query_exemplars", query=filled(target["expr"]), **times)
            ids = {dot["labels"]["trace_id"] for item in ask for dot in item["exemplars"]}
            scrapes = measured.ask("query", query="up[5m]")["result"]
            assert ids, (name, panel["title"], target["expr"], scrapes)
            assert ids <= traces


def test_links_and_columns_name_what_an_answer_has(measured: Measured) -> None:
    for name in measured_boards(measured):
        for panel, target in promql(name):
            if (panel["title"], shown(panel, target)) in missing(measured):
                continue
            urls = " ".join(link["url"] for link in links(panel, target["refId"]))
            wanted = {*re.findall(r"__field\.labels\.(\w+)", urls)}
            columns = {*re.findall(r"__data\.fields\.(\w+)", urls)}
            if panel["type"] == "table":
                renamed = panel["transformations"][1]["options"]["renameByName"]
                wanted |= {item for item in renamed if not item.startswith("Value")}
                assert columns <= {*renamed.values()}
            labels = {label for item in answer(measured, target) for label in item["metric"]}
            assert wanted <= labels


def test_what_is_asked_of_tempo_is_on_the_spans(measured: Measured) -> None:
    spans = {key for span in measured.spans for key in span.attributes}
    boards = [query for name in BOARDS for panel in panels(name) for query in traceql(panel)]
    assert {*re.findall(r"span\.([\w.]+)", " ".join(boards))} <= spans


def test_choices_of_a_board_are_what_programs_sent(measured: Measured) -> None:
    chosen: dict[str, set[str]] = {}
    for name in measured_boards(measured):
        for variable in board(name)["templating"]["list"]:
            if variable["type"] == "query":
                values = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
                assert values
                series, label = filled(values[1]), values[2]
                ask = measured.ask(f"label/{label}/values", **{"match[]": series})
                chosen.setdefault(variable["name"], set()).update(ask)
    if measured.generation != "1.41":
        assert chosen.pop("agent") == {"researcher", "writer", "unlucky"}
    assert chosen == {
        "program": {"client", "decorated", "unlucky"},
        "provider": {"openai", "anthropic"},
        "model": {"gpt-5", "gpt-5-mini", "claude-sonnet-5"},
    }


def test_alerts_fire(measured: Measured) -> None:
    expected = {"AgentRunsFail", "ModelCallsFail", "ManyTokens"}
    if measured.generation == "1.41":
        expected.remove("AgentRunsFail")

    def firing() -> bool:
        alerts = measured.ask("alerts")["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts} == expected

    assert wait_for(firing), measured.ask("alerts")
    groups = measured.ask("rules")["groups"]
    assert {rule["health"] for group in groups for rule in group["rules"]} == {"ok"}
    rules = {rule["name"]: rule["query"] for group in groups for rule in group["rules"]}
    nothing = rules["NothingArrives"]
    now = float(measured.ask("query", query="time()")["result"][0])
    assert measured.ask("query", query=nothing)["result"] == []
    assert len(measured.ask("query", query=nothing, time=now + 2400)["result"]) == 1


def test_a_span_leads_to_the_figures_of_what_it_calls(measured: Measured) -> None:
    if measured.generation == "1.41":
        pytest.skip("1.41 has no metrics of agents")
    tempo = provisioned("datasources")["datasources"][1]
    for query in tempo["jsonData"]["tracesToMetrics"]["queries"]:
        expr = query["query"].replace("$$", "$")
        (tag,) = re.findall(r'\$\{__span\.tags\["([\w.]+)"\]\}', expr)
        values = {str(span.attributes[tag]) for span in measured.spans if tag in span.attributes}
        for value in values:
            text = expr.replace(f'${{__span.tags["{tag}"]}}', value)
            assert measured.ask("query", query=text)["result"], text


def provisioned(description: str) -> Any:
    return yaml.safe_load(
        (GRAFANA / "provisioning" / description / f"{description}.yaml").read_text()
    )


def test_what_is_provisioned_is_where_docker_compose_puts_it() -> None:
    compose = yaml.safe_load((GRAFANA.parent.parent / "docker-compose.yml").read_text())
    prometheus, tempo = provisioned("datasources")["datasources"]
    for source in (prometheus, tempo):
        host = source["url"].split("/")[2].partition(":")[0]
        assert host == source["type"]
        assert host in compose["services"]
    assert prometheus["jsonData"]["exemplarTraceIdDestinations"] == [
        {"name": "trace_id", "datasourceUid": tempo["uid"]}
    ]
    assert tempo["jsonData"]["tracesToMetrics"]["datasourceUid"] == prometheus["uid"]
    (provider,) = provisioned("dashboards")["providers"]
    mounts = [volume.split(":")[1] for volume in compose["services"]["grafana"]["volumes"]]
    assert provider["options"]["path"] in mounts


def test_boards_are_what_their_script_writes(tmp_path: Path) -> None:
    shutil.copytree(GRAFANA / "make_boards", tmp_path / "make_boards")
    (tmp_path / "boards").mkdir()
    subprocess.run([sys.executable, str(tmp_path / "make_boards")], check=True)
    assert BOARDS
    for name in BOARDS:
        written = (tmp_path / "boards" / name).read_text()
        assert written == (GRAFANA / "boards" / name).read_text()


# What was run on a real Tempo 3, which cannot be had here.
_ONE = r'(span\.[\w.]+ (=|=~) "[^"]*"|status = error)'
_TRACEQL = re.compile(rf"\{{ {_ONE}( && {_ONE})* \}}( \| select\(span\.[\w.]+(, span\.[\w.]+)*\))?")


@pytest.mark.parametrize("name", BOARDS)
def test_board_files_are_readable_by_everyone(name: str) -> None:
    sources = {"${datasource}", "${traces}"}
    corners = set[tuple[int, int]]()
    for panel in panels(name):
        assert {item["datasource"]["uid"] for item in [panel, *panel["targets"]]} <= sources
        assert panel["description"].endswith(".")
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}  # fmt: skip
        assert corners.isdisjoint(cells)
        assert max(x for x, _ in cells) < 24
        corners |= cells
        for query in traceql(panel):
            assert _TRACEQL.fullmatch(query), query
        if panel["type"] != "stat":
            assert traceql(panel) or panel["title"] == "What are tokens used for?"


def test_promtool_takes_the_alerts() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool, which comes with Prometheus")
    done = subprocess.run(
        [promtool, "check", "rules", str(GRAFANA / "alerts.yaml")],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_boards_are_of_the_type_that_grafana_publishes(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm, for Grafana's types")
    wanted = ("@grafana/schema@13.2.3", "typescript@5")
    got = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", *wanted],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    if got.returncode:
        pytest.skip(f"needs Grafana's types: {got.stderr[-300:]}")
    lines = ['import type { Dashboard } from "@grafana/schema";']
    for n, name in enumerate(BOARDS):
        lines.append(f"export const board{n}: Dashboard = {json.dumps(board(name))};")
    (tmp_path / "boards.ts").write_text("\n".join(lines))
    options = ("--noEmit", "--strict", "--skipLibCheck", "--module", "esnext")
    done = subprocess.run(
        [str(tmp_path / "node_modules/.bin/tsc"), *options,
         "--moduleResolution", "bundler", "boards.ts"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
