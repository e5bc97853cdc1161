"""Spring AI's log records of content: a title, and a list whose texts are quoted, not escaped.

Source: Spring AI 1.1.4 `ChatModelPromptContentObservationHandler` and its siblings, and
`ObservabilityHelper.concatenateStrings`:

    Chat Model Prompt Content:
    ["You are a weather man.", "What is the weather?"]

    Chat Client Prompt Content:
    ["system":"You are a weather man.", "user":"What is the weather?"]

Quotes and commas inside a text look like its end. A text ends where its own quotes are balanced, as
they are in JSON and in most prose. Java prints a missing text, as of a message that has only tool
calls, as `null`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re

__all__ = ["entries", "role_texts", "texts"]

_BETWEEN = '", "'
_ROLE = re.compile(r'(system|user|assistant|tool)":"(.*)', re.DOTALL)


def entries(span: Reader, title: str) -> Iterator[str]:
    """Yield the entries below a title in the log records that belong to a span."""
    for event in span.span.events:
        body = event.attributes.get("body")
        if isinstance(body, str) and body.startswith(f"{title}:\n"):
            yield body[len(title) + 2 :]


def texts(entry: str) -> list[str]:
    """Return the texts of a list."""
    if not (entry.startswith('["') and entry.endswith('"]')):
        return []
    items: list[str] = []
    for piece in entry[2:-2].split(_BETWEEN):
        if items and items[-1].count('"') % 2:
            items[-1] += _BETWEEN + piece
        else:
            items.append(piece)
    return ["" if item == "null" else item for item in items]


def role_texts(entry: str) -> list[tuple[str, str]]:
    """Return the texts of a list, each with its role."""
    if not (entry.startswith('["') and entry.endswith('"]')):
        return []
    items: list[tuple[str, str]] = []
    for piece in entry[2:-2].split(_BETWEEN):
        if match := _ROLE.fullmatch(piece):
            items.append((match[1], match[2]))
        elif items:  # the text before had this in it
            role, words = items[-1]
            items[-1] = role, words + _BETWEEN + piece
    return items
