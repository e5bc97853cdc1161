"""Files of cases: EvalCases, or assertions alone, as JSON or JSON Lines."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentool_otel.cli._reading import Item, items, opened
from agentool_otel.errors import DecodeError
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
    try:
        with opened(place) as stream:
            for item in items(stream, label):
                try:
                    documents += _documents(item)
                except DecodeError as error:
                    where = item.where + _named(item.value)
                    first = first or error.within(where)
                    at = "" if error.path == "$" else f" - at {error.path}"
                    said = item.error or f"expected {error.expected}, got {error.found}{at}"
                    problems.append(Problem(where, said))
    except (EOFError, OSError, zlib.error) as error:
        raise DecodeError("cases", f"a file that breaks off ({error})", where=label) from error
    if not documents:
        raise first or DecodeError("a case or an assertion", "nothing", where=label)
    return documents, problems


def _documents(item: Item) -> Iterator[EvalCase | Assertion]:
    if item.error is not None:
        raise DecodeError("a case or assertion as JSON", f"something else ({item.error})")
    value = item.value
    if not isinstance(value, dict):
        raise DecodeError("an object (EvalCase or Assertion)", type(value).__name__)
    if "case_id" in value or ("assertions" in value and "input" in value):
        yield decode(EvalCase, value)
    elif "assertions" in value:
        yield from decode(EvalCase, {"case_id": "", **value}).assertions
    elif "type" in value:
        yield decode(Assertion, value)
    else:
        raise DecodeError(
            "an EvalCase (case_id, assertions) or an Assertion (type)",
            f"an object with members {', '.join(map(str, value)) or 'none'}",
        )


def _named(value: Any) -> str:
    """Return which case an error is in, where it has an id."""
    name = value.get("case_id") if isinstance(value, dict) else None
    return f" (case {name!r})" if isinstance(name, str) else ""
