"""Traces and verdicts as HTML, for notebooks.

Plain tables without scripts, styles, links or images. Every text is untrusted: it is made safe to
print, and then escaped, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from agentool_otel.ground.untrusted_text import clean, line
from agentool_otel.model.documents import UNSET
from agentool_otel.model.plain_text import (
    MARKS,
    figures_of,
    score_text,
    step_text,
    value_text,
)

if TYPE_CHECKING:
    from agentool_otel.model.documents import AssertionResult, Document, EvalResult, ReasoningTrace

__all__ = ["html_of", "row_html"]

_VERDICTS: dict[bool | None, str] = {True: "passed", False: "failed"}
_MOST_ROWS = 200
_LONGEST = 2000
"""Characters of an input or output."""


def html_of(document: Document) -> str | None:
    """Return the HTML of a document; None for types that have none, shown as text."""
    html = _HTML.get(type(document).__name__)
    return None if html is None else _page(html(document))


def row_html(texts: Sequence[str]) -> str:
    """Return the HTML of a row of texts."""
    return _page(_table(("",), [texts]))


def _trace(trace: ReasoningTrace) -> str:
    """Return a trace: its agent, status and totals, its input and output, and its steps."""
    agent = trace.agent_id if isinstance(trace.agent_id, str) else "(agent without a name)"
    status = trace.status if isinstance(trace.status, str) else "no status"
    about = ", ".join([line(str(status)), *figures_of(trace)])
    members = [
        (name, value_text(value, _LONGEST))
        for name, value in (("input", trace.input), ("output", trace.output))
        if value is not UNSET
    ]
    names = {call.id: call.name for call in trace.tool_calls() if isinstance(call.id, str)}
    steps: list[tuple[str, ...]] = []
    for number, step in enumerate(trace.steps[:_MOST_ROWS], 1):
        call_id = getattr(step.tool_result, "call_id", None)
        name = names.get(call_id) if isinstance(call_id, str) else None
        steps.append((str(number), step.type, step_text(step, name)))
    return (
        _heading(agent, about, trace.trace_id)
        + (_table(("", ""), members) if members else "")
        + _table(("", "step", "content"), steps)
        + _more(len(trace.steps))
    )


def _result(result: EvalResult) -> str:
    """Return a result: its case and trace, and the verdicts."""
    trace_id = result.trace_id if isinstance(result.trace_id, str) else ""
    verdict = _VERDICTS.get(result.passed, "not evaluated")
    score = score_text(result.composite_score)
    about = f"{MARKS.get(result.passed, '-')} {verdict}" + (f", score {score}" if score else "")
    return _heading(result.case_id, about, trace_id) + _verdicts(result.assertion_results)


def _verdicts(verdicts: Sequence[AssertionResult]) -> str:
    """Return verdicts, a row each: mark, assertion, score and reason."""
    rows = [
        (
            MARKS.get(verdict.passed, "-"),
            verdict.assertion_type,
            score_text(verdict.score),
            verdict.reason if isinstance(verdict.reason, str) else "",
        )
        for verdict in verdicts[:_MOST_ROWS]
    ]
    return _table(("", "assertion", "score", "reason"), rows) + _more(len(verdicts))


def _heading(title: str, about: str, identity: str) -> str:
    return f"<p><b>{_safe(title)}</b> {_safe(about)}<br><code>{_safe(identity)}</code></p>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_safe(head)}</th>" for head in heads) if any(heads) else ""
    body = "".join(f"<tr>{''.join(f'<td>{_safe(item)}</td>' for item in row)}</tr>" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if head else ''}{body}</table>"


def _more(count: int) -> str:
    return f"<p>… {count - _MOST_ROWS:,} more</p>" if count > _MOST_ROWS else ""


def _safe(value: object) -> str:
    text = str(value)
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return escape(clean(shown), quote=True)


def _page(html: str) -> str:
    """Return HTML in which no text is taken for a formula, which could have links of its own."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{html}</div>'


_HTML: dict[str, Callable[[Any], str]] = {
    "ReasoningTrace": _trace,
    "EvalResult": _result,
    "AssertionResult": lambda item: _verdicts([item]),
}
