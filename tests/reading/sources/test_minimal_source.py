"""Whoever adds a source writes one method; everything else about it has a default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import agentool_otel
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources import opening
from agentool_otel.reading.sources.opening import open_source
from tests.cli.conftest import Invoke, invoke

__all__ = ["invoke"]


class Attic:
    """A source with nothing but spans."""

    def __init__(self, where: str):
        self._where = where

    def spans(self) -> Iterator[SpanRecord]:
        agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "attic"}
        yield SpanRecord("a" * 32, "b" * 16, name="invoke_agent attic", attributes=agent)


@pytest.fixture(autouse=True)
def attic(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("attic", f"{__name__}:Attic", "agentool_otel.sources")
    names = {**plugins("agentool_otel.sources"), "attic": entry}
    monkeypatch.setattr(opening, "plugins", lambda group: names)


def test_show_rebuild_and_load_read_it(invoke: Invoke, tmp_path: Path) -> None:
    shown = invoke("show", "attic://me:secret@old")
    assert (shown.exit_code, "attic" in shown.stdout) == (0, True), shown.output
    rebuilt = invoke("rebuild", "attic://old", "--fidelity", tmp_path / "f.jsonl")
    assert "1 trace, 1 span, no problems" in rebuilt.stderr
    assert json.loads((tmp_path / "f.jsonl").read_text())["store_loses"] == []
    assert [trace.agent_id for trace in agentool_otel.load("attic://old")] == ["attic"]


def test_it_is_read_beside_another(invoke: Invoke) -> None:
    assert "2 spans" in invoke("rebuild", "attic://old", "attic://older").stderr


def test_its_name_is_its_url_without_credentials() -> None:
    source = open_source("attic://me:secret@old")
    assert source.name == "attic://old"
    assert (source.problems, source.loses, source.bytes_total) == ([], (), None)
