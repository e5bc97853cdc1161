"""Parts of pages that are generated from the code while the site is built.

A page names its part in a comment of its own line: `<!-- generated: commands -->`.

    commands    the command line, from the objects of click
    decisions   the menu of the decisions
    functions   functions and classes of `agentool_otel`, from signatures and docstrings
    menu        the menu of the site
    modules     the same of the other modules that programs import

`text` turns docstrings into Markdown.
"""

from __future__ import annotations

import re

from generators.commands import commands
from generators.functions import modules, top_level
from generators.menu import decisions, menu

__all__ = ["PARTS", "filled"]

PARTS = {
    "commands": commands,
    "decisions": decisions,
    "functions": top_level,
    "menu": menu,
    "modules": modules,
}
_PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.M)


def filled(page: str) -> str:
    """Return a page with its generated parts. Raises: KeyError if a part has another name."""
    return _PLACE.sub(lambda place: PARTS[place[1]](), page)
