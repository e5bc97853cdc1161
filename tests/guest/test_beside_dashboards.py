"""Names that dashboards read, while they are being moved from one generation to the next."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.tracing.capture import tool
from agentool_otel.tracing.spans.settings import settings

CALL = Inference(
    provider="x_ai", request_model="m", usage=Usage(input_tokens=1, cache_write_tokens=2)
)


def written(generation: str) -> dict[str, Any]:
    return GenAI(generation).write(CALL).attributes


def test_latest_is_the_baseline() -> None:
    assert written("latest") == GenAI().write(CALL).attributes


@pytest.mark.parametrize(
    ("generation", "url"),
    [
        ("latest", "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"),
        ("2026-08", "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"),
        ("1.41", "https://opentelemetry.io/schemas/1.41.0"),
        ("1.36", "https://opentelemetry.io/schemas/1.36.0"),
    ],
)
def test_every_scope_has_its_schema_url(spans: Any, generation: str, url: str) -> None:
    settings.configure(dialect=GenAI(generation))
    tool(lambda: None)()
    assert spans.only().instrumentation_scope.schema_url == url
