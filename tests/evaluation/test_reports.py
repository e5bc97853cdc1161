"""The reports of `eval`: contents and length; no text of a result becomes anything but text."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from agentool_otel import ReasoningTrace
from agentool_otel.evaluation.reports import Subject
from agentool_otel.evaluation.reports.junit import JUnit
from agentool_otel.evaluation.reports.markdown import Markdown
from agentool_otel.evaluation.reports.result_texts import rate_of
from agentool_otel.evaluation.reports.slices import Slices
from tests.evaluation.report_results import (
    TRACE,
    about,
    held,
    result,
    saying,
    texts,
    written,
)
from tests.laws import many

# ----------------------------------------------------------------------------------- Markdown


def blocks(text: str) -> list[Any]:
    """All of a comment without its code spans."""
    results: list[Any] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        inner = [
            (child.type, child.content * (child.type != "code_inline"))
            for child in token.children or ()
        ]
        results.append((token.type, inner or token.content))
    return results


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
def test_a_comment_fits_and_counts_omitted_results(reason: str) -> None:
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
        result(item, composite_score=1, extra={"evaluated": 1, "total": 1})
        for item in (True, False)
    ]
    path.write_text("\n".join(item.to_json() for item in many))
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


def test_a_trace_counts_for_each_tag_with_the_worst_tag_first() -> None:
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
