"""The table of docs/decisions/index.md: the pages with their dates and titles, by area."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

__all__ = ["AREAS", "Decision", "decisions", "index"]

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
AREAS = (
    "structure",
    "instrumentation",
    "recording",
    "delivery",
    "content",
    "reading",
    "rebuild",
    "evaluation",
    "documents",
    "servers",
)
_PAGE = re.compile(r"---\narea: (\w+)\ndate: (\d{4}-\d{2}(?:-\d{2})?)\n---\n\n# (.+)\n")


class Decision(NamedTuple):
    """A page of a decision, by its first lines."""

    file: str
    area: str
    date: str
    title: str


def decisions() -> list[Decision]:
    """Return all decisions, by area, date and title. Raises: ValueError if a page has no head."""
    results: list[Decision] = []
    for page in sorted(FOLDER.glob("*.md")):
        if page.name == "index.md":
            continue
        head = _PAGE.match(page.read_text(encoding="utf-8"))
        if head is None or head[1] not in AREAS:
            raise ValueError(f"{page.name} begins without area (one of {AREAS}), date and title")
        results.append(Decision(page.name, head[1], head[2], head[3]))
    return sorted(
        results, key=lambda decision: (AREAS.index(decision.area), decision.date, decision.title)
    )


def index() -> str:
    """Return a table for each area."""
    by_area: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions():
        by_area[decision.area].append(decision)
    return "\n".join(
        "\n".join(
            [
                f"## {area.capitalize()}\n\n| date | decision |\n| --- | --- |",
                *(f"| {item.date} | [{item.title}]({item.file}) |" for item in value),
                "",
            ]
        )
        for area, value in by_area.items()
    )
