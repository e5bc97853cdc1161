"""The words of all dialects, taken from their source, so that fuzzing uses names that they read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import agentool_otel
from agentool_otel.semconv import core, gen_ai, mcp

_PACKAGE = Path(agentool_otel.__file__).parent


def _constants() -> Iterator[str]:
    ours = (_PACKAGE / "dialects").rglob("*.py")
    for file in sorted(
        [
            *ours,
            *(_PACKAGE / "integrations").glob("*/dialect*/**/*.py"),
            *(_PACKAGE / "integrations").glob("*/dialect.py"),
        ]
    ):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
    for module in (core, gen_ai, mcp):
        yield from (value for value in vars(module).values() if isinstance(value, str))


_ALL = sorted(
    {
        constant
        for constant in _constants()
        if 0 < len(constant) < 60 and not re.search(r"[\s{}\[\]]", constant)
    }
)
_INDEXED = (
    "gen_ai.prompt.0.content",
    "gen_ai.prompt.0.role",
    "gen_ai.completion.0.tool_calls.0.id",
)

KEYS = [
    *(item for item in _ALL if re.search(r"[.:]\w", item)),
    *(f"{item}input" for item in _ALL if item.endswith(".")),
    *_INDEXED,
]
MEMBERS = [item for item in _ALL if re.fullmatch(r"\w+", item)]
WORDS = MEMBERS
NAMES = _ALL
SCOPES = [item for item in _ALL if re.fullmatch(r"[\w.@/-]+", item)]
EVENTS = [item for item in _ALL if "." in item] + ["exception"]
