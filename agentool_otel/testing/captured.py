"""Capture the runs of a test's block as traces, in memory, with content.

    from agentool_otel.testing.captured import captured_traces

    with captured_traces() as traces:
        answer("What is new?")
    assert traces.trace.output == "Nothing."

With pytest the fixture `agent_traces` is the same for a whole test. Nothing is written to a file or
sent, and the program's own telemetry is as it was afterwards. Work in other processes is not seen.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentool_otel.ground.untrusted_text import count_text
from agentool_otel.model.documents import UNSET, ReasoningTrace

if TYPE_CHECKING:
    from agentool_otel.model.spans import SpanRecord
    from agentool_otel.reading.rebuild.trace import Rebuilt
    from agentool_otel.tracing.export.in_memory import InMemory

__all__ = ["AgentTraces", "captured_traces"]

_LISTED = 10


class AgentTraces:
    """The runs that have ended so far, rebuilt from their spans on each access."""

    def __init__(self, spans: InMemory):
        self._spans = spans

    def spans(self) -> list[SpanRecord]:
        """Return the spans, those of other instrumentations too, in the order they ended."""
        from agentool_otel.reading.sources.files.span_files import SpanFiles

        document = io.BufferedReader(io.BytesIO(self._spans.document()))
        return list(SpanFiles([document], "memory").spans())

    def __iter__(self) -> Iterator[Rebuilt]:
        """Iterate over the runs, so that `assert_trace(agent_traces, ...)` asserts all of them."""
        return iter(self.rebuilt())

    def __len__(self) -> int:
        """Return how many runs have ended."""
        return len(self.rebuilt())

    def __repr__(self) -> str:
        traces = self.traces()
        lines = "".join(f"\n  {trace}" for trace in traces[:_LISTED])
        more = f"\n  ... and {len(traces) - _LISTED} more" if len(traces) > _LISTED else ""
        return f"<AgentTraces: {count_text(len(traces), 'run')}{lines}{more}>"

    def rebuilt(self) -> list[Rebuilt]:
        """Return the runs with the fidelity of each trace."""
        from agentool_otel.loading import rebuild

        return list(rebuild(self.spans()))

    def traces(self) -> list[ReasoningTrace]:
        """Return a trace of each run; an agent that another one calls has one of its own."""
        return [rebuilt_trace.trace for rebuilt_trace in self.rebuilt()]

    @property
    def trace(self) -> ReasoningTrace:
        """The trace of the only run that is not part of another one.

        Raises:
            AssertionError: there is none, or there are several.
        """
        __tracebackhide__ = True
        traces = self.traces()
        tops = [trace for trace in traces if not _is_part(trace)]
        if len(tops) == 1:
            return tops[0]
        if not tops:
            raise AssertionError(
                f"no agent run has ended, among {len(self.spans())} spans; hint: the agent is "
                "decorated with agentool_otel.agent, is run inside agentool_otel.run(), or by a "
                "framework that `agentool-otel doctor` lists; a run in another process is not seen"
            )
        listed = "".join(f"\n  {_name_of(top)}" for top in tops[:_LISTED])
        more = f"\n  ... and {len(tops) - _LISTED} more" if len(tops) > _LISTED else ""
        raise AssertionError(
            f"{len(tops)} agent runs have ended, not one; hint: traces() has all{listed}{more}"
        )

    def clear(self) -> None:
        """Forget the runs so far."""
        self._spans.forget()


@contextmanager
def captured_traces() -> Generator[AgentTraces]:
    """Capture the runs of the block, in this process: in all its threads, tasks and callbacks."""
    from agentool_otel.tracing.export.in_memory import InMemory
    from agentool_otel.tracing.setup.redirecting import redirect

    spans = InMemory()
    with redirect(spans):
        yield AgentTraces(spans)


def _is_part(trace: ReasoningTrace) -> bool:
    metadata = {} if trace.metadata is UNSET or trace.metadata is None else trace.metadata
    return isinstance(metadata.get("parent_trace_id"), str)


def _name_of(trace: ReasoningTrace) -> str:
    agent = trace.agent_id if isinstance(trace.agent_id, str) else "(agent without a name)"
    return f"{agent}  {trace.trace_id}"
