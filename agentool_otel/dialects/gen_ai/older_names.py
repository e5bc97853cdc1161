"""Names that the baseline of the GenAI conventions does not have any more.

Apart from what reads them (`older`), which few programs need.
"""

from __future__ import annotations

from agentool_otel.semconv import gen_ai
from agentool_otel.semconv.table import NAMED_BY_US, RENAMES, STRUCTURAL

__all__ = ["CHOICE", "is_older"]

CHOICE = "gen_ai.choice"
"""The event of an answer, up to 1.36."""

_PREFIXES = (
    *("gen_ai.prompt", "gen_ai.completion", "llm."),
    *(gen_ai.INPUT_MESSAGES + ".", gen_ai.OUTPUT_MESSAGES + "."),
    *NAMED_BY_US,
)


def is_older(key: str) -> bool:
    """True for the name of an attribute that the baseline does not have any more."""
    return key in RENAMES or key in STRUCTURAL or key.startswith(_PREFIXES)
