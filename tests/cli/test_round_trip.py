"""The doctor's report on a run that came back changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentool_otel.cli._round_trip import _differences, _document, _rebuilt, _spans_of
from agentool_otel.cli.doctor import command
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.reading.sources.files.span_files import SpanFiles
from tests.click_runner import CliRunner
from tests.tracing.export.receiver import HttpReceiver


def self_test(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(command, ["--json", *arguments])
    results: dict[str, Any] = json.loads(done.stdout)["self_test"]
    return results


def test_a_run_that_arrives_whole_is_the_same() -> None:
    from io import BytesIO

    document = _document()
    sent = SpanFiles([BytesIO(encode_spans(_spans_of(document)))])
    assert list(_differences(document, _rebuilt(list(sent.spans())))) == []


def test_what_is_missing_or_different_is_named() -> None:
    document = _document()
    value = json.loads(json.dumps(document))
    del value["output"], value["steps"][0]
    value["steps"][2]["tool_result"]["output"] = "cut"
    assert list(_differences(document, value)) == [
        "output is missing",
        "the step reasoning is missing",
        "of the step tool_result, tool_result is different",
    ]


@pytest.mark.thorough
def test_an_unreachable_server_is_named() -> None:
    with HttpReceiver() as receiver:
        test = self_test("--endpoint", receiver.endpoint, "--source", "jaeger://127.0.0.1:9")
    assert test["ok"] is False
    assert "was accepted and not found: jaeger://127.0.0.1:9" in test["said"]


def test_the_doctor_cannot_ask_a_source_if_nothing_is_sent() -> None:
    test = self_test("--source", "jaeger://127.0.0.1:9")
    assert test["ok"] is False
    assert "hint: add --endpoint" in test["said"]
