"""The spans of one run, before it is rebuilt."""

from __future__ import annotations

from typing import Any

from agentool_otel.reading.rebuild.evaluation_spans import Judgement
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["TURNS_BEFORE", "UNMATCHED_TOOLS", "RunSpans"]

UNMATCHED_TOOLS = "unmatched_tools"
"""Member of a trace's metadata: names of tools that were called in spans outside the run, perhaps
at its request. Several runs requested them at once, and nothing distinguishes their calls.
"""
TURNS_BEFORE = "turns_before"
"""Member of a trace's metadata: input and output of the turns of a chat that its first model call
repeats, where their own calls are not among the spans."""


class RunSpans:
    """The nodes of one run: its root, if it has one, and everything inside, in order of start."""

    __slots__ = (
        "copies",
        "inferences",
        "judgements",
        "link",
        "nodes",
        "root",
        "session",
        "trace_id",
    )

    def __init__(self, trace_id: str, root: Node | None, nodes: list[Node]):
        self.trace_id = trace_id
        """The rebuilt trace's id."""
        self.root = root
        self.nodes = nodes
        self.inferences: list[Node] = []
        """Its model calls, each once, in order; known once the document is built."""
        self.link: dict[str, Any] = {}
        """References to other traces, for its metadata."""
        self.copies = 0
        """Number of less complete copies of spans in its OTel traces; for the report."""
        self.session: str | None = None
        """The session that its messages share with those of other runs, if no span names one."""
        self.judgements: list[Judgement] = []
        """The judgements of it in its OTel trace; not part of it."""

    @property
    def all_nodes(self) -> list[Node]:
        """The nodes with the root, if there is one, first."""
        return self.nodes if self.root is None else [self.root, *self.nodes]
