"""Our spans as a person sees them in a real Jaeger."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.cli.doctor import command as doctor
from tests.backends.servers import jaeger, wait_for
from tests.click_runner import CliRunner
from tests.pages._model import the_model
from tests.pages.sending import PROGRAMS
from tests.pages.sending import send as run_program

pytestmark = pytest.mark.backends


def tags_in(api: str, service: str) -> list[str]:
    """The names of all tags on the spans of a service."""
    with urllib.request.urlopen(f"{api}/api/traces?service={service}&lookback=1h") as answer:
        data: list[dict[str, Any]] = json.load(answer)["data"]
    spans = [span for trace in data for span in trace["spans"]]
    return [tag["key"] for span in spans for tag in span["tags"]]


def test_the_doctor_sends_a_run_and_finds_it_there(tmp_path: Path) -> None:
    with jaeger(tmp_path) as running:
        source = running.query.replace("http", "jaeger", 1)
        done = CliRunner().invoke(
            doctor, ["--json", "--endpoint", running.http, "--source", source]
        )
    test = json.loads(done.stdout)["self_test"]
    assert test["ok"], test
    assert "5 of 5 spans of a run were found" in test["said"]
    assert "its trajectory is the same" in test["said"]


def test_at_most_a_tenth_of_the_tags_are_ours(tmp_path: Path) -> None:
    pytest.importorskip("langgraph")
    with jaeger(tmp_path) as running, the_model() as model:
        requests = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "none"}
        for program in PROGRAMS:
            run_program(program, running.http, requests)
        wait_for(lambda: all(tags_in(running.query, program) for program in PROGRAMS))
        tags = [tag for program in PROGRAMS for tag in tags_in(running.query, program)]
    assert len(tags) > 200
    assert sum(tag.startswith("agentool.") for tag in tags) <= len(tags) / 10
