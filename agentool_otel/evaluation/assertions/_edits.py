"""The files that the calls of a run changed."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from agentool_otel.dialects.kit.dialect import agent_tools
from agentool_otel.evaluation.assertions._commands import Argument, arguments_of, by_tool
from agentool_otel.evaluation.assertions._results import has_failed
from agentool_otel.evaluation.comparing import Match, gap_in, hides_members, short
from agentool_otel.evaluation.trace_view import Call, TraceView
from agentool_otel.ground import lazy_re as re
from agentool_otel.semconv.redaction import visible_parts

__all__ = ["has_changed", "is_edit", "match_edit", "path_matches", "paths_in"]

_CHANGED = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |\+\+\+ b/|--- a/)([^\t\r\n]+)"
)
"""A line of a patch that names a file, in the form of Codex or as a unified diff."""
_DRIVE = re.compile(r"[A-Za-z]:/")


def is_edit(call: Call) -> bool:
    """Return whether a call is one of a tool that changes files."""
    return call.name_gap is None and call.name in _tools().edits


def has_changed(trace: TraceView, call: Call) -> bool | None:
    """Return whether a call of such a tool changed a file; None if that is not known."""
    failed, only_reads = has_failed(trace, call), _only_reads(call)
    if failed or only_reads:
        return False
    return None if failed is None or only_reads is None else True


def _only_reads(call: Call) -> bool | None:
    """Return whether a call only reads, as some editing tools can; None if that is not known."""
    for argument, value in _tools().views.get(call.name, ()):
        if not isinstance(call.arguments, dict) or call.replaced is not None:
            return None
        shown = call.arguments.get(argument)
        if shown == value:
            return True
        if shown is None and (call.gap is not None or hides_members(call.arguments)):
            return None
        if gap_in(shown) is not None:
            return None
    return False


class _Tools(NamedTuple):
    """What dialects declare of tools that change files, by tool."""

    edits: dict[str, list[str]]
    views: dict[str, list[tuple[str, str]]]


def _tools() -> _Tools:
    tools = agent_tools()
    return _grouped(tools.edits, tools.views)


@cache
def _grouped(edits: tuple[tuple[str, str], ...], views: tuple[tuple[str, str, str], ...]) -> _Tools:
    return _Tools(by_tool(edits), by_tool((tool, (name, value)) for tool, name, value in views))


def match_edit(trace: TraceView, call: Call, glob: str) -> Match:
    """Return whether a call of an editing tool changed a file whose path a glob matches."""
    changed = has_changed(trace, call)
    if changed is False:
        return Match(False, "nothing")
    arguments = arguments_of(call, _tools().edits[call.name])
    if isinstance(arguments, str):
        return Match(None, f"a path that {arguments}")
    paths = list(dict.fromkeys(path for argument in arguments for path in paths_in(argument)))
    good = [path for path in paths if path_matches(path, glob)]
    gap = next((argument.gap for argument in arguments if argument.gap), None)
    if good:
        return Match(changed, short(good[0]))
    if gap is not None:
        return Match(None, f"a path that {gap}")
    return Match(False, ", ".join(map(short, paths)) or "no path")


def paths_in(argument: Argument) -> list[str]:
    """Return the paths in an argument: those that a patch names, else the path that it is.

    Of a text with gaps, only the lines of a patch that are whole.
    """
    paths = [match[1].strip() for line in _lines(argument) if (match := _CHANGED.match(line))]
    is_path = not paths and argument.gap is None and "\n" not in argument.text
    return [argument.text] if is_path and argument.text else paths


def _lines(argument: Argument) -> Iterator[str]:
    """Yield the lines of a text that are whole."""
    parts = visible_parts(argument.text)
    if argument.gap is not None and len(parts) == 1:
        parts.append("")
    for number, part in enumerate(parts):
        lines = part.split("\n")
        yield from lines[number > 0 : len(lines) - (number < len(parts) - 1)]


def path_matches(path: str, glob: str) -> bool:
    """Return whether a glob matches a path: the whole path if it is absolute, else the end of it.

    `**` stands for any folders or none, `*` and `?` for characters of one name.
    """
    names, wanted = _names(path), _names(glob)
    is_absolute = wanted[:1] == [""] or _DRIVE.match(glob.replace("\\", "/")) is not None
    ends = {0}
    for name in wanted if is_absolute else ["**", *wanted]:
        if name == "**":
            ends = set(range(min(ends), len(names) + 1)) if ends else ends
        else:
            ends = {end + 1 for end in ends if end < len(names) and fnmatchcase(names[end], name)}
    return len(names) in ends


def _names(path: str) -> list[str]:
    """Return the names in a path; the first one of an absolute path is empty."""
    first, *rest = path.replace("\\", "/").split("/")
    names = [name for name in rest if name not in ("", ".")]
    return names if first == "." else [first, *names]
