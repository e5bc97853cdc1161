"""The shell commands of a run, and the exit codes that they ended with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

from agentool_otel.dialects.kit.cut_json import is_cut_json
from agentool_otel.dialects.kit.dialect import agent_tools
from agentool_otel.evaluation.assertions._results import ERROR, all_answered, has_failed, was_denied
from agentool_otel.evaluation.comparing import Match, gap_in, hides_members, short
from agentool_otel.evaluation.time_limit import TimeLimit
from agentool_otel.evaluation.trace_view import RESULT, Call, TraceView, or_none
from agentool_otel.evaluation.visible_text import MOST, find, texts_of
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.documents import UNSET
from agentool_otel.reading.rebuild.report.gaps import HIDING
from agentool_otel.semconv.marks import MASK
from agentool_otel.semconv.redaction import visible_parts

__all__ = [
    "Argument",
    "arguments_of",
    "by_tool",
    "exit_code",
    "hidden_command",
    "is_command",
    "match_command",
]

_T = TypeVar("_T")
_MEMBERS = ("exit_code", "exitCode", "returncode")
"""Members of an output object that hold the exit code."""
_OF_METADATA = (*_MEMBERS, "exit")
"""Such members of an object `metadata` in it; the last is opencode's."""


class Argument(NamedTuple):
    """A text among the arguments of a call."""

    text: str
    gap: str | None
    """Why the text may have been longer; None without a sign of it. Gaps inside are marked."""


def by_tool(pairs: Iterable[tuple[str, _T]]) -> dict[str, list[_T]]:
    """Return pairs of a tool and something declared of it, by tool."""
    grouped: dict[str, list[_T]] = {}
    for tool, declared in pairs:
        grouped.setdefault(tool, []).append(declared)
    return grouped


def arguments_of(call: Call, names: Iterable[str]) -> list[Argument] | str:
    """Return the arguments of a call with one of some names; why, if they cannot be seen.

    Arguments that are no object are the text themselves. A list of words is joined to one text.
    """
    if call.arguments is UNSET or call.replaced is not None:
        return call.replaced or call.gap or "was not recorded"
    if isinstance(call.arguments, str) and not is_cut_json(call.arguments):
        return [Argument(call.arguments, call.gap or gap_in(call.arguments))]
    if not isinstance(call.arguments, dict):
        return call.gap or gap_in(call.arguments) or []
    values = [call.arguments[name] for name in names if name in call.arguments]
    if not values and (gap := call.gap or _gap_in_members(call.arguments)) is not None:
        return gap
    # Of an object that was cut, what is there is whole.
    gap = None if (call.gap or "").startswith(HIDING["truncated"]) else call.gap
    return [Argument(_words(value), gap or gap_in(value)) for value in values]


def _gap_in_members(arguments: dict[str, Any]) -> str | None:
    return gap_in(arguments) if hides_members(arguments) else None


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(_words, value))
    return value if isinstance(value, str) else MASK if gap_in(value) else json_codec.dumps(value)


def is_command(call: Call) -> bool:
    """Return whether a call is one of a tool that runs a shell command."""
    return call.name_gap is None and call.name in _tools().commands


def hidden_command(call: Call) -> str | None:
    """Return why nothing of the command of a call can be seen: it may have changed any file; None
    if a part of it can."""
    commands = arguments_of(call, _tools().commands[call.name])
    if isinstance(commands, str):
        return f"a command that {commands}"
    hidden = [
        command.gap
        for command in commands
        if command.gap is not None and not any(map(str.strip, visible_parts(command.text)))
    ]
    return f"a command that {hidden[0]}" if hidden else None


def match_command(trace: TraceView, call: Call, pattern: str) -> Match:
    """Return whether a call of a shell tool ran a command that a pattern matches.

    A denied call ran nothing. Of a call without a result nobody knows whether it ran.
    """
    commands = arguments_of(call, _tools().commands[call.name])
    if isinstance(commands, str):
        return Match(None, f"a command that {commands}")
    matches = [_match_text(pattern, command) for command in commands]
    match = min(matches, key=_rank, default=Match(False, "no command"))
    return match if match.holds is False else _if_it_ran(trace, call, match)


def _match_text(pattern: str, command: Argument) -> Match:
    shown = short(command.text)
    try:
        found = find(pattern, command.text, ends=command.gap is None)
    except TimeLimit as error:  # another call may match: this one is unclear
        return Match(None, f"{shown}: {error}")
    if found is None and (command.gap or len(command.text) > MOST):
        return Match(None, f"{shown}, which {command.gap or 'is too long to be searched'}")
    return Match(found is not None, shown)


def _rank(match: Match) -> int:
    return (True, None, False).index(match.holds)


def _if_it_ran(trace: TraceView, call: Call, match: Match) -> Match:
    if call.result is None:
        answered = all_answered(trace)
        return match if answered else Match(None, f"{match.detail}, whose result was not recorded")
    denied = was_denied(trace, call.result, call.result_step_id)
    if denied is None:
        return Match(None, f"{match.detail}, whose error cannot be seen")
    return Match(False, f"{match.detail}, which was denied") if denied else match


# -------------------------------------------------------------------------------- exit codes


def exit_code(trace: TraceView, call: Call) -> int | None:
    """Return the exit code of the command that a call ran; None if it is not known."""
    if call.result is None or trace.unmatched_call(call.name) is not None:
        return None
    return next(_codes(trace, call), None)


def _codes(trace: TraceView, call: Call) -> Iterator[int | None]:
    """Yield the exit codes that a result has, the surest first; None where one may be hidden."""
    result, output = call.result, or_none(call.result.output)
    if "exit_code" in result.extra:
        yield _number(result.extra["exit_code"])
    if result.output is not UNSET and has_failed(trace, call) is False and _waits(call):
        yield 0  # without an output nobody knows whether it ran
    if trace.replaced(result.output, RESULT, call.result_step_id) is not None:
        yield None
    yield from _codes_in_object(output)
    for text, is_open in _texts(trace, call):
        for pattern in _tools().exit_codes.get(call.name, ()):
            yield from _codes_in_text(pattern, text, is_open)
    if isinstance(output, str) and output.startswith("{"):
        try:
            yield from _codes_in_object(json_codec.loads(output))
        except ValueError:
            return


def _waits(call: Call) -> bool:
    """Return whether a call without an error shows that its command ended with 0."""
    names = _tools().zero_without_error.get(call.name)
    if names is None or not isinstance(call.arguments, dict) or call.gap is not None:
        return False
    return not hides_members(call.arguments) and not any(map(call.arguments.get, names))


def _codes_in_object(output: Any) -> Iterator[int | None]:
    if not isinstance(output, dict):
        return
    for holder, names in ((output, _MEMBERS), (output.get("metadata"), _OF_METADATA)):
        if isinstance(holder, dict):
            yield from (_number(holder[name]) for name in names if name in holder)
            if hides_members(holder):
                yield None


def _number(value: Any) -> int | None:
    is_code = isinstance(value, (int, float)) and not isinstance(value, bool) and value % 1 == 0
    return int(value) if is_code else None


def _texts(trace: TraceView, call: Call) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a result, and whether each may have been longer."""
    result = call.result
    for value, field in ((result.error, ERROR), (result.output, RESULT)):
        if or_none(value) is not None:
            is_open = trace.gap(field, call.result_step_id) is not None
            texts = texts_of(value)
            yield from ((text, is_open) for text in (texts[1:] or texts))


def _codes_in_text(pattern: str, text: str, is_open: bool) -> Iterator[int | None]:
    """Yield the exit code that a pattern finds, at the start or else at the end of a text."""
    parts = [*visible_parts(text), *([""] if is_open else [])]
    at_start = pattern.startswith(r"\A")
    part = parts[0] if at_start else parts[-1]
    found = [*re.compile(pattern, re.MULTILINE).finditer(part)][-1:]
    has_gap = len(parts) > 1
    if has_gap:  # the match may have gone on, or have another one behind it
        found = [
            match for match in found if (match.end() < len(part) if at_start else match.start() > 0)
        ]
    yield from (int(match[1] or 0) for match in found)
    if has_gap:
        yield None


class _Tools(NamedTuple):
    """What dialects declare of tools that run commands, by tool."""

    commands: dict[str, list[str]]
    exit_codes: dict[str, list[str]]
    zero_without_error: dict[str, list[str]]


def _tools() -> _Tools:
    tools = agent_tools()
    return _grouped(tools.commands, tools.exit_codes, tools.zero_without_error)


@cache
def _grouped(*pairs: tuple[tuple[str, str], ...]) -> _Tools:
    return _Tools(*map(by_tool, pairs))
