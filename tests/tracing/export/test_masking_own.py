"""Our own attributes are exported without a check; those with similar names are checked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel.content.masking.credentials import MASK
from agentool_otel.content.policy import Policy
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.spans.sdk_spans import own_event_class
from agentool_otel.tracing.spans.settings import settings

SECRET = "hunter22hunter"
CONTENT = (gen_ai.TOOL_CALL_RESULT, agentool.STEP_CONTENT)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    settings.reset()
    yield
    settings.reset()


@tool
def canary_tool(function: Callable[[], object] = lambda: None) -> str:
    function()
    return "sunny"


@agent(name="weather")
def weather(function: Callable[[], object] = lambda: None) -> str:
    return canary_tool(function)


def recorded(call: Callable[[], object], policy: Policy) -> list[ReadableSpan]:
    """Return the spans of a call, as they were captured."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider, policy=policy)
    call()
    return list(exporter.get_finished_spans())


def steps(spans: list[ReadableSpan]) -> list[Any]:
    return [event for span in spans for event in span.events if event.name == agentool.STEP_EVENT]


# ------------------------------------------------------------------------------- events of a step


def test_step_events_of_ours_pass_as_they_are() -> None:
    policy = Policy(capture=True)
    spans = recorded(weather, policy)
    assert [type(event) for event in steps(spans)] == [own_event_class()] * 2
    masking = Masking(policy)
    assert [masking(span) is span for span in spans] == [True, True]


@pytest.mark.parametrize("name", [agentool.STEP_EVENT, "gen_ai.choice", "exception", "any"])
@pytest.mark.parametrize("scope", ["agentool_otel", "other"])
def test_an_event_that_others_add_is_cleaned_whatever_its_name(name: str, scope: str) -> None:
    content = {
        "password": SECRET,
        gen_ai.TOOL_CALL_RESULT: "canary",
        agentool.STEP_CONTENT: "canary",
    }
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer(scope).start_as_current_span("work") as span:
        span.add_event(name, content)
    (ended,) = exporter.get_finished_spans()
    left = Masking(Policy(capture=False))(ended)
    assert SECRET not in left.to_json()
    assert "canary" not in left.to_json()
    event = Masking(Policy(capture=True))(ended).events[0]
    assert dict(event.attributes or {}) == {**content, "password": MASK}


def test_an_event_that_a_user_adds_to_our_span_is_cleaned() -> None:
    def inside() -> None:
        trace.get_current_span().add_event(agentool.STEP_EVENT, {"password": SECRET})

    spans = recorded(lambda: weather(inside), Policy(capture=True))
    left = [Masking(Policy(capture=True))(span) for span in spans]
    assert SECRET not in "".join(span.to_json() for span in left)
    assert len(steps(left)) == 3


def test_step_events_are_masked_by_a_later_stricter_policy() -> None:
    spans = recorded(weather, Policy(capture=True))
    masking = Masking(Policy(capture=False))
    masking.distrust_open_spans()
    steps(spans)[0].attributes[agentool.STEP_CONTENT] = "a thought"
    assert "a thought" not in "".join(masking(span).to_json() for span in spans)


# --------------------------------------------------------------------------- everything is offered


def changes_everything(name: str, text: str) -> str:
    return "XX"


def test_every_text_of_a_run_is_offered() -> None:
    policy = Policy(capture=True, redact=changes_everything, redact_all=True)
    masking = Masking(policy)
    for span in recorded(weather, policy):
        left = masking(span)
        texts = [left.name, *_texts(dict(left.attributes or {}))]
        for event in left.events:
            texts += [event.name, *_texts(dict(event.attributes or {}))]
        assert [text for text in texts if "XX" not in text] == []


def test_tool_names_in_step_events_are_offered() -> None:
    def redact(name: str, text: str) -> str:
        return text.replace("canary", "XX")

    policy = Policy(capture=True, redact=redact, redact_all=True)
    spans = recorded(weather, policy)
    left = [Masking(policy)(span) for span in spans]
    names = [(event.attributes or {}).get(gen_ai.TOOL_NAME) for event in steps(left)]
    assert names == ["XX_tool", "XX_tool"]
    assert "canary" not in "".join(span.to_json() for span in left)


def _texts(attributes: dict[str, Any]) -> Iterator[str]:
    for key, value in attributes.items():
        yield key
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, str):
                yield one


# ------------------------------------------------------------------------------------- open spans

PROGRAM = """
import os, agentool_otel as ao
def redact(name, text):
    {redact}
ao.instrument(redact=redact, redact_all=True)
@ao.tool
def canary_tool(argument): os._exit(9)
@ao.agent
def bot(): canary_tool("canary")
bot()
"""


def killed(folder: Path, redact: str) -> subprocess.CompletedProcess[str]:
    """Run a program that dies inside a tool, and complete its recording."""
    (folder / "app.py").write_text(PROGRAM.format(redact=redact))
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, check=False, text=True
    )
    assert done.returncode == 9, done.stderr
    command = [sys.executable, "-m", "agentool_otel", "recover"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return done


@pytest.mark.parametrize(
    ("redact", "name"),
    [
        ("return text.replace('canary', 'XX')", "XX_tool"),
        ("return text if name == 'attribute.name' else name", "gen_ai.tool.name"),
    ],
)
def test_an_open_tool_at_a_kill_is_redacted(redact: str, name: str, tmp_path: Path) -> None:
    done = killed(tmp_path, redact)
    assert "failed while" not in done.stderr
    recording = "".join(path.read_text() for path in (tmp_path / ".agentool").glob("*.jsonl"))
    assert name in recording
    assert "canary" not in recording.replace("app.py", "")


@pytest.mark.parametrize("redact", ["return 'XX'", "return None", "raise RuntimeError", "return 7"])
def test_a_failing_redact_keeps_open_spans_without_texts(redact: str, tmp_path: Path) -> None:
    done = killed(tmp_path, redact)
    assert "failed while" not in done.stderr
    spans = list(open_source(tmp_path / ".agentool").spans())
    assert len(spans) == 2
    assert "canary" not in repr(spans)


@pytest.mark.parametrize("hidden", ["_redact", "name"])
def test_an_open_span_that_cannot_be_cleaned_keeps_its_identity_alone(
    hidden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy in place of a span that masking fails on has to be one of an open span, too."""
    policy = Policy(capture=True, redact=changes_everything, redact_all=True)
    masking = Masking(policy)
    left: list[ReadableSpan] = []

    def broken(*_: object) -> object:
        raise RuntimeError

    def inside() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(masking, hidden, broken)
            left.append(masking(trace.get_current_span()))  # type: ignore[arg-type]

    spans = recorded(lambda: weather(inside), policy)
    assert [span.get_span_context() for span in left] == [spans[0].get_span_context()]
    assert "canary" not in left[0].to_json()
    assert spans[0].attributes, "the span itself is as it was"
