"""The HTML page of `eval`: contents and order; no text of a result becomes anything but text."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentool_otel import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.errors import MissingDependencyError
from agentool_otel.evaluation.reports import Subject, html
from agentool_otel.evaluation.reports.html import Page
from agentool_otel.evaluation.reports.page_texts import mentioned_ids, pieces
from agentool_otel.evaluation.reports.result_texts import plain
from tests.evaluation.report_results import (
    OUTCOMES,
    about,
    held,
    result,
    saying,
    scored,
    texts,
    written,
)
from tests.laws import many


class Structure(HTMLParser):
    """All of a page but its text, and the places where a line may break."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.found: list[Any] = []
        self.text = ""
        self._spans: list[bool] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        complete = attrs == [("class", "whole")]
        if tag == "span":
            self._spans.append(complete)
        if not complete and (tag, attrs) != ("wbr", []):
            self.found.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag != "span" or not self._spans.pop():
            self.found.append(tag)
        if tag not in ("a", "span"):
            self.text += " "

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.found.append(("declaration", decl))

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(page: str) -> str:
    """The text of a page, on one line."""
    return " ".join(Structure(page).text.split())


@given(texts.filter(lambda item: item.strip() != ""))
@settings(max_examples=50)
def test_all_text_of_a_result_is_plain_text_on_the_page(text: str) -> None:
    # A number alone is no link in a reason, since it may be any number.
    word = "7" if plain(text).isdecimal() else "x"
    harmless = Structure(written(Page, *saying(word), subject=about(word)))
    structure = Structure(written(Page, *saying(text), subject=about(text)))
    assert structure.found == harmless.found


def test_the_page_details_what_did_not_pass_and_counts_the_rest() -> None:
    text = shown(
        written(
            Page,
            result(True, case_id="fine", composite_score=1),
            result(None, held(None, "rubric", "no judge"), case_id="unsure"),
            result(
                False,
                held(True, "latency", "fast"),
                held(True, "no_loop", "none"),
                held(False, "status", "it is error"),
            ),
        )
    )
    assert "1 of 3 results failed pass rate 50%" in text
    assert "1 passed · 1 failed · 1 not evaluated · mean score 1.000" in text
    assert "4 of 5 assertions evaluated" in text
    assert "researcher 3 1 1 1 50% 1.000" in text
    assert "score - · 3 of 3 assertions evaluated" in text
    # Of a check that passed beside one that failed only the name.
    assert "✗ failed status it is error steps: step_001 ✓ passed latency , no_loop" in text
    assert "✓ passed status why" in text
    assert "○ not evaluated rubric no judge" in text
    order = ["Failed: 1", "Not evaluated: 1", "Passed: 1", "Tables", "By agent", "By case"]
    assert sorted(order, key=text.index) == order


def test_the_page_begins_with_links_to_what_did_not_pass() -> None:
    page = written(
        Page,
        result(True),
        result(None, held(None, "rubric", "no judge"), case_id="unsure"),
        result(False, held(True), held(False, "latency", "93000 ms"), case_id="slow"),
    )
    (listed,) = re.findall("<nav.*?</nav>", page, re.DOTALL)
    assert shown(listed).split(" ✗ ")[0].startswith("✗ failed slow researcher latency: 93000 ms")
    assert "○ not evaluated unsure researcher rubric: no judge" in shown(listed)
    for anchor in re.findall('href="#([^"]*)"', page):
        assert page.count(f'id="{anchor}"') == 1
    assert "<nav" not in written(Page, result(True))


def a_run(steps: list[Any], **members: Any) -> Subject:
    document = {"trace_id": "t", "agent_id": "a", "input": "pay it", "steps": steps, **members}
    return Subject(ReasoningTrace.from_dict(document))


def called(at: str, n: int, **answer: Any) -> list[Any]:
    call = {"id": f"c{n}", "name": "pay", "arguments": {"order": n}}
    return [
        {"step_id": at, "type": "tool_call", "tool_call": call},
        {"step_id": f"{at}r", "type": "tool_result", "tool_result": {"call_id": f"c{n}", **answer}},
    ]


def test_the_page_shows_the_run_with_marks_at_its_steps() -> None:
    steps: list[Any] = [
        {"step_id": f"s{n}", "type": "reasoning", "content": f"thought {n}"} for n in range(100)
    ]
    steps[80:80] = called("asks", 7, error="no")
    subject = a_run(steps, output="x" * 5000)
    rests = {"step_ids": ["asksr"]}
    failed = AssertionResult(
        assertion_type="no_tool_error", passed=False, reason="pay failed at asksr", extra=rests
    )
    text = AssertionResult(assertion_type="output_contains", passed=False, reason="no thanks in it")
    for passed in (False, None):
        page = written(Page, result(passed, failed, text), subject=subject)
        assert ('run" open' in page) is (passed is False)
        output = shown(page)
        assert "Full run: input, 102 steps, output Input pay it s0 reasoning thought 0" in output
        # The mark alone: the reason stands once, at the top of the card.
        assert (
            '… 42 more asks tool call pay {"order":7} this call returned the error in asksr '
            "asksr tool result pay error no ✗ failed no_tool_error … 20 more" in output
        )
        assert "x… (5,000 characters) ✗ failed output_contains" in output
        assert page.count("pay failed at") == 2  # in the list and in the card
        anchors = re.findall('pay failed at <a href="#([^"]*)">asksr</a>', page)
        assert len(anchors) == 1
        assert f'<li id="{anchors[0]}" class="marked">' in page
        assert '<div id="r1-output" class="marked">' in page
    page = written(Page, result(False, failed, replace(text, passed=None)), subject=subject)
    assert '<div id="r1-output" class="marked unknown">' in page
    assert "Full run" not in written(Page, result(False), subject=Subject(None))


@given(st.integers(1, 12), st.integers(0, 12), st.booleans())
@settings(max_examples=many(30))
def test_only_the_failing_steps_are_marked(number: int, most: int, wrong: bool) -> None:
    ids = [f"call_{n}" for n in range(number)]
    subject = a_run([step for n, at in enumerate(ids) for step in called(at, n, output="ok")])
    failing = ids[most:] if not wrong else ids[:most]
    extra = {"step_ids": ids, "failing_step_ids": failing}
    count = AssertionResult(
        assertion_type="tool_call_count", passed=False, reason="too many", extra=extra
    )
    page = written(Page, result(False, count), subject=subject)
    marked = re.findall(r'<li id="[^"]*" class="marked">\s*<p><code>(\w+)</code>', page)
    assert marked == failing
    if 0 < len(failing) < number:
        assert f"fails at: {', '.join(failing)}" in shown(page)


def test_a_result_that_passed_is_a_folded_card_with_its_run() -> None:
    page = written(Page, result(True), subject=a_run(called("asks", 1, output="done")))
    (group,) = re.findall('<details class="group">.*', page, re.DOTALL)
    assert '<article class="result passed" id="r1">\n<details>' in group
    assert "✓ passed status why Full run: input, 2 steps, output Input pay it" in shown(group)
    assert "done" in group


def test_expected_and_actual_values_stand_on_lines_of_their_own() -> None:
    one = {"name": "order", "expected": '"A-1041"', "actual": '"A-1014"', "step_id": "asks"}
    broken: list[Any] = [None, {"name": 7}, {**one, "actual": None}]
    failed = AssertionResult(
        assertion_type="args_match",
        passed=False,
        reason="another order",
        extra={"step_ids": ["asks"], "differences": [one, *broken]},
    )
    subject = a_run(called("asks", 1, output="ok"))
    page = written(Page, result(False, failed), subject=subject)
    assert 'order at asks expected "A-1041" actual "A-1014"' in shown(page)
    assert page.count("<dt>expected</dt>") == page.count("<dt>actual</dt>") == 1


def test_a_page_has_a_bounded_number_of_steps_and_values_of_a_check() -> None:
    ids = [f"step_{n:03}" for n in range(100)]
    rows: Any = (
        (ids[30:], "fails at: step_030", 50),
        (ids, "steps: step_001", 79),
        ([], "steps:", 79),
    )
    for failing, row, more in rows:
        failed = AssertionResult(
            assertion_type="args_match",
            passed=False,
            reason="wrong at step_000 and 99 more",
            extra={
                "step_ids": ids,
                "failing_step_ids": failing,
                "differences": [{"name": at, "expected": "1", "actual": "2"} for at in ids],
            },
        )
        text = shown(written(Page, result(False, failed)))
        assert row in text
        assert f"and {more} more" in text
        assert text.count("expected 1") == 5
        assert "… and 95 more values that differ" in text


@given(st.text(alphabet='ab_-, "1é', max_size=80) | st.text(max_size=80))
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    links = {"a": "r1-1", "a_b": "r1-2"}
    assert "".join(piece.text for piece in pieces(text, links)) == text
    for piece in pieces(text, links):
        assert not piece.whole or (len(piece.text) <= 24 and not set(piece.text) & set(' ,"'))
        assert piece.anchor == links.get(piece.text, "") or not piece.anchor


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("order A-1014 of 2026-11-24", "order |A-1014| of |2026-11-24"),
        ('order_id="A-1014",', 'order_id|="|A-1014|",'),
        ("the_name_of_a_tool_that_is_long", "the_|name_|of_|a_|tool_|that_|is_|long"),
        ('{"a":1,"b":[1,2]}', '{"a":1,|"b":[1,2]}'),
    ],
)
def test_a_short_value_does_not_break_and_a_long_name_does(text: str, parts: str) -> None:
    assert "|".join(piece.text for piece in pieces(text, {})) == parts


@pytest.mark.parametrize(
    ("reason", "ids", "links"),
    [
        ("failed at s1, s2 and 3 more", ["s1", "s2"], ["s1", "s2"]),
        ("failed at billing/s1", ["s1", "billing/s1"], ["billing/s1"]),
        ("called 2 times (2, 4)", ["2", "4"], []),
        ("s10 is another step", ["s1"], []),
    ],
)
def test_the_ids_of_steps_in_a_reason_are_links(
    reason: str, ids: list[str], links: list[str]
) -> None:
    assert mentioned_ids(reason, ids) == links
    anchors = {step_id: f"r1-{n}" for n, step_id in enumerate(ids)}
    assert [piece.text for piece in pieces(reason, anchors) if piece.anchor] == links


def test_cards_are_in_the_order_of_the_table_by_case() -> None:
    cases = ["b", "a", "c", "b", "d", "c"]
    results = [result(None if n > 3 else False, case_id=case) for n, case in enumerate(cases)]
    page = written(Page, *results, result(True, case_id="c"))
    (table,) = re.findall("By case</h3>.*?</table>", page, re.DOTALL)
    rows = re.findall('scope="row">(.)', table)
    cards = re.findall('<section class="group">.*?</section>', page, re.DOTALL)
    failed = re.findall('class="name">(.)', cards[0])
    assert sorted(failed, key=rows.index) == failed
    assert sorted(failed) == ["a", "b", "b", "c"]


def test_a_table_has_no_empty_columns() -> None:
    def columns(*results: EvalResult) -> dict[str, str]:
        page = written(Page, *results)
        tables = re.findall(r"By (\w+)</h3>.*?<thead>(.*?)</thead>", page, re.DOTALL)
        return {by: shown(heading.replace("</th>", "|")) for by, heading in tables}

    half = result(False, scored(True, 1), scored(False, 0), composite_score=0.5)
    assert columns(half) == {
        "agent": "agent|results|✓ passed|✗ failed|pass rate|mean score|",
        "case": "case|results|✓ passed|✗ failed|pass rate|mean score|",
        "assertion": "assertion|checks|✓ passed|✗ failed|pass rate|",
    }
    judged = result(True, scored(True, 0.8), composite_score=0.8)
    assert columns(judged)["assertion"].endswith("|pass rate|mean score|")
    assert columns(result(False, held(False)))["agent"].endswith("|pass rate|")
    unsure = result(None, held(None))
    assert "|○ not evaluated|" in columns(half, unsure)["agent"]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("2026-11-24T12:40:19Z", "evaluated on 24 November 2026, 12:40:19 UTC"),
        ("2026-01-01T00:30:00+02:00", "evaluated on 31 December 2025, 22:30:00 UTC"),
        ("some day", "evaluated on some day"),
    ],
)
def test_the_page_has_a_readable_time(time: str, text: str) -> None:
    assert text in shown(written(Page, result(True, evaluated_at=time)))


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
    assert re.search(r"(?i)src=|href=(?!\"#r\d+)|url\(|https?:|@import", page) is None


def test_a_large_page_has_the_first_thousand_results_of_each_outcome() -> None:
    page = written(Page, *(result(passed) for passed in OUTCOMES for _ in range(1003)))
    assert page.count("<article") == 3000
    assert page.count('<details class="run"') == 300
    assert page.count('<a href="#r') == 100
    assert "… and 1,906 more" in page
    assert page.count("… and 3 more results, left out of this page") == 3


def test_a_table_by_an_unknown_facet_is_left_out() -> None:
    page = written(Page, result(True))
    assert "By agent" in page
    assert "By tag" not in page


def test_without_jinja_the_install_command_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html.template.cache_clear()
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[eval\]"):
        Page(io.BytesIO(), "agent")


def in_browser(page: str, tmp_path: Path, script: str = "") -> str:
    """Return the document of a page after its scripts have run, in a window 500 pixels wide.

    Args:
        page: the page.
        tmp_path: a directory.
        script: a script of the test, for which the page loses its policy.
    """
    if script:
        page = re.sub("<meta http-equiv=[^>]*>", "", page)
        page = page.replace("</body>", f"<script>{script}</script></body>")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, browsers)), None)
    if browser is None:
        pytest.skip(f"none of {', '.join(browsers)} is on PATH")
    file = tmp_path / "report.html"
    file.write_text(page)
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
    options.append("--window-size=500,1000")
    command = [browser, *options, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.thorough
def test_a_browser_runs_the_pages_script_and_no_script_of_a_result(tmp_path: Path) -> None:
    attack = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    document = in_browser(written(Page, *saying(attack), subject=about(attack)), tmp_path)
    assert '<p id="filter">' in document  # hidden until the script runs
    assert "<title>✗ agentool-otel eval" in document


FILTERING = """
const search = document.querySelector("#filter input");
const seen = [];
function look(text) {
  search.value = text;
  search.dispatchEvent(new Event("input"));
  seen.push([
    [...document.querySelectorAll("article")].filter((it) => it.checkVisibility()).length,
    [...document.querySelectorAll("nav li")].filter((it) => it.checkVisibility()).length,
    ...[...document.querySelectorAll(".count")].map((it) => it.textContent),
    document.querySelector("[role=status]").textContent,
  ].join("; "));
}
for (const text of ["", "Pay LATE", "late pay fine", "nonsense", ""]) look(text);
look("fine");
document.querySelector("article.passed details").open = true;
look("");
document.title = seen.join(" | ");
"""
"""A reader who types, and who opens a card that a filter shows."""


@pytest.mark.thorough
def test_the_filter_of_a_browser_looks_for_each_word_in_all_results(tmp_path: Path) -> None:
    page = written(
        Page,
        result(False, held(False, "status", "late: pay"), case_id="one"),
        result(False, held(False, "status", "too late"), case_id="two"),
        result(True, held(True, "status", "fine, no late pay"), case_id="three"),
    )
    title = re.search("<title>(.*?)</title>", in_browser(page, tmp_path, FILTERING))
    assert title is not None
    assert title[1].split(" | ") == [
        "2; 2; 2; 1; ",
        "2; 1; 1 of 2 shown; 1 of 1 shown; 2 of 3 shown",
        "1; 0; 0 of 2 shown; 1 of 1 shown; 1 of 3 shown",
        "0; 0; 0 of 2 shown; 0 of 1 shown; nothing matches",
        "2; 2; 2; 1; ",
        "1; 0; 0 of 2 shown; 1 of 1 shown; 1 of 3 shown",
        "3; 2; 2; 1; ",
    ]


MEASURING = """
for (const it of document.querySelectorAll("details")) it.open = true;
const wide = [...document.querySelectorAll("*")].filter(
  (it) => it.scrollWidth > it.clientWidth + 1 && it.clientWidth > 1
    && getComputedStyle(it).display !== "inline");
document.title = `${innerWidth} ${wide.map((it) => it.tagName + it.className).join(",")}.`;
"""
"""Elements that are cut, or that a reader has to scroll sideways."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text", ["w" * 600, "a_name_" * 40, "A-1014 " * 60, "{'a':1},[2],/" * 40, "漢" * 300, "2026-"]
)
def test_nothing_is_cut_in_a_narrow_window(text: str, tmp_path: Path) -> None:
    results = [*saying(text), result(None, case_id="x"), result(True, composite_score=0.5)]
    page = written(Page, *results, subject=about(text))
    title = re.search("<title>(.*?)</title>", in_browser(page, tmp_path, MEASURING))
    assert title is not None
    assert title[1] == "500 ."
