"""Files of cases: EvalCases, or assertions alone, as JSON or JSON Lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentool_otel import _json
from agentool_otel.errors import DecodeError, SourceUnreachable
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Assertion, EvalCase
from agentool_otel.model.problems import Problem

__all__ = ["read_cases"]


def read_cases(place: Path | None) -> tuple[list[EvalCase | Assertion], list[Problem]]:
    """Return what a file, or standard input, holds, and what of it could not be read.

    It holds cases, one assertion each, or objects that have nothing but `assertions`.

    Raises:
        SourceError: it cannot be opened.
        DecodeError: nothing in it is a case or an assertion.
    """
    label = "standard input" if place is None else str(place)
    documents: list[EvalCase | Assertion] = []
    problems: list[Problem] = []
    first: DecodeError | None = None
    for where, value in _values(_read(place), label):
        try:
            documents += _documents(value)
        except DecodeError as error:
            name = value.get("case_id") if isinstance(value, dict) else None
            where += f" (case {name!r})" if isinstance(name, str) else ""
            first = first or error.within(where)
            at = "" if error.path == "$" else f" - at {error.path}"
            problems.append(Problem(where, f"expected {error.expected}, got {error.found}{at}"))
    if not documents:
        raise first or DecodeError("a case or an assertion", "nothing", where=label)
    return documents, problems


def _read(place: Path | None) -> bytes:
    try:
        return sys.stdin.buffer.read() if place is None else place.read_bytes()
    except OSError as error:
        raise SourceUnreachable(f"{place} cannot be opened: {error.strerror or error}") from error


def _values(text: bytes, label: str) -> Iterator[tuple[str, Any]]:
    try:
        value = _json.loads(text)
    except ValueError:
        for n, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    yield f"{label} line {n}", _json.loads(line)
                except ValueError as error:
                    raise DecodeError("JSON", str(error), where=f"{label} line {n}") from None
        return
    many = value if isinstance(value, list) else [value]
    yield from ((f"{label} item {n}" if len(many) > 1 else label, it) for n, it in enumerate(many))


def _documents(value: Any) -> Iterator[EvalCase | Assertion]:
    if isinstance(value, dict) and "type" in value:
        yield decode(Assertion, value)
    elif isinstance(value, dict) and "assertions" in value and "case_id" not in value:
        yield from decode(EvalCase, {"case_id": "", **value}).assertions
    else:
        yield decode(EvalCase, value)
