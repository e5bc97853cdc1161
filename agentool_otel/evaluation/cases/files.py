"""Files of cases: EvalCases, or assertions alone, as JSON, JSON Lines or YAML; ADK eval sets.

Reading one runs no code that it names, and a file cannot grow in memory beyond what stands in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from agentool_otel.errors import DecodeError
from agentool_otel.evaluation.cases.adk_eval_sets import cases_of, is_eval_set
from agentool_otel.evaluation.cases.yaml_values import yaml_items
from agentool_otel.ground.urls import shown
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Assertion, EvalCase
from agentool_otel.model.problems import Problem
from agentool_otel.sources.files.json_files import Item, expanded, items, opened

__all__ = ["read_cases"]

_YAML = (".yaml", ".yml")


def read_cases(place: Path | None) -> tuple[list[EvalCase | Assertion], list[Problem]]:
    """Read the cases of a file or of standard input; return them and the problems.

    It holds cases, one assertion each, objects that have nothing but `cases` or `assertions`, or an
    eval set of Google's ADK. A file is YAML by its name, standard input by not beginning as JSON.

    Raises:
        SourceError: it cannot be opened.
        DecodeError: nothing in it is a case or an assertion.
        MissingDependencyError: it is YAML, and PyYAML is not installed.
    """
    label = "standard input" if place is None else shown(place)
    documents: list[EvalCase | Assertion] = []
    problems: list[Problem] = []
    first: DecodeError | None = None
    try:
        with opened(place) as stream:
            for item in _items(stream, label, place):
                try:
                    documents += _documents(item)
                except DecodeError as error:
                    where = item.where + _named(item.value)
                    first = first or error.within(where)
                    at = "" if error.path == "$" else f" - at {error.path}"
                    message = item.error or f"expected {error.expected}, got {error.found}{at}"
                    problems.append(Problem(where, message))
    except (EOFError, OSError, zlib.error) as error:
        raise DecodeError("cases", f"a file that breaks off ({error})", where=label) from error
    if not documents:
        raise first or DecodeError("a case or an assertion", "nothing", where=label)
    return documents, problems


def _items(stream: BinaryIO, label: str, place: Path | None) -> Iterator[Item]:
    """Yield the candidates for cases one by one: members of lists, of `cases` and of eval sets. One
    that cannot be read does not affect the others."""
    entries = yaml_items(stream, label) if _is_yaml(stream, place) else items(stream, label)
    for item in entries:
        value = item.value
        if is_eval_set(value):
            yield from cases_of(value, item.where)
        elif isinstance(value, dict) and value.keys() == {"cases"}:
            yield from expanded(value["cases"], f"{item.where} cases")
        else:
            yield item


def _is_yaml(stream: BinaryIO, place: Path | None) -> bool:
    if place is not None:
        return place.suffix.lower() in _YAML
    head: bytes = getattr(stream, "peek", bytes)(1)
    return bool(head.strip()) and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[")


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
