"""The right answer of a fixture, and how much of it a reading has.

An answer is a JSON file in `tests/fixtures/answers`, transcribed from the raw file. `source` names
what settles it, `doubt` what a careful reader could see otherwise. A text that ends with `…` stands
for every text that begins so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "ASPECTS",
    "FIXTURES",
    "Answer",
    "Found",
    "Share",
    "answers",
    "compared",
    "without_class",
]

FIXTURES = Path(__file__).parent.parent / "fixtures"

Item = tuple[Any, ...]

ASPECTS = (
    "tool calls",
    "arguments",
    "results",
    "errors",
    "LLM calls",
    "tokens",
    "input",
    "output",
    "handoffs",
    "sessions",
)


@dataclass
class Found:
    """Contents that were read from a file; an aspect that the reader does not support is None."""

    items: dict[str, list[Item] | None] = field(
        default_factory=lambda: {aspect: [] for aspect in ASPECTS}
    )
    runs: int = 0

    def add(self, aspect: str, *item: Any) -> None:
        entries = self.items[aspect]
        assert entries is not None
        entries.append(item)


class Answer(NamedTuple):
    """A fixture and what is in it."""

    fixture: Path
    dialect: str
    found: Found
    wanting: dict[str, str]
    """Aspects that we do not read wholly, and why not; `runs` where their number differs."""


class Share(NamedTuple):
    """Number of right items, with the numbers of expected and found ones."""

    right: int
    expected: int
    found: int

    @property
    def recall(self) -> float | None:
        return self.right / self.expected if self.expected else None

    @property
    def precision(self) -> float | None:
        return self.right / self.found if self.found else None


def answers() -> list[Answer]:
    """Return the answers of all fixtures, by dialect."""
    read = [_read(path) for path in sorted((FIXTURES / "answers").glob("*.json"))]
    return sorted(read, key=lambda answer: (answer.dialect, answer.fixture))


def compared(expected: Found, result: Found) -> dict[str, Share | None]:
    """Return the share of every aspect; None where the reader has no place for it."""
    shares: dict[str, Share | None] = {}
    for aspect in ASPECTS:
        wanted, got = expected.items[aspect], result.items[aspect]
        if got is None or wanted is None:
            shares[aspect] = None
        elif aspect == "LLM calls":
            counts = sum(n for (n,) in wanted), sum(n for (n,) in got)
            shares[aspect] = Share(min(counts), *counts)
        else:
            shares[aspect] = Share(_matches(wanted, got), len(wanted), len(got))
    return shares


def _matches(wanted: Iterable[Item], items: Iterable[Item]) -> int:
    left = list(items)
    right = 0
    for item in wanted:
        match = next((n for n, second in enumerate(left) if _same(list(item), list(second))), None)
        if match is not None:
            right += 1
            del left[match]
    return right


def _same(wanted: Any, result: Any) -> bool:
    if isinstance(wanted, str) and wanted.endswith("…"):
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return text.startswith(wanted[:-1])
    wanted, result = _value(wanted), _value(result)
    if isinstance(wanted, list) and isinstance(result, list):
        return len(wanted) == len(result) and all(map(_same, wanted, result))
    if isinstance(wanted, dict) and isinstance(result, dict):
        return wanted.keys() == result.keys() and all(_same(wanted[k], result[k]) for k in wanted)
    return bool(wanted == result)


def _value(text: Any) -> Any:
    """A value, also where it came as the JSON text of one: tools and providers differ in that."""
    if isinstance(text, str) and text[:1] in ("{", "[") and not text.endswith("…"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def without_class(error: str) -> str:
    """Return the message of an error, which may have the class of an exception before it."""
    return re.sub(r"^(?:\w+\.)*[A-Z]\w*[a-z]: ", "", error)


def _read(path: Path) -> Answer:
    document = json.loads(path.read_text())
    result = Found(runs=len(document["runs"]))
    for run in document["runs"]:
        result.add("LLM calls", run.get("llm_calls", 0))
        for aspect, member in (("tokens", "tokens"), ("input", "input"), ("output", "output"),
                               ("sessions", "session")):  # fmt: skip
            if member in run:
                result.add(aspect, run[member])
        for target in run.get("handoffs", ()):
            result.add("handoffs", target)
        for call in run.get("tools", ()):
            if "name" in call:
                result.add("tool calls", call["name"])
            for aspect, member in (("arguments", "arguments"), ("results", "result"),
                                   ("errors", "error")):  # fmt: skip
                if member in call:
                    value = without_class(call[member]) if member == "error" else call[member]
                    result.add(aspect, call.get("name"), value)
    return Answer(
        FIXTURES / document["fixture"], document["dialect"], result, document.get("wanting", {})
    )
