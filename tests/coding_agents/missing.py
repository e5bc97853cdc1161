"""What each channel of an agent cannot have: the fields of a story that it may lack."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["CHANNEL_TITLES", "MISSING", "Missing"]

CHANNEL_TITLES = {"spans": "spans", "logs": "log records", "file": "session file"}


class Missing(NamedTuple):
    """Fields by channel, and by situation in a channel.

    `some tokens`: the count may lack some. `false status`: the channel is the same whether the
    agent ended or was killed.
    """

    always: dict[str, frozenset[str]]
    content_off: dict[str, frozenset[str]]
    """Besides, where content is switched off."""
    more: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType({})
    """Besides, by channel and situation."""

    def of_channel(self, channel: str) -> tuple[frozenset[str], frozenset[str], list[str]]:
        """Return what a channel never has, what not without content, and what not sometimes."""
        more = [
            f"{situation.replace('_', ' ')}: {', '.join(sorted(fields))}"
            for (name, situation), fields in self.more.items()
            if name == channel
        ]
        return self.always.get(channel, _f("")), self.content_off.get(channel, _f("")), more

    def fields(self, channel: str, situation: str) -> frozenset[str]:
        """Return the fields that a channel may lack in a situation."""
        off = self.content_off.get(channel, frozenset()) if situation == "content_off" else ()
        more = self.more.get((channel, situation), ())
        return self.always.get(channel, frozenset()).union(off, more)


def _f(fields: str) -> frozenset[str]:
    return frozenset(filter(None, fields.split(", ")))


MISSING = {
    "claude-code": Missing(
        {
            "spans": _f("output, thoughts, arguments, prompts of sub-agents"),
            "logs": _f("result, thoughts, prompts of sub-agents"),
        },
        {"spans": _f("input, result"), "logs": _f("input, output, arguments")},
        {
            ("spans", "killed"): _f("input, calls"),
            ("logs", "killed"): _f("arguments"),
            ("logs", "denied"): _f("arguments"),
        },
    ),
    "codex": Missing(
        {
            "spans": _f("input, output, thoughts, arguments, result, outcome"),
            "logs": _f("thoughts"),
        },
        {"logs": _f("input, output")},
        {("spans", "killed"): _f("calls, some tokens"), ("logs", "killed"): _f("arguments")},
    ),
    "copilot": Missing(
        {},
        {"spans": _f("input, output, thoughts, arguments, result")},
        {("spans", "killed"): _f("calls, some thoughts, some tokens")},
    ),
    "opencode": Missing(
        {
            "spans": _f(  # the process ends before all are sent
                "some runs, some tokens, some thoughts, input, output, status, arguments, result, "
                "calls"
            ),
            "logs": _f("all"),
            "file": _f("some tokens"),  # not those of the title
        },
        {},
    ),
    "gemini-cli": Missing(
        {},
        {
            "spans": _f("input, output, tokens, arguments, result, thoughts"),
            "logs": _f("input, output, arguments, result, thoughts, calls"),  # no ids of calls
        },
        {
            ("spans", "thinking"): _f("some tokens"),  # output tokens are without thoughts
            # The calls of a message are written when all of them have ended.
            ("file", "killed"): _f("calls, thoughts, false status, false output"),
        },
    ),
    "qwen-code": Missing(
        {"logs": _f("thoughts")},
        {
            "spans": _f("input, output, arguments, result, thoughts"),
            "logs": _f("input, output, result"),
        },
        # No log record has a call before it has ended.
        {("logs", "killed"): _f("calls, false status, false output")},
    ),
}
