"""Brackets on lines of their own between documents: those of a list, and stray ones."""

from __future__ import annotations

import io
import json

import pytest

from agentool_otel.reading.sources.files.span_files import SpanFiles
from tests.reading.sources.test_lost_attributes import document

LINE = json.dumps(document("", None))
PRETTY = json.dumps(document("", None), indent=1)
WHOLE = {
    "a list of one": f"[\n{LINE}\n]\n",
    "a list": f"[\n{LINE},\n{LINE}\n]\n",
    "a list with commas first": f"[\n{LINE}\n,{LINE}]\n",
    "a list with commas alone": f"[\n{LINE}\n,\n{LINE}\n]\n",
    "a list of pretty documents": f"[\n{PRETTY},\n{PRETTY}\n]\n",
    "lists in a row": f"[\n{LINE}\n]\n[\n{LINE}\n]\n",
    "lists in a list": f"[\n[\n{LINE}\n],\n[\n{LINE}\n]\n]\n",
    "an empty list": f"{LINE}\n[\n]\n[]\n{LINE}\n",
    "a log": f"[INFO] {LINE}\n[INFO] {LINE}\n",
}


def messages(text: str) -> list[str]:
    found: list[list[str]] = []
    for undecoded in (False, True):
        source = SpanFiles([io.BytesIO(text.encode())])
        list(source.in_order(undecoded=undecoded))
        found.append([problem.message for problem in source.problems])
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_brackets_of_lists_are_no_problem(text: str) -> None:
    assert messages(text) == []


@pytest.mark.parametrize("count", [1, 2, 5000])
@pytest.mark.parametrize("before", ["", f"{LINE}\n"])
def test_brackets_that_nothing_closes_are_named(before: str, count: int) -> None:
    (message,) = messages(f"{before}{'[' * count}\n{LINE}\n{LINE}\n")
    assert message == f"{count:,} '[' without an end: a list is cut short or damaged"
