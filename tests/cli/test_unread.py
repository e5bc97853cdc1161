"""Files that nobody understands: what `rebuild` and `validate` print of them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model import operations as ops
from tests.cli.conftest import Invoke
from tests.laws import many
from tests.programs import WRITERS, read_file, spans_of
from tests.reading.sources.encoders import ENCODERS, Encoder
from tests.reading.sources.encoders.values import pairs

KEEPS_NO_SCOPE = {
    encoder.name
    for encoder in ENCODERS
    for (span,) in [spans_of([ops.AgentInvocation()], WRITERS["OpenInference"])]
    if not encoder.kept(msgspec.structs.replace(span)).scope
}
ADDS_NAMES = {"Langfuse", "MLflow", "Phoenix", "Phoenix data frame", "TruLens"}
"""Stores whose own names make each span a known one."""
names = st.text("abcdefgh", min_size=3, max_size=8)


@pytest.mark.parametrize(
    "encoder",
    [encoder for encoder in ENCODERS if encoder.name not in ADDS_NAMES],
    ids=lambda encoder: encoder.name,
)
@settings(max_examples=many(10, fewer=5))
@given(scope=names, name=names, attribute=names)
def test_names_in_unknown_spans_are_listed(
    encoder: Encoder, scope: str, name: str, attribute: str
) -> None:
    (span,) = spans_of([ops.AgentInvocation()], WRITERS["OpenInference"])
    span.scope, span.name, span.attributes = scope, name, {f"zz.{attribute}": "x"}
    reading = read_file(encoder.encode([span]))
    assert reading.documents == []
    assert f"spans: {name} (1)" in reading.words
    assert f"zz.{attribute} (1)" in reading.words
    assert encoder.name in KEEPS_NO_SCOPE or f"scopes: {scope} (1)" in reading.words
    assert "why: no scope, span name or attribute is of a known vocabulary" in reading.words
    assert re.search(r" hint: agentool-otel show \S+spans --spans shows the spans", reading.words)


def test_validate_lists_them_too(invoke: Invoke, tmp_path: Path) -> None:
    (span,) = spans_of([ops.AgentInvocation()], WRITERS["OpenInference"])
    span.name, span.attributes = "a step", {"my.tool": "x"}
    (tmp_path / "spans.json").write_bytes(ENCODERS[0].encode([span]))
    printed = invoke("validate", tmp_path / "spans.json").stdout
    assert "spans: a step (1)" in printed
    assert "attributes: my.tool (1)" in printed
    assert "hint: docs/reference/vocabularies.md" in printed


@pytest.mark.parametrize("name", ["Langfuse", "Phoenix", "Jaeger UI", "MLflow", "SigNoz", "Zipkin"])
def test_validate_reads_exports_of_stores(invoke: Invoke, tmp_path: Path, name: str) -> None:
    (encoder,) = (encoder for encoder in ENCODERS if encoder.name == name)
    spans = spans_of([ops.AgentInvocation(agent_name="a")], WRITERS["OpenInference"])
    export = b'{"exportedBy": "%s", "rows": %s}' % (b"x" * 9000, encoder.encode(spans))
    (tmp_path / "export.json").write_bytes(export)
    result = invoke("validate", tmp_path / "export.json")
    assert "recording, 1 span" in result.stdout
    assert result.exit_code == 0


def test_validate_reads_log_records_without_their_spans(invoke: Invoke, tmp_path: Path) -> None:
    record = {
        "timeUnixNano": "1790000000000000000",
        "traceId": "a1" * 16,
        "spanId": "b2" * 8,
        "attributes": pairs({"event.name": "user_prompt", "session.id": "s", "prompt": "Hi"}),
    }
    scoped = {"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": [record]}
    (tmp_path / "logs.json").write_text(json.dumps({"resourceLogs": [{"scopeLogs": [scoped]}]}))
    result = invoke("validate", tmp_path / "logs.json")
    assert "recording, 1 span (1 claude_code)" in result.stdout


def test_the_hint_is_a_command_for_all_sources(invoke: Invoke, tmp_path: Path) -> None:
    (span,) = spans_of([ops.AgentInvocation()], WRITERS["OpenInference"])
    span.attributes = {"my.tool": "x"}
    files = [tmp_path / "one.json", tmp_path / "a file.json"]
    for file in files:
        file.write_bytes(ENCODERS[0].encode([span]))
    printed = invoke("rebuild", *files).stderr
    command = shlex.join(["agentool-otel", "show", *map(str, files), "--spans"])
    assert f" hint: {command} shows the spans" in printed
