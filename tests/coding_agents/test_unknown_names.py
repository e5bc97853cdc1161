"""A name of an agent's scope that no table has is reported as unread (finding K10)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from tests.coding_agents.missing import MISSING
from tests.coding_agents.test_session_laws import records

NAME = "brain_scan"


def telemetry(agent: str) -> list[SpanRecord]:
    """Return the spans of an agent's simplest recording that came by OTLP."""
    return [span for span in records(f"{agent}/answer") if span.end_ns and not span.made_ids]


@pytest.mark.parametrize("agent", MISSING)
def test_a_span_of_an_unknown_name_is_unread(agent: str) -> None:
    spans = telemetry(agent)
    own = [span for span in spans if not span.scope.startswith("@opentelemetry/")]
    inside = [span for span in own if span.parent_id] or own  # Gemini CLI's stand side by side
    inner = max(inside, key=lambda span: span.start_ns or 0)
    prefix = inner.name.partition(".")[0] + "." if "." in inner.name else ""
    attributes = {
        name: value
        for name, value in inner.attributes.items()
        if name.endswith((".id", "sessionId", "span.type")) and name != "gen_ai.tool.call.id"
    }
    if "span.type" in attributes:
        attributes["span.type"] = NAME
    unknown = replace(
        inner,
        span_id="ab" * 8,
        name=f"{prefix}{NAME}",
        attributes={**attributes, "depth": 3},
        events=[],
    )
    names = [name for run in rebuild([*spans, unknown]) for name in run.fidelity.unread_spans]
    assert f"{prefix}{NAME}" in names


@pytest.mark.parametrize("agent", MISSING)
def test_the_framework_of_a_session_is_its_agent(agent: str) -> None:
    assert {run.framework() for run in rebuild(records(f"{agent}/sub_agent"))} == {agent}
