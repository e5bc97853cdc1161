"""The kinds of documents in a file: cases, documents of the spec, and all that `convert` reads.

The converters that are installed are the table: what `convert` takes, `validate` checks. Cases add
the forms that `eval` reads besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from io import BytesIO
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, cast

from agentool_otel.converters import Converter, converter_named, converters
from agentool_otel.errors import AgentoolError, DecodeError, SourceError
from agentool_otel.evaluation.assertion_types import assertion_types
from agentool_otel.evaluation.cases.case_text import Part
from agentool_otel.evaluation.cases.files import CaseFile, entries_of, is_yaml, parts_of, read_entry
from agentool_otel.evaluation.cases.registry import eval_set_names, eval_sets_of
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_places import Path as JsonPath
from agentool_otel.ground.json_places import parse_path
from agentool_otel.model import documents as d
from agentool_otel.model.validation import Finding, findings, intended_kind
from agentool_otel.reading.sources.files.any_json import EXPECTED
from agentool_otel.reading.sources.files.streams import unpacked_bytes

__all__ = ["Checked", "check_part", "instead_of_spans", "known_kinds"]

_SPEC = "agentool"
_LINE = re.compile(r":\d+$")
_MEMBERS = 8
_LARGE = 32 << 20
"""Bytes above which a file is not looked into for an error message."""
_CASES = (d.EvalCase, d.Assertion)


class Checked(NamedTuple):
    """The kinds of documents in a file, and their problems."""

    kinds: Counter[str]
    lines: list[str]
    """The problems, each with its line number."""
    invalid: list[JsonPath]
    """The values that are not valid."""
    warned: list[JsonPath]
    """The values with warnings."""


def known_kinds() -> str:
    """Return the kinds that `check_part` knows, for a message."""
    others = [converter.name for converter in _foreign_converters()]
    return (
        "ReasoningTrace (trace_id, steps), EvalCase (case_id, assertions), EvalResult (case_id, "
        "assertion_results), ToolSpec (name, description, parameters), ToolRegistry (registry_id, "
        "tools), ToolCall, ToolResult, Step, assertions (type), eval sets of "
        f"{', '.join(eval_set_names())}, documents of "
        f"{', '.join(others)}, and OTLP recordings (resourceSpans)"
    )


def instead_of_spans(error: DecodeError) -> AgentoolError:
    """Return a better error for a file without spans that another command reads; else the same."""
    file = _LINE.sub("", error.where or "")
    if file.endswith(".py"):
        return SourceError(
            f"{file} is a program, no {'recording' if error.expected == EXPECTED else 'document'}"
            f"; hint: agentool-otel run -- python {quote(file)}"
        )
    if error.expected == EXPECTED and error.where is not None:
        with suppress(AgentoolError, OSError, EOFError, ValueError, RecursionError):
            place = Path(error.where)
            if place.is_file() and place.stat().st_size <= _LARGE:
                return _for_other_command(place) or error
    return error


def _for_other_command(place: Path) -> AgentoolError | None:
    with unpacked_bytes(place) as stream:
        data = stream.read(_LARGE + 1)
    if len(data) > _LARGE:
        return None
    part = next(parts_of(BytesIO(data), yaml=is_yaml(place)), None)
    if part is None or part.fault is not None:
        return None
    values = part.value if isinstance(part.value, list) else [part.value]
    if (converter := _converter_of(part.value)) is not None:
        kind = f"a document of {converter.name}"
        command = f"convert {quote(str(place))} --to {_SPEC}"
    elif any(map(_is_case, values)):
        kind, command = "cases", f"eval {quote(str(place))}"
    else:
        return None
    return SourceError(f"{place} holds {kind}, no spans; hint: agentool-otel {command}")


def check_part(part: Part) -> Checked:
    """Check a value of a file: a document, or a list of them."""
    checked = Checked(Counter(), [], [], [])
    value = part.value
    if isinstance(value, list) and _converter_of(value) is None:
        for n, item in enumerate(value):
            _check(item, (n,), part, checked)
    else:
        _check(value, (), part, checked)
    return checked


@cache
def _foreign_converters() -> list[Converter]:
    """Return the converters for documents of other systems."""
    return [converter_named(name) for name in converters() if name != _SPEC]


def _converter_of(value: Any) -> Converter | None:
    """Return the converter for a document of another system; None for none."""
    return next(
        (converter for converter in _foreign_converters() if converter.recognises(value)), None
    )


def _check(value: Any, path: JsonPath, part: Part, checked: Checked) -> None:
    if (converter := _converter_of(value)) is not None:
        checked.kinds[converter.name] += 1
        _add(_read_by(converter, value), path, part, checked)
    elif _is_case(value):
        _check_cases(value, path, part, checked)
    elif isinstance(value, Mapping) and (kind := intended_kind(cast("Mapping[str, Any]", value))):
        checked.kinds[kind.__name__] += 1
        _add(findings(value, kind), path, part, checked)
    else:
        _add([Finding("error", "$", _unknown_kind(value))], path, part, checked)


def _read_by(converter: Converter, value: Any) -> list[Finding]:
    try:
        converter.read(value)
    except DecodeError as error:
        return [Finding("error", error.path, f"expected {error.expected}, got {error.actual}")]
    return []


def _add(earlier: list[Finding], path: JsonPath, part: Part, checked: Checked) -> None:
    if any(finding.level == "error" for finding in earlier):
        checked.invalid.append(path)
    if any(finding.level == "warning" for finding in earlier):
        checked.warned.append(path)
    for finding in earlier:
        line = part.line_of((*path, *parse_path(finding.path)))
        checked.lines.append(f"line {line}: {finding}")


# --- cases


def _is_case(value: Any) -> bool:
    """Return whether a value is meant as one of the forms of cases and assertions."""
    if not isinstance(value, dict):
        return False
    if eval_sets_of(value) is not None or value.keys() - {"$schema"} in ({"cases"}, {"assertions"}):
        return True
    kind = intended_kind(cast("Mapping[str, Any]", value))
    if kind is not None:
        return kind in _CASES
    word = value.get("type")
    return isinstance(word, str) and bool(get_close_matches(word, assertion_types(), n=1))


def _check_cases(value: Any, path: JsonPath, part: Part, checked: Checked) -> None:
    for entry in entries_of(value):
        inner = entry._replace(
            path=(*path, *entry.path),
            assertion_paths=[(*path, *assertion_path) for assertion_path in entry.assertion_paths],
        )
        file = CaseFile([], [], [], False)
        read_entry(inner, part, file)
        kinds = [type(document).__name__ for document in file.documents]
        checked.kinds.update(kinds or [_kind_of_case(entry.value)])
        if file.wrong:
            checked.invalid.append(inner.path)
        if file.left_out:
            checked.warned.append(inner.path)
        checked.lines.extend(f"line {item.line}: error: {item.message}" for item in file.wrong)
        checked.lines.extend(f"line {item.line}: warning: {item.message}" for item in file.left_out)


def _kind_of_case(value: Any) -> str:
    is_assertion = isinstance(value, dict) and "type" in value and "assertions" not in value
    return "Assertion" if is_assertion else "EvalCase"


def _unknown_kind(value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"not a document but {type(value).__name__}; accepted are {known_kinds()}"
    names = list(cast("Mapping[str, Any]", value))
    listed = ", ".join(names[:_MEMBERS]) + (", ..." if len(names) > _MEMBERS else "")
    return f"an unknown document with members {listed or '(none)'}; accepted are {known_kinds()}"
