"""The attributes of a span that are set before the user's code runs in it: they survive a kill.

Only where somebody keeps open spans: `settings.on_described` is called with each span once it has
them. Its end does not encode the same content again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from opentelemetry import trace

from agentool_otel.content.fitting.fitter import NO_CUTS, Cut
from agentool_otel.content.policy import Policy, note_redacted
from agentool_otel.model.operations import UNSET, Operation
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.sdk_spans import clear_masked, note_started, set_all
from agentool_otel.tracing.spans.settings import settings

__all__ = ["StartAttributes", "report_open"]


class StartAttributes:
    """The attributes of an operation's span at its start.

    Args:
        operation: the operation as far as it is known.
        more: further attributes.
        policy: what happens to its content.
    """

    __slots__ = ("_attributes", "_content", "_policy", "cuts")

    def __init__(self, operation: Operation, more: dict[str, Any], policy: Policy):
        attributes = settings.dialect.draft(policy.without_media(operation)).attributes
        attributes.update(more)
        policy.clean(attributes)
        self._policy = policy
        self._attributes = attributes
        self.cuts: Mapping[str, Cut] = NO_CUTS
        """Shortened texts, by attribute."""
        self._content = {
            name: value
            for name, unknown in _CONTENT.items()
            if (value := getattr(operation, name, unknown)) is not unknown
        }

    def fitted(self) -> dict[str, Any]:
        """Return the attributes, shortened where they are too large."""
        fitted = self._attributes.copy()
        self.cuts = self._policy.fit(fitted)
        return fitted

    def without_encoded(self, operation: Operation) -> Operation:
        """Return the operation without the content that has been encoded here."""
        encoded = {
            name: _CONTENT[name]
            for name, value in self._content.items()
            if getattr(operation, name, None) is value
        }
        return msgspec.structs.replace(operation, **encoded) if encoded else operation

    def joined(self, end: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes of the span's start and end together, neither of them fitted."""
        start = self._attributes
        joined = {**start, **end}
        for attributes in (start, end):  # each lists what is wrapped in its own payload
            if wrapped := attributes.get(agentool.TOOL_WRAPPED):
                both = {*(start.get(agentool.TOOL_WRAPPED) or ()), *wrapped}
                joined[agentool.TOOL_WRAPPED] = sorted(both)
        if (redacted := start.get(agentool.CONTENT_REDACTED)) is not None:
            note_redacted(joined, redacted)
        return joined


_CONTENT: dict[str, Any] = {
    "arguments": UNSET,
    "content": UNSET,
    "input": None,
    "query": None,
    "system": None,
    "tools": None,
    "transfer_message": None,
}
"""Fields of operations whose content is known at the start, with their value where it is not."""


def report_open(span: trace.Span, attributes: dict[str, Any], known: int) -> int:
    """Set the attributes of a started span, and report it to `settings.on_described`.

    Args:
        span: the span.
        attributes: under the baseline's names.
        known: as for `set_all`, like the result.
    """
    assert settings.on_described is not None
    known = set_all(span, settings.dialect.named(attributes), known)
    if not note_started(span):
        settings.on_described(span.get_span_context().span_id)
    clear_masked(span)
    return known
