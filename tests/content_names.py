"""Write the list of names with content, from the declarations of the dialects.

    python -m tests.content_names

Into `agentool_otel/semconv/_content_names.py`, which every program looks names up in, and into the
redaction processor of `collector-config/redact.yaml`, between the lines `# generated` and `# end`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from agentool_otel.dialects import dialects
from agentool_otel.dialects.kit.dialect import Content
from agentool_otel.semconv import agentool, core
from agentool_otel.semconv.foreign import EVENT_KEEPS, NUMBERS, PERSONAL, WORDS
from agentool_otel.semconv.table import (
    ATTRIBUTES,
    CONTENT,
    NAMED_BY_US,
    OURS,
    PREFIXES,
    RENAMES,
    STRUCTURAL,
)

__all__ = [
    "COLLECTOR",
    "MODULE",
    "declared",
    "event_conditions",
    "ignored",
    "in_collector",
    "kept_in_events",
    "module",
    "patterns",
]

ROOT = Path(__file__).parent.parent
MODULE = ROOT / "agentool_otel" / "semconv" / "_content_names.py"
COLLECTOR = ROOT / "collector-config" / "redact.yaml"
_REGION = re.compile(r"^( *)# generated: (\w+)\n.*?^ *# end\n", re.M | re.S)
_BESIDE = (core.EXCEPTION_MESSAGE, core.EXCEPTION_STACKTRACE, agentool.METADATA)
"""Attributes that the Collector masks as well: errors quote their input, metadata are free text."""


def declared() -> Content:
    """Return all names that hold content: of the conventions, and of every dialect of ours."""
    ours = [
        dialect.content
        for dialect in dialects()
        if type(dialect).__module__.startswith("agentool_otel.")
    ]
    older = {old for old, rename in RENAMES.items() if rename.new in CONTENT}
    older |= {old for old, new in STRUCTURAL.items() if new in CONTENT}
    of_prefixes = {prefix for prefix, value in PREFIXES.items() if value.content}
    attributes = {
        *CONTENT,
        *older,
        *of_prefixes,
        *(attribute for one in ours for attribute in one.attributes),
    }
    names = [attribute for attribute in (*ATTRIBUTES, *RENAMES) if attribute not in attributes]
    return Content(
        attributes=tuple(sorted(attributes)),
        events=tuple(sorted({event for one in ours for event in one.events})),
        objects=tuple(sorted({obj for one in ours for obj in one.objects} - attributes)),
        keeps=tuple(
            sorted(
                {
                    *_covered(names, attributes),
                    *(prefix for prefix, value in PREFIXES.items() if not value.content),
                    *(keep for one in ours for keep in one.keeps),
                }
            )
        ),
    )


def _covered(names: Iterable[str], attributes: set[str]) -> Iterable[str]:
    """Yield the names of the conventions that hold no content and are covered by a declared one."""
    pattern = re.compile("|".join(map(_forms, sorted(attributes))), re.I)
    return (name for name in names if pattern.search(name))


def _forms(name: str) -> str:
    """Return a pattern that finds a name and the names below it."""
    return f"^{_escaped(name)}{_below(name)}"


def _below(name: str) -> str:
    """Return the pattern of what follows a name: its end, or the names below that are content."""
    if name.endswith("."):
        return ""
    return _MEMBERS if "." in name else _ITEMS


_MEMBERS, _ITEMS = r"($|[.[])", r"($|[.[][0-9])"


def _regex(name: str) -> str:
    """Return a pattern, for RE2 as well, that finds the names that a declared one covers."""
    return f"^{_tail(name)}"


def _tail(name: str) -> str:
    """Return a pattern for a name or for what is behind its first dot, which may be anything."""
    return _escaped(name) + ("" if not name or name.endswith(".") else "$")


def _escaped(name: str) -> str:
    return name.replace(".", r"\.").replace("*", "[^.]+")


# ------------------------------------------------------------------------------------- the module


def module() -> str:
    """Return the text of the module."""
    content = declared()
    parts = [
        '"""Names that hold content, of every vocabulary.\n\n'
        "Generated from the declarations of the dialects: `python -m tests.content_names`.\n"
        '"""\n\nfrom __future__ import annotations\n\n'
        '__all__ = ["ATTRIBUTES", "EVENTS", "KEEPS", "OBJECTS"]\n'
    ]
    for name, values in (
        ("ATTRIBUTES", content.attributes),
        ("EVENTS", content.events),
        ("OBJECTS", content.objects),
        ("KEEPS", content.keeps),
    ):
        lines = "".join(f'    "{value}",\n' for value in values)
        parts.append(f"{name} = (\n{lines})\n")
    return "\n".join(parts)


# ---------------------------------------------------------------------------------- the Collector


def patterns() -> list[str]:
    """Return the patterns of the keys that the Collector masks, of each namespace together."""
    content = declared()
    declarations = {*content.attributes, *content.objects, *_BESIDE}
    by_namespace: dict[tuple[str, str], list[str]] = {}
    for name in sorted(declarations):
        if name.endswith(".") and name.count(".") > 1 and name[:-1] in declarations:
            continue  # the name's own pattern finds what lies below it
        namespace, dot, remainder = name.partition(".")
        start = _escaped(namespace) + r"\." if dot else ""
        if name.startswith(_RENAMED):
            start = f"({_escaped(OURS)})?{start}"
        tail = _escaped(remainder if dot else name)
        by_namespace.setdefault((start, _below(name)), []).append(tail)
    named = [
        f"(?i)^{start}({'|'.join(some)}){end}"
        for (start, end), tails in sorted(by_namespace.items())
        for some in _in_lines(tails)
    ]
    words = [f"(?i)(^|[./:])({'|'.join(some)}){_ITEMS}" for some in _in_lines(_words())]
    return [*named, *words, f"(?i)(^|[^a-z0-9_])({'|'.join(sorted(PERSONAL))})([^a-z0-9_]|$)"]


def _words() -> list[str]:
    return [_escaped(word) for word in sorted(WORDS)]


def _in_lines(tails: list[str]) -> Iterable[list[str]]:
    """Yield the items of a list in parts that fit a line."""
    line: list[str] = []
    for tail in tails:
        if line and sum(map(len, line)) + len(tail) > _LINE:
            yield line
            line = []
        line.append(tail)
    yield line


_LINE = 80
_RENAMED = tuple(prefix.removeprefix(OURS) for prefix in NAMED_BY_US)
"""Namespaces whose names stand behind ours in a generation that has no name for them."""


def ignored() -> list[str]:
    """Return the patterns of the keys that the Collector lets pass although one of those finds
    them."""
    numbers = f"(?i)(^|[./:])({'|'.join(sorted(NUMBERS))})[./:]"
    words = [f"{numbers}(.*[./:])?({'|'.join(some)}){_ITEMS}" for some in _in_lines(_words())]
    return [*(f"(?i){_regex(name)}" for name in declared().keeps), *words]


def event_conditions(path: str) -> list[str]:
    """Return the conditions, in the Collector's language, under which an event holds content.

    Args:
        path: of the event's name.
    """
    tails = list(map(_tail, declared().events))
    return [f"IsMatch({path}, {_quoted('^(' + '|'.join(line) + ')')})" for line in _in_lines(tails)]


def kept_in_events() -> list[str]:
    """Return the statement that removes all attributes of an event but those that place it."""
    keys = "|".join(map(re.escape, sorted(EVENT_KEEPS)))
    return [f"keep_matching_keys(attributes, {_quoted(f'^({keys})$')})"]


def _quoted(pattern: str) -> str:
    """Return a pattern as a text of the Collector's language."""
    return '"' + pattern.replace("\\", "\\\\") + '"'


_LISTS: dict[str, Callable[[], list[str]]] = {
    "blocked": patterns,
    "ignored": ignored,
    "events": lambda: event_conditions("name"),
    "kept": kept_in_events,
    "records": lambda: [
        *event_conditions("event_name"),
        *event_conditions('attributes["event.name"]'),
    ],
    "record": lambda: [*kept_in_events(), 'set(body, "****")'],
}


def in_collector(text: str) -> str:
    """Return the Collector's configuration with its generated lists as they should be."""

    def filled(region: re.Match[str]) -> str:
        indent, name = region[1], region[2]
        items = "".join(f"{indent}- '{item}'\n" for item in _LISTS[name]())
        return f"{indent}# generated: {name}\n{items}{indent}# end\n"

    return _REGION.sub(filled, text)


def main() -> None:
    MODULE.write_text(module(), encoding="utf-8")
    COLLECTOR.write_text(in_collector(COLLECTOR.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
