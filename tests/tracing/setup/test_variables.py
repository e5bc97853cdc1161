"""`instrument()` under the variables of OpenTelemetry, in a process of its own for every case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.setup.test_setup import AGENT, run

START = f"{AGENT}agentool_otel.instrument(); clerk('?')\n"
DOWN = "http://127.0.0.1:9"


def recorded(folder: Path, code: str = START, **environ: str) -> list[dict[str, Any]]:
    """Run a program; return resource attributes and spans of its recording."""
    run(folder, code, **environ)
    lines = [
        json.loads(line)["resourceSpans"][0]
        for file in (folder / ".agentool").glob("*.jsonl")
        for line in file.read_text().splitlines()
    ]
    return [
        {
            "resource": {
                attribute["key"]: attribute["value"] for attribute in line["resource"]["attributes"]
            },
            **line["scopeSpans"][0]["spans"][0],
        }
        for line in lines
    ]


@pytest.mark.parametrize("exporter", ["none", "console"])
def test_an_exporter_overrules_an_endpoint(exporter: str, tmp_path: Path) -> None:
    done = run(
        tmp_path,
        START,
        OTEL_TRACES_EXPORTER=exporter,
        OTEL_LOGS_EXPORTER="none",
        OTEL_METRICS_EXPORTER="none",
        OTEL_EXPORTER_OTLP_ENDPOINT=DOWN,
    )
    assert done.stderr == ""
    assert ("invoke_agent clerk" in done.stdout) == (exporter == "console")
    assert list(tmp_path.iterdir()) == []


def test_headers_and_compression_reach_the_receiver(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        run(
            tmp_path,
            START,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            OTEL_EXPORTER_OTLP_HEADERS="x-team=blue",
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
        )
        assert len(receiver.names()) == 2
        assert {header["x-team"] for header in receiver.headers} == {"blue"}
        assert {header["content-encoding"] for header in receiver.headers} == {"gzip"}


@pytest.mark.parametrize(
    ("code", "environ", "name"),
    [
        ("", {"OTEL_SERVICE_NAME": "a", "OTEL_RESOURCE_ATTRIBUTES": "service.name=b"}, "a"),
        ("", {"OTEL_RESOURCE_ATTRIBUTES": "service.name=b"}, "b"),
        ("service_name='c'", {"OTEL_SERVICE_NAME": "a"}, "c"),
    ],
)
def test_the_service_has_the_name_it_is_given(
    code: str, environ: dict[str, str], name: str, tmp_path: Path
) -> None:
    for span in recorded(tmp_path, START.replace("instrument()", f"instrument({code})"), **environ):
        assert span["resource"]["service.name"] == {"stringValue": name}


def test_attributes_of_the_resource_are_on_every_span(tmp_path: Path) -> None:
    text = "deployment.environment.name=test,team=blue"
    spans = recorded(tmp_path, OTEL_RESOURCE_ATTRIBUTES=text)
    assert [span["resource"]["team"] for span in spans] == [{"stringValue": "blue"}] * 2


@pytest.mark.parametrize(
    "environ",
    [
        {"OTEL_TRACES_SAMPLER": "always_off"},
        {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"},
    ],
)
def test_what_the_sampler_leaves_out_is_not_recorded(
    environ: dict[str, str], tmp_path: Path
) -> None:
    assert recorded(tmp_path, **environ) == []


@pytest.mark.parametrize("name", ["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"])
def test_a_span_has_no_more_attributes_than_the_limit(name: str, tmp_path: Path) -> None:
    for span in recorded(tmp_path, **{name: "5"}):
        assert len(span["attributes"]) == 5
        assert span["droppedAttributesCount"] > 0


@pytest.mark.parametrize(
    "name", ["OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"]
)
def test_a_value_is_no_longer_than_the_limit(name: str, tmp_path: Path) -> None:
    for span in recorded(tmp_path, **{name: "9"}):
        texts = [attribute["value"].get("stringValue", "") for attribute in span["attributes"]]
        assert max(map(len, texts)) == 9


def test_a_span_has_no_more_events_than_the_limit(tmp_path: Path) -> None:
    code = START + "for i in range(9): clerk('?')\n"
    agents = [
        span
        for span in recorded(tmp_path, code, OTEL_SPAN_EVENT_COUNT_LIMIT="1")
        if span["name"] == "invoke_agent clerk"
    ]
    assert {len(span.get("events", ())) for span in agents} == {1}


COPIES = ("agentool.span.start_ns", "agentool.span.end_ns", "agentool.span.parent_id")


def test_a_recording_holds_what_stores_may_round(tmp_path: Path) -> None:
    tool_span, _ = recorded(tmp_path)
    assert {attribute["key"] for attribute in tool_span["attributes"]}.issuperset(COPIES)


@pytest.mark.parametrize(("said", "sent"), [("", False), ("on", True)])
def test_sent_spans_do_not_repeat_their_times_by_default(
    tmp_path: Path, said: str, sent: bool
) -> None:
    with HttpReceiver() as receiver:
        run(
            tmp_path,
            START,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            AGENTOOL_SPAN_COPIES=said,
        )
        bodies = b"".join(receiver.bodies["/v1/traces"])
    assert {name.encode() in bodies for name in COPIES} == {sent}


def test_what_metrics_need_is_loaded_before_the_first_call(tmp_path: Path) -> None:
    code = f"""{AGENT}
import sys
agentool_otel.instrument(endpoint={DOWN!r})
before = set(sys.modules)
clerk('?')
print([it for it in sys.modules if it not in before and not it.startswith('agentool_otel.')])
"""
    assert run(tmp_path, code).stdout == "[]\n"


CALL = f"""{AGENT}
agentool_otel.instrument()
with agentool_otel.run("desk"), agentool_otel.model_call("m", provider="p") as call:
    call.usage(3, 4)
"""
USAGE = b"gen_ai.usage.input_tokens"


def test_a_recording_has_the_tokens_of_an_agent(tmp_path: Path) -> None:
    run(tmp_path, CALL)
    [file] = (tmp_path / ".agentool").glob("*.jsonl")
    assert file.read_bytes().count(USAGE) == 2


@pytest.mark.parametrize(("value", "spans"), [("", 1), ("on", 2)])
def test_over_the_network_an_agent_has_no_tokens_unless_asked(
    tmp_path: Path, value: str, spans: int
) -> None:
    """A backend that sums over all spans would count them twice."""
    with HttpReceiver() as receiver:
        endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint}
        run(tmp_path, CALL, AGENTOOL_AGENT_USAGE=value, **endpoint)
    assert b"".join(receiver.bodies["/v1/traces"]).count(USAGE) == spans
