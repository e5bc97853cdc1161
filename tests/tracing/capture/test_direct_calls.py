"""Direct calls whose end is told again, or cannot be written as it should."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.otlp.span_parts import JsonParts, LineTemplates
from agentool_otel.tracing.capture import _call_sites, agent, tool
from agentool_otel.tracing.capture._call_sites import AgentSite, ToolSite
from agentool_otel.tracing.spans.direct_call import Sharing
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.export.test_direct_law import configured


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Sharing, "usual_calls", 0)
    yield
    settings.reset()


def recorded(folder: Path) -> list[dict[str, Any]]:
    """Return the spans in a folder."""
    (path,) = folder.glob("*.jsonl")
    lines = map(json.loads, path.read_text().splitlines())
    return [line["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for line in lines]


@pytest.mark.parametrize("site", [ToolSite, AgentSite])
@pytest.mark.parametrize("first", ["returned", "raised", "abandoned"])
def test_a_second_end_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, site: type, first: str
) -> None:
    pipeline = configured(lambda it: it.record(tmp_path), direct=True)
    made = site(lambda text: text, "work", None, "function" if site is ToolSite else None)
    call = made.begin(("hello",), {})
    assert isinstance(call, (_call_sites._DirectCall, _call_sites._DirectRun))
    ends: dict[str, Callable[[], None]] = {
        "returned": lambda: call.returned("done"),
        "raised": lambda: call.raised(ValueError("no luck")),
        "abandoned": lambda: call.abandoned(None),
    }
    ends[first]()
    before = recorded(tmp_path)
    for end in ends.values():
        end()
    assert recorded(tmp_path) == before
    assert len(before) == pipeline.counts()["created"] == 1
    assert caplog.messages == []


@pytest.mark.parametrize("decorate", [tool, agent])
def test_a_line_that_cannot_be_put_together_is_encoded_as_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decorate: Any
) -> None:
    pipeline = configured(lambda it: it.record(tmp_path), direct=True)
    made: Callable[..., LineTemplates] = JsonParts.templates

    def damaged(parts: JsonParts, name: str, kind: Any) -> LineTemplates:
        return made(parts, name, kind)._replace(ended=b"%d")

    monkeypatch.setattr(JsonParts, "templates", damaged)

    def work(text: str) -> str:
        return f"an answer to {text}"

    assert decorate(name="work")(work)("hello")
    (span,) = recorded(tmp_path)
    assert "an answer to hello" in json.dumps(span)
    assert "endTimeUnixNano" in span
    assert pipeline.counts()["created"] == 1


def test_templates_hold_what_surrounds_a_span(tmp_path: Path) -> None:
    configured(lambda it: it.record(tmp_path), direct=True)

    def work(text: str) -> str:
        return text

    assert tool(name="100 % work")(work)("50 % done") == "50 % done"
    (span,) = recorded(tmp_path)
    assert span["name"] == "execute_tool 100 % work"
