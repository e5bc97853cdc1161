"""Files of cases: EvalCases, or assertions alone, as JSON, JSON Lines or YAML; ADK eval sets.

Reading one runs no code that it names, and a file cannot grow in memory beyond what stands in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from io import BytesIO
from pathlib import Path as FilePath
from typing import Any, BinaryIO, NamedTuple

from agentool_otel.errors import CasesError, DecodeError, SourceError, SourceUnreachable
from agentool_otel.evaluation.assertion_types import WrongAssertion, as_assertion, check_of
from agentool_otel.evaluation.cases.case_text import Part, json_parts
from agentool_otel.evaluation.cases.entries import Entry
from agentool_otel.evaluation.cases.registry import eval_sets_of
from agentool_otel.evaluation.cases.yaml_values import yaml_parts
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_places import Path, parse_path, path_text
from agentool_otel.ground.urls import printable_place
from agentool_otel.model.codec import decode, describe, fields_of
from agentool_otel.model.documents import Assertion, EvalCase
from agentool_otel.model.problems import Problem
from agentool_otel.reading.sources.files.json_files import opened

__all__ = [
    "CaseFile",
    "LineProblem",
    "entries_of",
    "is_yaml",
    "parts_of",
    "read_cases",
    "read_entry",
]

_URL = re.compile(r"[A-Za-z][\w+.-]+:[/\\]")
"""Beginning of a URL. Normalized as a path, it has one slash instead of two."""
_YAML = (".yaml", ".yml")
_EXPECTED = "a case (case_id, assertions) or an assertion (type)"
_EXAMPLE = '{"type": "no_tool_error"} is an assertion, {"case_id": "a", "assertions": [...]} a case'
_CASE = ("case_id", "assertions", "type", "eval_cases", "evalCases")
"""Members by which an object is meant as a case or an assertion."""


def read_cases(place: FilePath | None) -> tuple[list[EvalCase | Assertion], list[Problem]]:
    """Read the cases of a file or of standard input; return them, and those that have no place
    here, such as simulated conversations of ADK.

    It holds cases, one assertion each, objects that have nothing but `cases` or `assertions`, or an
    eval set of Google's ADK. A file is YAML by its name, standard input by not beginning as JSON.

    Raises:
        SourceError: it cannot be opened, or is a URL.
        DecodeError: nothing in it is a case or an assertion.
        CasesError: with each case and assertion that is wrong, and its line.
        MissingDependencyError: it is YAML, and PyYAML is not installed; or an assertion needs a
            library that is not.
    """
    label = "standard input" if place is None else printable_place(place)
    if _URL.match(str(place)):
        raise SourceError(
            f"cases cannot be read from a URL, as {label} is"
            "; hint: download it, or pipe it in with `-` instead of the file"
        )
    try:
        with opened(place) as stream:
            data = stream.read()
    except (EOFError, OSError, zlib.error) as error:
        raise DecodeError("cases", f"a file that breaks off ({error})", where=label) from error
    except SourceUnreachable as error:
        if "; hint: " in str(error):
            raise
        raise SourceUnreachable(f"{error}; hint: name a file of cases or checks") from None
    file = _parse(parts_of(BytesIO(data), yaml=is_yaml(place, data)))
    if file.wrong and (file.documents or file.has_case):
        lines = (
            f"{label}:{line_problem.line}: {line_problem.message}" for line_problem in file.wrong
        )
        raise CasesError(list(dict.fromkeys(lines)))  # an alias of YAML stands in several places
    if file.wrong:
        line, message, wrong = file.wrong[0]
        wrong = wrong or DecodeError(_EXPECTED, message)
        raise DecodeError(wrong.expected, wrong.actual, where=f"{label}:{line}", hint=wrong.hint)
    if not file.documents:
        raise DecodeError(_EXPECTED, "nothing", where=label, hint=_EXAMPLE)
    return file.documents, [Problem(f"{label}:{line}", text) for line, text, _ in file.left_out]


def is_yaml(place: FilePath | None, head: bytes = b"") -> bool:
    """Return whether a file is YAML, by its name or, without one, because it does not begin as
    JSON.
    """
    if place is not None:
        return place.suffix.lower() in _YAML
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return bool(head) and head[:1] not in (b"{", b"[")


def parts_of(stream: BinaryIO, *, yaml: bool) -> Iterator[Part]:
    """Yield the values of a file.

    Raises:
        MissingDependencyError: it is YAML, and PyYAML is not installed.
    """
    return yaml_parts(stream) if yaml else json_parts(stream)


class LineProblem(NamedTuple):
    """A problem on a line of a file."""

    line: int
    message: str
    error: DecodeError | None = None
    """The same as an error, where that has more detail; it has no line."""


class CaseFile(NamedTuple):
    """The contents of a file of cases."""

    documents: list[EvalCase | Assertion]
    wrong: list[LineProblem]
    left_out: list[LineProblem]
    """Cases that are right and cannot be evaluated here."""
    has_case: bool
    """Whether any entry is meant as a case or an assertion."""


def _parse(parts: Iterator[Part]) -> CaseFile:
    file = CaseFile([], [], [], False)
    for part in parts:
        if part.fault is not None:
            fault = part.fault
            problem = fault.what.removeprefix("found ")
            description = problem if problem != fault.what else f"an error: {problem}"
            error = DecodeError(fault.format, description, hint=fault.hint or None)
            file.wrong.append(LineProblem(part.line_of(()), str(fault), error))
            continue
        for entry in entries_of(part.value):
            file = file._replace(has_case=file.has_case or _is_meant(entry))
            read_entry(entry, part, file)
    return file


def entries_of(value: Any) -> Iterator[Entry]:
    """Yield candidates for cases and assertions: a value, or the items of a list, of `cases` and of
    eval sets.
    """
    if isinstance(value, list):
        for n, item in enumerate(value):
            yield from _expand(item, (n,))
    else:
        yield from _expand(value, ())


def _expand(value: Any, path: Path) -> Iterator[Entry]:
    eval_sets = eval_sets_of(value)
    if eval_sets is not None:
        yield from eval_sets.entries(value, path)
    elif isinstance(value, dict) and value.keys() - {"$schema"} == {"cases"}:
        cases: Any = value["cases"]
        if isinstance(cases, list):
            yield from (Entry(item, (*path, "cases", n)) for n, item in enumerate(cases))
        else:
            fault = f"cases: expected a list of cases, got {describe(cases)}"
            yield Entry(cases, (*path, "cases"), fault=fault)
    else:
        yield Entry(value, path)


def _is_meant(entry: Entry) -> bool:
    if "cases" in entry.path:
        return True
    return isinstance(entry.value, dict) and any(name in entry.value for name in _CASE)


def read_entry(entry: Entry, part: Part, file: CaseFile) -> None:
    """Add the cases and assertions of an entry to a file, or its problems."""
    case_id = entry.value.get("case_id") if isinstance(entry.value, dict) else None
    named = f"case {case_id!r}: " if isinstance(case_id, str) else ""
    if entry.left_out is not None:
        file.left_out.append(LineProblem(part.line_of(entry.path), named + entry.left_out))
        return
    faults = [(entry.path, entry.fault)] if entry.fault is not None else list(_faults(entry))
    file.wrong.extend(LineProblem(part.line_of(path), named + text) for path, text in faults)
    if faults:
        return
    try:
        file.documents.extend(_documents(entry.value))
    except DecodeError as error:
        inner_path = parse_path(error.path)
        where = f"{path_text(inner_path)}: " if inner_path else ""
        end = f"; hint: {error.hint}" if error.hint else ""
        text = f"{named}{where}expected {error.expected}, got {error.actual}{end}"
        file.wrong.append(LineProblem(part.line_of((*entry.path, *inner_path)), text, error))


def _faults(entry: Entry) -> Iterator[tuple[Path, str]]:
    """Yield the problems of an entry's assertions, with their places."""
    for path, assertion in _assertions(entry):
        try:
            check_of(assertion)
        except WrongAssertion as error:
            for fault in error.faults:
                yield (*path, *fault.path), fault.message


def _assertions(entry: Entry) -> Iterator[tuple[Path, Any]]:
    value = entry.value
    if not isinstance(value, dict):
        return
    assertions: Any = value.get("assertions")
    if isinstance(assertions, list):
        for n, assertion in enumerate(assertions):
            yield entry.place_of(n), assertion
    elif "assertions" not in value and "case_id" not in value and "type" in value:
        yield entry.path, value


def _documents(value: Any) -> Iterator[EvalCase | Assertion]:
    if not isinstance(value, dict):
        raise DecodeError(_EXPECTED, describe(value), hint=_meant_by(value) or _EXAMPLE)
    try:
        if "case_id" in value or ("assertions" in value and "input" in value):
            yield decode(EvalCase, value)
        elif "assertions" in value:
            yield from decode(EvalCase, {"case_id": "", **value}).assertions
        elif "type" in value:
            yield decode(Assertion, value)
        else:
            members = ", ".join(map(str, value)) or "none"
            raise DecodeError(_EXPECTED, f"an object with members {members}")
    except DecodeError as error:
        misspelt = _misspelt(value)
        hint = None if misspelt else _meant_by(value) or error.hint
        raise DecodeError(error.expected, error.actual + misspelt, error.path, hint=hint) from None


def _meant_by(value: Any) -> str:
    meant = as_assertion(value)
    return f"write {meant}" if meant else ""


def _misspelt(value: dict[str, Any]) -> str:
    """Return which member of a case may be a required one that is missing; empty for none."""
    names = {field.name for field in fields_of(EvalCase)}
    for field in fields_of(EvalCase):
        if field.required and field.name not in value:
            others = [str(name) for name in value if name not in names]
            for name in get_close_matches(field.name, others, n=1):
                return f"; is {name!r} meant as {field.name!r}?"
    return ""
