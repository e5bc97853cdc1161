"""The reports of `eval`: what each says, how long it may get, and that no text of a result becomes
anything but text."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agentool_otel import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.errors import MissingDependencyError
from agentool_otel.evaluation.reports import Report, Subject, html
from agentool_otel.evaluation.reports.html import Page
from agentool_otel.evaluation.reports.junit import JUnit
from agentool_otel.evaluation.reports.markdown import Markdown
from agentool_otel.evaluation.reports.result_texts import rate_of
from agentool_otel.evaluation.reports.slices import Slices
from tests.laws import many

OUTCOMES = (False, None, True)
TRACE = Subject(ReasoningTrace(trace_id="tr_1", agent_id="researcher", steps=[]))
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "`", "``` ` ",
    "</details>", "| a | b |\n| --- |", "@octocat #1 https://x.example a@b.example :+1:", "&lt;",
    "]]>", "\x00\x1b[31m", "\ud800", "\u202etxt", "-->", "[x](javascript:alert(1))", "\\`|", "",
    "</style>", "</li>\n\n# heading", "    code", "~~~", "<!--", "\u2028", "*_~", "' onload='x",
)  # fmt: skip
texts = st.text(max_size=20) | st.sampled_from(HOSTILE)


def held(passed: bool | None, kind: str = "status", reason: str = "why") -> AssertionResult:
    return AssertionResult(
        assertion_type=kind, passed=passed, reason=reason, extra={"step_ids": ["step_001"]}
    )


def result(passed: bool | None, *results: AssertionResult, **members: Any) -> EvalResult:
    return EvalResult(
        case_id=members.pop("case_id", "case"),
        trace_id=members.pop("trace_id", "tr_1"),
        passed=passed,
        assertion_results=list(results) or [held(passed)],
        **members,
    )


def written(make: Any, *results: EvalResult, subject: Subject = TRACE) -> str:
    stream = io.BytesIO()
    report: Report = make(stream) if make is JUnit else make(stream, "agent")
    for each in results:
        report.add(each, subject)
    report.finish()
    return stream.getvalue().decode()


def saying(text: str) -> list[EvalResult]:
    """One result of each outcome, each saying a text wherever it can say one."""
    return [
        result(
            passed,
            *(
                AssertionResult(
                    assertion_type=text, passed=it, reason=text, extra={"step_ids": [text]}
                )
                for it in OUTCOMES
            ),
            case_id=text,
            trace_id=text,
            evaluated_at=text,
        )
        for passed in OUTCOMES
    ]


def about(text: str) -> Subject:
    said = {"model": text, "tags": [text]}
    call = {"id": "c", "name": text, "arguments": {text: text}}
    steps = [
        {"step_id": text, "type": "reasoning", "content": text},
        {"step_id": "s2", "type": "tool_call", "tool_call": call},
        {"step_id": "s3", "type": "tool_result", "tool_result": {"call_id": "c", "error": text}},
        {"step_id": "s4", "type": "handoff", "to_agent": text, "message": text},
    ]
    trace = ReasoningTrace.from_dict(
        {
            "trace_id": text,
            "agent_id": text,
            "started_at": text,
            "metadata": said,
            "input": text,
            "output": {text: text},
            "steps": steps,
            "status": "success",
        }
    )
    return Subject(trace)


# --------------------------------------------------------------------------------------- HTML


class Structure(HTMLParser):
    """All of a page but its text."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.found: list[Any] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(tag)

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.found.append(("declaration", decl))

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


@given(texts.filter(lambda it: it.strip() != ""))
@settings(max_examples=50)
def test_all_text_of_a_result_is_plain_text_on_the_page(text: str) -> None:
    harmless = Structure(written(Page, *saying("x"), subject=about("x")))
    said = Structure(written(Page, *saying(text), subject=about(text)))
    assert said.found == harmless.found


def test_the_page_details_what_did_not_pass_and_counts_the_rest() -> None:
    page = written(
        Page,
        result(True, case_id="fine", composite_score=1),
        result(None, held(None, "rubric", "no judge"), case_id="unsure"),
        result(False, held(True, "latency", "fast"), held(False, "status", "it is error")),
    )
    text = " ".join(Structure(page).text.split())
    assert "1 of 3 results failed" in text
    assert "3 of 4" in text
    assert "researcher 3 1 1 1 50% 1.000" in text
    assert "✗ failed status: it is error steps: step_001 ✓ passed latency: fast" in text
    assert "- not evaluated rubric: no judge" in text
    assert text.index("Failed: 1") < text.index("Not evaluated: 1") < text.index("Passed: 1")


def test_the_page_shows_the_run_with_the_reasons_at_its_steps() -> None:
    steps: list[Any] = [
        {"step_id": f"s{n}", "type": "reasoning", "content": f"thought {n}"} for n in range(100)
    ]
    call = {"id": "c", "name": "pay", "arguments": {"order": 7}}
    steps[80:80] = [
        {"step_id": "asks", "type": "tool_call", "tool_call": call},
        {"step_id": "fails", "type": "tool_result", "tool_result": {"call_id": "c", "error": "no"}},
    ]
    trace = ReasoningTrace.from_dict(
        {"trace_id": "t", "agent_id": "a", "input": "pay it", "output": "x" * 5000, "steps": steps}
    )
    rests = {"step_ids": ["fails"]}
    failed = AssertionResult(
        assertion_type="no_tool_error", passed=False, reason="pay failed", extra=rests
    )
    text = AssertionResult(assertion_type="output_contains", passed=False, reason="no thanks in it")
    for passed in (False, None):
        page = written(Page, result(passed, failed, text), subject=Subject(trace))
        assert ('run" open' in page) is (passed is False)
        shown = " ".join(Structure(page).text.split())
        assert "Input pay it s0 reasoning thought 0" in shown
        assert (
            "… 42 more fails tool result pay error no ✗ failed no_tool_error: pay failed" in shown
        )
        assert "x… (5,000 characters) ✗ failed output_contains: no thanks in it" in shown
    assert "Input" not in written(Page, result(True), subject=Subject(trace))


def test_results_by_case_and_by_assertion() -> None:
    results = [
        result(True, held(True), held(True, "latency"), case_id="a"),
        result(False, held(True), held(False, "latency"), case_id="a"),
        result(None, held(None), case_id="b"),
    ]
    by_case, by_assertion = Slices("case"), Slices("assertion")
    for each in results:
        by_case.add(each, TRACE)
        by_assertion.add(each, TRACE)
    assert [(row.name, row.results, row.pass_rate) for row in by_case.rows()] == [
        ("a", 2, 0.5),
        ("b", 1, None),
    ]
    assert [(row.name, row.results, row.pass_rate) for row in by_assertion.rows()] == [
        ("latency", 2, 0.5),
        ("status", 3, 1.0),
    ]


@pytest.mark.parametrize(
    ("share", "text"), [(None, "-"), (0.0, "0%"), (0.001, "1%"), (0.999, "99%"), (1.0, "100%")]
)
def test_only_all_is_a_hundred_percent(share: float | None, text: str) -> None:
    assert rate_of(share) == text


def test_the_page_allows_its_own_style_and_script_and_nothing_else() -> None:
    page = written(Page, result(False))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = dict(part.split(maxsplit=1) for part in policy[1].replace("&#39;", "'").split("; "))
    assert allowed["default-src"] == "'none'"
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (inner,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert allowed[directive] == f"'sha256-{digest}'"
    assert re.search(r"(?i)src=|href=|url\(|https?:|@import", page) is None


def test_a_large_page_has_the_first_thousand_results_of_each_outcome() -> None:
    page = written(Page, *(result(passed) for passed in OUTCOMES for _ in range(1003)))
    assert page.count("<article") == 2000
    assert page.count("… and 3 more results, left out of this page") == 3


def test_a_table_by_an_unknown_facet_is_left_out() -> None:
    page = written(Page, result(True))
    assert "By agent" in page
    assert "By tag" not in page


def test_without_jinja_the_install_command_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html.template.cache_clear()
    with pytest.raises(MissingDependencyError, match=r"pip install 'agentool-otel\[eval\]'"):
        Page(io.BytesIO(), "agent")


@pytest.mark.thorough
def test_a_browser_runs_the_pages_script_and_no_script_of_a_result(tmp_path: Path) -> None:
    browsers = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, browsers)), None)
    if browser is None:
        pytest.skip(f"none of {', '.join(browsers)} is on PATH")
    file = tmp_path / "report.html"
    attack = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    file.write_text(written(Page, *saying(attack), subject=about(attack)))
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
    command = [browser, *options, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert '<p id="filter">' in shown  # hidden until the script runs
    assert "<title>✗ agentool-otel eval" in shown


# ----------------------------------------------------------------------------------- Markdown


def blocks(text: str) -> list[Any]:
    """All of a comment but what its code spans say."""
    found: list[Any] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        inner = [(it.type, it.content * (it.type != "code_inline")) for it in token.children or ()]
        found.append((token.type, inner or token.content))
    return found


@given(texts)
@settings(max_examples=many(200))
def test_all_text_of_a_result_is_code_in_a_comment(text: str) -> None:
    harmless = written(Markdown, *saying("x"), subject=about("x"))
    assert blocks(written(Markdown, *saying(text), subject=about(text))) == blocks(harmless)


def test_a_comment_has_figures_a_table_and_collapsed_failures() -> None:
    assert written(
        Markdown,
        result(True, composite_score=1),
        result(False, held(True), held(False, "latency", "93000 ms"), composite_score=0.5),
        result(None, held(None, "rubric", "no judge")),
    ) == (
        "### ✗ agentool-otel eval: 1 passed, 1 failed, 1 not evaluated\n\n"
        "Score 0.750, 3 of 4 assertions evaluated.\n\n"
        "| agent | results | passed | failed | not evaluated | pass rate | score |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| `researcher` | 3 | 1 | 1 | 1 | 50% | 0.750 |\n\n"
        "<details>\n<summary>1 failed result</summary>\n\n"
        "- **✗** `case` `tr_1` score 0.500, 2 of 2 evaluated\n"
        "  - `latency`: `93000 ms` (`step_001`)\n\n</details>\n\n"
        "<details>\n<summary>1 assertion not evaluated</summary>\n\n"
        "- 1 × `rubric`: `no judge`\n\n</details>\n\n"
    )


@pytest.mark.parametrize("reason", ["x", "漢" * 600, "😀" * 600])
def test_a_comment_fits_and_says_how_many_were_left_out(reason: str) -> None:
    results = [
        result(False, held(False, reason=reason), held(None, "rubric", f"{reason} {n}"))
        for n in range(3000)
    ]
    text = written(Markdown, *results)
    assert len(text.encode()) < 65536
    listed = text.count("- **✗**")
    assert f"… and {3000 - listed:,} more failed results, for which there is no room" in text
    assert text.count("<details>") == text.count("</details>") == 2


# -------------------------------------------------------------------------------------- JUnit


@given(texts)
@settings(max_examples=50)
def test_any_text_gives_well_formed_xml_with_only_the_known_elements(text: str) -> None:
    root = ElementTree.fromstring(written(JUnit, *saying(text)))
    assert [suite.tag for suite in root] == ["testsuite"] * 3
    for suite in root:
        assert [child.tag for child in suite] == ["properties", *["testcase"] * 3]
        outcomes = [[child.tag for child in case] for case in suite.iter("testcase")]
        assert outcomes == [["failure", "system-out"], ["skipped", "system-out"], ["system-out"]]
        assert all(failure.get("type") is not None for failure in suite.iter("failure"))


def test_a_suite_is_written_when_its_result_comes() -> None:
    stream = io.BytesIO()
    report = JUnit(stream)
    report.add(result(False), TRACE)
    assert stream.getvalue().endswith(b"</testsuite>\n")
    report.finish()
    (suite,) = ElementTree.fromstring(stream.getvalue())
    assert suite.findtext("testcase/system-out") == "steps: step_001"


# -------------------------------------------------------------------------- JSON Lines, slices


def test_pandas_reads_the_results_in_one_line(tmp_path: Path) -> None:
    pandas: Any = pytest.importorskip("pandas")
    path = tmp_path / "results.jsonl"
    many = [
        result(it, composite_score=1, extra={"evaluated": 1, "total": 1}) for it in (True, False)
    ]
    path.write_text("\n".join(it.to_json() for it in many))
    table = pandas.read_json(path, lines=True)
    columns = ["case_id", "trace_id", "passed", "composite_score", "evaluated", "total"]
    assert table[columns].to_numpy().tolist() == [
        ["case", "tr_1", True, 1, 1, 1],
        ["case", "tr_1", False, 1, 1, 1],
    ]
    assertions = pandas.json_normalize(
        [json.loads(line) for line in path.read_text().splitlines()],
        "assertion_results",
        ["case_id"],
    )
    assert assertions["passed"].tolist() == [True, False]


def test_a_trace_with_two_tags_counts_for_both_and_the_worst_tag_comes_first() -> None:
    slices = Slices("tag")
    both = Subject(ReasoningTrace(trace_id="a", steps=[], metadata={"tags": ["x", "y"]}))
    slices.add(result(True), both)
    slices.add(result(False), Subject(ReasoningTrace(trace_id="b", steps=[])))
    slices.add(result(None), Subject(None))
    assert [(row.name, row.passed, row.failed, row.not_evaluated) for row in slices.rows()] == [
        ("(unknown)", 0, 1, 0),
        ("(no trace)", 0, 0, 1),
        ("x", 1, 0, 0),
        ("y", 1, 0, 0),
    ]
