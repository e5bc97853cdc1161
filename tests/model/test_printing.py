"""Documents in `print` and in a notebook: no absent member, and no text is more than text."""

from __future__ import annotations

import builtins
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel import evaluation, model
from agentool_otel.evaluation import trace_view as judged
from agentool_otel.evaluation.trace_diff import records
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.ground.untrusted_text import flat
from agentool_otel.integrations.agent_tool.documents import calls, tools
from agentool_otel.model import documents as documents_module
from agentool_otel.model import operations, spans
from agentool_otel.model.documents import (
    UNSET,
    AssertionResult,
    Document,
    EvalResult,
    ReasoningTrace,
    Step,
    ToolCall,
    ToolResult,
)
from tests import strategies
from tests.model.test_documents_laws import ALL, documents

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</td></table><h1>canary",
    "\"'><svg/onload=canary>",
    "&lt;b&gt; stays as it is",
    "$\\href{javascript:alert(1)}{canary}$",
    "[canary](javascript:alert(1)) **bold**",
    "\x1b[2Jcanary\x07 \u202ecanary\u2066\u200b\ud800",
    "{{canary}} ${canary} <%= canary %>",
]
TAGS = {"div", "p", "b", "br", "code", "table", "tr", "th", "td"}


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_trace(text: str) -> ReasoningTrace:
    """A trace that has a text wherever a trace can have one."""
    return ReasoningTrace(
        trace_id=text,
        agent_id=text,
        status=text,
        input=text,
        output={text: [text]},
        steps=[
            Step(type=text, content=text),
            Step(type="tool_call", tool_call=ToolCall(id=text, name=text, arguments={text: text})),
            Step(type="tool_call", tool_call=ToolCall(name=text, arguments=text)),
            Step(type="tool_result", tool_result=ToolResult(call_id=text, output=[text])),
            Step(type="tool_result", tool_result=ToolResult(call_id=text, error=text)),
            Step(type="handoff", to_agent=text, message=text),
            Step(type="memory_read", query=text, results=[text]),
            Step(type="memory_write", key=text, content={text: text}),
        ],
    )


def hostile_result(text: str) -> EvalResult:
    verdicts = [
        AssertionResult(assertion_type=text, passed=passed, reason=text)
        for passed in (True, False, None)
    ]
    return EvalResult(case_id=text, trace_id=text, passed=False, assertion_results=verdicts)


def pages(text: str) -> list[str]:
    trace, result = hostile_trace(text), hostile_result(text)
    shown: list[Document | Verdict] = [trace, result, *result.assertion_results[:1]]
    shown.append(not_evaluated(text))
    return [document._repr_html_() or "" for document in shown]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_markup(text: str) -> None:
    harmless = [Page(page) for page in pages("harmless")]
    for html, second in zip(pages(text), harmless, strict=True):
        page = Page(html)
        assert page.tags == second.tags
        assert page.tags <= TAGS
        assert page.attributes == {("class", "tex2jax_ignore mathjax_ignore")}
        assert page.open == []
        html.encode()


@given(st.text())
def test_any_text_stays_text(text: str) -> None:
    for html in pages(text):
        page = Page(html)
        assert page.tags <= TAGS
        assert page.attributes == {("class", "tex2jax_ignore mathjax_ignore")}
        assert page.open == []


@pytest.mark.parametrize("text", HOSTILE)
def test_print_shows_one_line_that_no_terminal_obeys(text: str) -> None:
    trace, result = hostile_trace(text), hostile_result(text)
    shown = [trace, *trace.steps, *trace.tool_calls(), *trace.tool_results(), result]
    for item in (*shown, *result.assertion_results, not_evaluated(text)):
        assert str(item) == flat(str(item))
        assert "\n" not in str(item)


def absent_free(text: str) -> bool:
    return "UNSET" not in text.replace("\\", "")


@pytest.mark.parametrize("cls", ALL)
def test_no_document_shows_an_absent_member(cls: type[Document]) -> None:
    @given(documents(cls))
    def law(data: dict[str, Any]) -> None:
        document = cls.from_dict(data)
        for shown in (str(document), repr(document), document._repr_html_() or ""):
            assert absent_free(shown) or "UNSET" in str(data)
            shown.encode("utf-8", "surrogatepass")

    law()


@given(strategies.traces)
def test_whatever_a_trace_lacks_its_parts_print_without_it(data: dict[str, Any]) -> None:
    trace = ReasoningTrace.from_dict(data)
    parts = [*trace.steps, *trace.tool_calls(), *trace.tool_results(), *trace.pairs(), trace]
    for part in parts:
        assert absent_free(f"{part} {part!r}") or "UNSET" in str(data)


def test_documents_made_by_hand_print_whatever_they_hold() -> None:
    odd: Any = {1, 2}
    values: list[Any] = [None, 5, b"bytes", odd, object(), float("nan"), [odd]]
    for value in values:
        call = ToolCall(name=value, arguments=value)
        trace = ReasoningTrace(
            trace_id=value, agent_id=value, status=value, steps=[Step(type=value, tool_call=call)]
        )
        result = EvalResult(case_id=value, passed=None, assertion_results=[])
        for item in (call, trace, result, *trace.steps):
            assert str(item)
            assert item._repr_html_() is None or item._repr_html_()


def test_a_trace_and_its_calls_print_in_one_line_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ToolCall(id="1", name="search", arguments={"query": "news", "limit": 5})
    trace = ReasoningTrace(
        trace_id="t1",
        agent_id="researcher",
        status="success",
        steps=[
            Step(type="tool_call", tool_call=call),
            Step(type="tool_result", tool_result=ToolResult(call_id="1", output=["a"])),
            Step(type="tool_call", tool_call=ToolCall(name="weather")),
        ],
    )
    print(trace)
    for request, result in trace.pairs():
        print(request, "→", result)
    assert capsys.readouterr().out.splitlines() == [
        "researcher: success, 3 steps, 2 tool calls [t1]",
        'search(query="news", limit=5) → ["a"]',
        "weather(…) → None",
    ]


def test_a_long_value_is_cut_and_its_length_is_named() -> None:
    assert str(ToolResult(output="x" * 5000)).endswith("x… (5,000 characters)")
    assert len(str(ToolResult(output="x" * 5000))) < 300
    trace = ReasoningTrace(trace_id="t", steps=[Step(type="reasoning", content="x" * 9000)] * 5000)
    assert len(trace._repr_html_() or "") < 200_000
    assert "4,800 more" in (trace._repr_html_() or "")


RECORDS = [
    cls
    for module in (operations, spans, documents_module, tools, calls, judged, records)
    for cls in vars(module).values()
    if isinstance(cls, type) and cls.__module__ == module.__name__
    if issubclass(cls, (msgspec.Struct, tuple))
]


@pytest.mark.parametrize("cls", RECORDS)
def test_the_repr_of_a_record_omits_absent_members(cls: type[Any]) -> None:
    """Members without a default are absent, too, where they may be."""
    if issubclass(cls, msgspec.Struct):
        required = [field.name for field in msgspec.structs.fields(cls) if field.required]
    else:
        required = [field for field in cls._fields if field not in cls._field_defaults]
    result = cls(**dict.fromkeys(required, UNSET if cls is evaluation.Call else None))
    assert "UNSET" not in repr(result)


def test_a_module_lists_its_public_names_only() -> None:
    for package in (agentool_otel, evaluation, model):
        assert sorted(dir(package)) == sorted(package.__all__)
    assert not [name for name in dir(agentool_otel) if hasattr(builtins, name)]


def test_a_verdict_prints_its_mark_and_reason() -> None:
    assert str(Verdict(False, 0.0, "it failed at step_001")) == "✗ it failed at step_001"
