"""Parts of pages that are generated from the code while the site is built.

A page names its part in a comment of its own line: `<!-- generated: commands -->`.

    commands    the command line, from the objects of click
    functions   functions and classes, from signatures and docstrings
    text        docstrings as Markdown
"""

from __future__ import annotations

import re

from generators.commands import commands
from generators.functions import modules, top_level

__all__ = ["PARTS", "filled"]

PARTS = {"commands": commands, "functions": top_level, "modules": modules}
_PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.M)


def filled(page: str) -> str:
    """Return a page with its generated parts. Raises: KeyError if a part has another name."""
    return _PLACE.sub(lambda place: PARTS[place[1]](), page)
