"""A store whose reader raises what nobody expects: the piece it reads is left out."""

from __future__ import annotations

import io
import json

import pytest

from agentool_otel.integrations.zipkin import store as zipkin
from agentool_otel.reading.sources.files.span_files import SpanFiles

SPAN = {"traceId": "1" * 32, "id": "2" * 16, "name": "x", "timestamp": 1, "duration": 1,
        "localEndpoint": {"serviceName": "shop"}}  # fmt: skip


@pytest.mark.parametrize("error", [TypeError, KeyError, OverflowError, AttributeError, MemoryError])
def test_an_error_of_a_store_costs_its_piece(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(span: dict[str, object]) -> object:
        if span["name"] == "odd":
            raise error("no span")
        return original(span)

    original = zipkin._record
    monkeypatch.setenv("AGENTOOL_OTEL_STRICT", "0")
    monkeypatch.setattr(zipkin, "_record", record)
    lines = [[SPAN], [{**SPAN, "name": "odd"}], [{**SPAN, "id": "3" * 16}]]
    files = SpanFiles([io.BytesIO("\n".join(map(json.dumps, lines)).encode())])
    assert [span.span_id for span in files.spans()] == ["2" * 16, "3" * 16]
    (problem,) = files.problems
    assert problem.message.startswith(f"left out: {error.__name__}: ")
