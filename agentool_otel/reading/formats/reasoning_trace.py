"""The ReasoningTrace document itself, as JSON Lines. Spec: agentool interoperability spec v0.1."""

from __future__ import annotations

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.formats.kit.format import LINES, Converted

__all__ = ["ReasoningTraceFormat"]


class ReasoningTraceFormat:
    """Loses nothing."""

    name = "reasoning-trace"
    framing = LINES

    def write(self, trace: ReasoningTrace) -> Converted:
        return Converted(trace.to_dict(), [])
