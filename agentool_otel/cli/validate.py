"""`validate`: any document or recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, cast

import click

from agentool_otel.cli import _text
from agentool_otel.cli._output import report, view
from agentool_otel.conformance import check
from agentool_otel.dialects import match_dialect
from agentool_otel.dialects.openinference.repeated_names import without
from agentool_otel.emit.session import SCOPE
from agentool_otel.errors import AgentoolError
from agentool_otel.model.problems import Problem
from agentool_otel.model.validation import findings, identify
from agentool_otel.sources.files.json_files import Item, items
from agentool_otel.sources.files.span_files import SpanFiles, holds_spans
from agentool_otel.sources.files.streams import SpanFile, name_of, unpacked_bytes
from agentool_otel.sources.opening import open_source
from agentool_otel.sources.source import Source, files_of

__all__ = ["command"]

_SHOWN = 20
_MEMBERS = 8
_KNOWN = (
    "ReasoningTrace (trace_id, steps), EvalCase (case_id, assertions), EvalResult (case_id, "
    "assertion_results), ToolSpec (name, description, parameters), ToolRegistry (registry_id, "
    "tools), ToolCall, ToolResult, Step, and OTLP recordings (resourceSpans)"
)


class _Verdict(NamedTuple):
    """The report on one file."""

    summary: str
    good: bool
    lines: list[str]
    readable: bool = True
    problems: tuple[Problem, ...] = ()


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Let warnings and breaches of conventions fail too.")
def command(files: tuple[str, ...], strict: bool) -> int:
    """Check documents and recordings of any kind, told by their content.

    Documents are checked against the agentool spec, one in a file, a list, or one on every line;
    spans of this package in a recording against OpenTelemetry's GenAI conventions.
    """
    console = view()
    verdicts: list[_Verdict] = []
    for place in files:
        try:
            source = open_source(place)
        except AgentoolError as error:
            verdicts.append(_Verdict(str(error), False, [], readable=False))
            console.print(f"✗ {_text.line(str(error))}", style="red", soft_wrap=True)
            continue
        for label, verdict in _verdicts(source, strict):
            verdicts.append(verdict)
            style = "" if verdict.good else "red"
            mark = "✓" if verdict.good else "✗"
            summary = f"{mark} {_text.line(f'{label}: {verdict.summary}')}"
            console.print(summary, style=style, soft_wrap=True)
            for line in verdict.lines[:_SHOWN]:
                console.print(f"    {_text.line(line)}", soft_wrap=True)
            if len(verdict.lines) > _SHOWN:
                console.print(f"    ... and {len(verdict.lines) - _SHOWN:,} more", soft_wrap=True)
            report(verdict.problems)
    if not any(verdict.readable for verdict in verdicts):
        return 3
    return 0 if all(verdict.good for verdict in verdicts) else 1


def _verdicts(source: Source, strict: bool) -> Iterator[tuple[str, _Verdict]]:
    """Yield the name and the report of each file of a source, or of a server as a whole."""
    files = files_of(source)
    for file in files:
        label = name_of(file)
        yield label, _verdict(partial(_of_file, file, label, strict))
    if not files:
        yield source.name, _verdict(partial(_recording, source, strict))


def _of_file(file: SpanFile, label: str, strict: bool) -> _Verdict:
    if holds_spans(file):
        return _recording(SpanFiles([file]), strict)
    with unpacked_bytes(file) as stream:
        return _documents(items(stream, label), label, strict)


def _verdict(read: Callable[[], _Verdict]) -> _Verdict:
    try:
        return read()
    except (AgentoolError, OSError, EOFError) as error:
        return _Verdict(str(error), False, [], readable=False)


# --------------------------------------------------------------------------------- documents


def _documents(documents: Iterator[Item], label: str, strict: bool) -> _Verdict:
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    invalid = warned = parsed = 0
    for item in documents:
        at = item.where.removeprefix(label).strip()
        at = f"{at}: " if at else ""
        if item.error is not None:
            invalid += 1
            lines.append(f"{at}error: {item.error}")
            continue
        parsed += 1
        kind = _kind(item.value)
        if kind is None:
            invalid += 1
            lines.append(f"{at}error: {_unknown(item.value)}")
            continue
        kinds[kind] += 1
        wrong = findings(item.value)
        invalid += any(finding.level == "error" for finding in wrong)
        warned += any(finding.level == "warning" for finding in wrong)
        lines += [f"{at}{finding}" for finding in wrong]
    if not parsed and not invalid:
        return _Verdict("empty", False, [], readable=False)
    good = not invalid and not (strict and warned)
    summary = ", ".join(_counted(kinds, invalid, warned)) + (" ok" if good else "")
    return _Verdict(summary, good, lines, readable=parsed > 0)


def _counted(kinds: Counter[str], invalid: int, warned: int) -> Iterator[str]:
    total = kinds.total()
    for kind, n in kinds.items():
        yield kind if n == total == 1 else f"{n:,} {kind}"
    if invalid:
        yield f"{invalid:,} not valid" if total + invalid > 1 else "not valid"
    if warned:
        yield "with warnings" if total == 1 else f"{warned:,} with warnings"


def _kind(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    kind = identify(cast("Mapping[str, Any]", value))
    return kind.__name__ if kind is not None else None


def _unknown(value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"not a document but {type(value).__name__}; accepted are {_KNOWN}"
    names = list(cast("Mapping[str, Any]", value))
    seen = ", ".join(names[:_MEMBERS]) + (", ..." if len(names) > _MEMBERS else "")
    return f"an unknown document with members {seen or '(none)'}; accepted are {_KNOWN}"


# -------------------------------------------------------------------------------- recordings


def _recording(source: Source, strict: bool) -> _Verdict:
    spans = ours = 0
    dialects: Counter[str] = Counter()
    breaches: Counter[str] = Counter()
    ties: Counter[str] = Counter()
    for span in map(without, source.spans()):
        spans += 1
        match = match_dialect(span)
        dialects[match.dialect.name if match.dialect else "no dialect"] += 1
        if match.tie is not None:
            ties[match.tie.message] += 1
        if span.scope.partition(".")[0] == SCOPE:
            ours += 1
            breaches.update(str(violation) for violation in check(span))
    spoken = ", ".join(f"{n:,} {name}" for name, n in dialects.most_common())
    summary = f"recording, {_text.count(spans, 'span')} ({spoken or 'none'})"
    if ours:
        held = "conform to" if not breaches else f"break in {len(breaches):,} ways"
        summary += f"; {ours:,} of this package {held} the GenAI conventions"
    problems = tuple(source.problems)
    if problems:
        summary += f"; {_text.count(len(problems), 'problem')}"
    lines = [*_breach_lines(breaches, "error" if strict else "note")]
    lines += [f"note: {tie} ({times:,} times)" for tie, times in ties.most_common()]
    good = not problems and not (strict and breaches)
    return _Verdict(summary, good, lines, problems=problems)


def _breach_lines(breaches: Counter[str], level: str) -> Iterator[str]:
    for breach, times in breaches.most_common():
        yield f"{level}: {breach}" + (f" ({times:,} times)" if times > 1 else "")
