"""A status for people: ten lines, whatever is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agentool_otel.ground.untrusted_text import count_text, line

if TYPE_CHECKING:
    from agentool_otel.tracing.setup.status import Counts, Destination, Framework, Status

__all__ = ["status_text"]

_NAMED = 8
"""Names in a line; of more, how many there are."""


def status_text(status: Status) -> str:
    """Return a status as ten lines of a name and words each."""
    lines = {
        "enabled": "yes" if status.enabled else "no, calls are not recorded",
        "spans": _spans(status),
        "file": status.recording or "none",
        "content": "captured" if status.content else "not captured",
        "journal": "on" if status.journal else "off",
        "logs": _destination(status.logs),
        "metrics": _destination(status.metrics),
        "frameworks": _frameworks(status.instrumentors),
        "masking": _masking(status),
        "variables": _variables(status.refused_variables),
    }
    return "\n".join(f"{name:<11}{line(words)}" for name, words in lines.items())


def _spans(status: Status) -> str:
    return _destination_words(status.destination, status.spans)


def _destination(destination: Destination) -> str:
    return _destination_words(destination.destination, destination.counts)


def _destination_words(destination: str | None, counts: Counts | None) -> str:
    words = "nowhere yet" if destination is None else destination
    if counts is None:
        return words
    waiting = "".join(
        f", {number:,} {name}"
        for number, name in (
            (counts.spooled, "waiting"),
            (counts.refused, "refused"),
            (counts.dropped, "lost"),
        )
        if number
    )
    return f"{words}: {counts.created:,} created, {counts.exported:,} exported{waiting}"


def _frameworks(frameworks: Mapping[str, Framework]) -> str:
    installed = {
        name: framework for name, framework in frameworks.items() if framework.installed is not None
    }
    attached = [f"{name} {value.installed}" for name, value in installed.items() if value.enabled]
    others = [f"{name} {value.installed}" for name, value in installed.items() if not value.enabled]
    words = f"attached: {_names(attached)}" if attached else "none attached"
    if others:
        words += f"; installed, not attached: {_names(others)}"
    failed = [
        name
        for name, framework in frameworks.items()
        if any(patch["state"] == "failed" for patch in framework.patches)
    ]
    if failed:
        words += f"; failed in part: {_names(failed)} (see agentool-otel doctor)"
    return words


def _masking(status: Status) -> str:
    masking, prefilter = status.masking, status.prefilter
    words = "nothing has passed yet"
    if masking is not None:
        left_out = count_text(masking.dropped_attributes, "attribute")
        words = f"{count_text(masking.masked_values, 'credential')} masked, {left_out} left out"
    if prefilter is None:
        return words
    return f"{words}; prefilter: {prefilter.engine or 'none'}, {prefilter.detail}"


def _variables(refused: Mapping[str, str]) -> str:
    return f"refused: {_names(refused)}" if refused else "none refused"


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return ", ".join(listed[:_NAMED]) + more
