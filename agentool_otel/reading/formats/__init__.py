"""Formats: the shapes in which other tools take trajectories.

One file per format. A format is pure: one ReasoningTrace in, one JSON value out, and with it a list
of the losses. No loss is silent: every member of the trace is either in the value or in the list.
Third parties add formats through the entry-point group `agentool_otel.formats`.

    reasoning_trace   the agentool spec's own document: nothing is lost
    atif              Agent Trajectory Interchange Format, as Harbor reads it
    kit/              what the modules of formats are made of

Formats of products are in their folders in `integrations`.
"""

from __future__ import annotations

from agentool_otel.reading.formats.kit.format import (
    Converted,
    Format,
    Framing,
    Loss,
    Writer,
    format_named,
    formats,
    loss_sentences,
)

__all__ = [
    "Converted",
    "Format",
    "Framing",
    "Loss",
    "Writer",
    "format_named",
    "formats",
    "loss_sentences",
]
