"""Earlier words in cases, which still mean what they did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentool_otel.evaluation.assertions.tool_calls import OLD_MODES
from agentool_otel.model.documents import Assertion, EvalCase

__all__ = ["note_on_old_words"]


def note_on_old_words(documents: Iterable[EvalCase | Assertion]) -> str | None:
    """Return a sentence on the earlier words of some cases; None if there are none."""
    used = dict.fromkeys(word for item in documents for word in _modes(item) if word in OLD_MODES)
    if not used:
        return None
    pairs = " and ".join(f"{OLD_MODES[word]!r} instead of {word!r}" for word in used)
    return f"mode of args_match and args_mode have new words: write {pairs}"


def _modes(item: EvalCase | Assertion) -> Iterator[str]:
    listed: Any = item.assertions if isinstance(item, EvalCase) else [item]
    for assertion in listed if isinstance(listed, (list, tuple)) else ():
        body = assertion.to_dict() if isinstance(assertion, Assertion) else {}
        if body.get("type") == "args_match":
            yield str(body.get("mode"))
        tools = body.get("tools") if body.get("type") == "tool_sequence" else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict):
                yield str(tool.get("args_mode"))
