"""The menu of the site, which pages on GitHub do not show."""

from __future__ import annotations

__all__ = ["decisions", "menu"]

_MENU = {
    "Start": ["start/*"],
    "Guides": [
        "guides/index",
        "guides/your-agent",
        "guides/plain-loop",
        "guides/frameworks",
        "guides/frameworks/*",
        "guides/privacy",
        "guides/delivery",
        "guides/disk",
        "guides/servers",
        "guides/rebuild",
        "guides/endings",
        "guides/evaluate",
        "guides/coding-agents",
        "guides/other-systems",
        "guides/where-it-runs",
        "guides/scale",
        "guides/cost",
        "guides/limits",
    ],
    "Concepts": [
        "concepts/how-it-works",
        "concepts/trajectories",
        "concepts/recordings",
        "concepts/fidelity",
        "concepts/delivery",
        "concepts/*",
    ],
    "Reference": [
        "reference/index",
        "reference/functions",
        "reference/modules",
        "reference/commands",
        "reference/variables",
        "reference/attributes",
        "reference/vocabularies",
        "reference/sources",
        "reference/formats",
        "reference/assertions",
        "reference/hidden-data",
        "reference/scopes",
        "reference/*",
    ],
    "Decisions": ["decisions/index"],
}
"""The pages of each part, in their order; `*` stands for the others in the folder."""


def menu() -> str:
    """Return the tables of contents of `index.md`, one for each part."""
    return "\n\n".join(_toctree(pages, f":caption: {part}") for part, pages in _MENU.items())


def decisions() -> str:
    """Return the table of contents of `decisions/index.md`."""
    return _toctree(["*"])


def _toctree(pages: list[str], *options: str) -> str:
    return "\n".join(["```{toctree}", ":hidden:", ":glob:", *options, "", *pages, "```"])
