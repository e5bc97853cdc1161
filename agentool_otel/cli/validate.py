"""`validate`: any document or recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from agentool_otel.cli import _text
from agentool_otel.cli._kinds import check_part
from agentool_otel.cli._output import report, view
from agentool_otel.cli._program import as_called
from agentool_otel.cli._unread import NEXT, Inventory
from agentool_otel.dialects import match_dialect
from agentool_otel.dialects.openinference.repeated_names import without_added_names
from agentool_otel.errors import AgentoolError
from agentool_otel.evaluation.cases.case_text import Part
from agentool_otel.evaluation.cases.files import is_yaml, parts_of
from agentool_otel.ground.version import SCOPE
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord, is_fragment
from agentool_otel.reading.sources.files.span_files import SpanFiles, holds_spans
from agentool_otel.reading.sources.files.streams import SpanFile, name_of, unpacked_bytes
from agentool_otel.reading.sources.grouping.lone_records import as_spans
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.source import Source, files_of
from agentool_otel.testing.conformance import check

__all__ = ["command"]

_SHOWN = 20


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
    """Check documents, cases and recordings, identified by their content.

    Documents are those of the agentool spec and all that `convert` reads, one in a file, a list, or
    one on every line; cases and assertions are all that `eval` reads, in YAML too. Spans of this
    package in a recording are checked against OpenTelemetry's GenAI conventions.
    """
    console = view()
    verdicts: list[_Verdict] = []
    for place in files:
        try:
            source = open_source(place)
        except AgentoolError as error:
            verdicts.append(_Verdict(str(error), False, [], readable=False))
            console.print(f"✗ {as_called(_text.line(str(error)))}", style="red", soft_wrap=True)
            continue
        for label, verdict in _verdicts(source, strict):
            verdicts.append(verdict)
            style = "" if verdict.good else "red"
            mark = "✓" if verdict.good else "✗"
            summary = f"{mark} {as_called(_text.line(f'{label}: {verdict.summary}'))}"
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
    yaml = is_yaml(Path(label))
    if not yaml and holds_spans(file):
        return _recording(SpanFiles([file]), strict)
    with unpacked_bytes(file) as stream:
        verdict = _documents(parts_of(stream, yaml=yaml), strict)
    if yaml or verdict.good or not isinstance(file, Path):
        return verdict
    return _recording_or(verdict, file, strict)


def _recording_or(verdict: _Verdict, file: Path, strict: bool) -> _Verdict:
    """Return the report on the spans of a file that does not begin as spans do, such as a store's
    export; `verdict`, that on its documents, if it has none."""
    source = SpanFiles([file])
    source.other = lambda _: None
    try:
        if next(iter(source.spans()), None) is None:
            return verdict
        return _recording(SpanFiles([file]), strict)
    except AgentoolError:
        return verdict


def _verdict(read: Callable[[], _Verdict]) -> _Verdict:
    try:
        return read()
    except (AgentoolError, OSError, EOFError) as error:
        return _Verdict(str(error), False, [], readable=False)


# --------------------------------------------------------------------------------- documents


def _documents(parts: Iterator[Part], strict: bool) -> _Verdict:
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    invalid = warned = parsed = 0
    for part in parts:
        if part.fault is not None:
            invalid += 1
            lines.append(f"line {part.line_of(())}: error: {part.fault}")
            continue
        parsed += 1
        checked = check_part(part)
        kinds.update(checked.kinds)
        lines += checked.lines
        invalid += len(checked.invalid)
        warned += len(checked.warned)
    if not parsed and not invalid:
        return _Verdict("empty", False, [], readable=False)
    good = not invalid and not (strict and warned)
    summary = ", ".join(_summary(kinds, invalid, warned)) + (" ok" if good else "")
    return _Verdict(summary, good, lines, readable=parsed > 0)


def _summary(kinds: Counter[str], invalid: int, warned: int) -> Iterator[str]:
    total = kinds.total()
    for kind, n in kinds.items():
        yield kind if n == total == 1 else f"{n:,} {kind}"
    if invalid:
        yield f"{invalid:,} not valid" if total + invalid > 1 else "not valid"
    if warned:
        yield "with warnings" if total == 1 else f"{warned:,} with warnings"


# -------------------------------------------------------------------------------- recordings


def _recording(source: Source, strict: bool) -> _Verdict:
    spans = ours = 0
    dialects: Counter[str] = Counter()
    breaches: Counter[str] = Counter()
    ties: Counter[str] = Counter()
    inventory = Inventory()
    documents: list[ReasoningTrace] = []
    source.document = documents.append
    for span in map(without_added_names, _each_read(source.spans())):
        spans += 1
        inventory.add(span)
        match = match_dialect(span)
        dialects[match.dialect.name if match.dialect else "no dialect"] += 1
        if match.tie is not None:
            ties[match.tie.message] += 1
        if span.scope.partition(".")[0] == SCOPE:
            ours += 1
            breaches.update(str(violation) for violation in check(span))
    spoken = ", ".join(f"{n:,} {name}" for name, n in dialects.most_common())
    counts = (
        [f"{_text.count(spans, 'span')} ({spoken or 'none'})"] if spans or not documents else []
    )
    if documents:
        counts.append(_text.count(len(documents), "trace document"))
    summary = f"recording, {', '.join(counts)}"
    if ours:
        verdict = "conform to" if not breaches else f"break in {len(breaches):,} ways"
        summary += f"; {ours:,} of this package {verdict} the GenAI conventions"
    problems = tuple(source.problems)
    if problems:
        summary += f"; {_text.count(len(problems), 'problem')}"
    lines = [*_breach_lines(breaches, "error" if strict else "note")]
    lines += [f"note: {tie} ({times:,} times)" for tie, times in ties.most_common()]
    if spans and inventory.is_unknown:
        lines += [*inventory.lines(), f"hint: {NEXT}"]
    good = not problems and not (strict and breaches)
    return _Verdict(summary, good, lines, problems=problems)


def _each_read(spans: Iterable[SpanRecord]) -> Iterator[SpanRecord]:
    """Yield spans, and each log record that names a span as it is read without that span."""
    for span in spans:
        yield from as_spans(span) if is_fragment(span) else (span,)


def _breach_lines(breaches: Counter[str], level: str) -> Iterator[str]:
    for breach, times in breaches.most_common():
        yield f"{level}: {breach}" + (f" ({times:,} times)" if times > 1 else "")
