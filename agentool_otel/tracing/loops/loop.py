"""One plain loop: the span of the inferred run, and the tools that nobody decorated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import monotonic, time_ns
from typing import NamedTuple

from opentelemetry.context import Context

from agentool_otel.content.policy import as_text
from agentool_otel.model.evidence import Fingerprint, fits
from agentool_otel.model.messages import Message, Part
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from agentool_otel.providers.calls import parse_structured
from agentool_otel.semconv import agentool, mcp
from agentool_otel.tracing.loops.history import Link, requests_in
from agentool_otel.tracing.spans.exceptions import error_type_of, failed_status
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.requested_calls import Call, calls_in
from agentool_otel.tracing.spans.run import RUN_KEY
from agentool_otel.tracing.spans.sdk_spans import context_with
from agentool_otel.tracing.spans.settings import settings
from agentool_otel.tracing.spans.step_spans import StepSpan

__all__ = ["Failure", "Loop", "begin_loop", "failure_of"]

_DESCRIPTION = "an inferred run"
INFERRED = {agentool.INFERRED: "run"}
_INFERRED_TIMES = {agentool.INFERRED: "times"}
_APART_NS = 1_000


class Failure(NamedTuple):
    """Why a model call failed. The exception itself would keep the frames of the program alive."""

    error_type: str
    status: str
    """Status of a run that ends so."""
    error_id: int | None = None
    """`id` of the exception, if there was one."""


def failure_of(error: BaseException | None, error_type: str | None) -> Failure | None:
    """Return why a model call failed; None if it did not.

    Args:
        error: the exception that ended it.
        error_type: its `error.type`, where it failed without an exception.
    """
    if error is None:
        return None if error_type is None else Failure(error_type, failed_status(None, error_type))
    return Failure(error_type or error_type_of(error), failed_status(error), id(error))


def _end_tool(step: StepSpan, result: Part, now_ns: int) -> None:
    """End the span of a tool with the result that the program sends."""
    response = result.get("response")
    step.add(result=parse_structured(response))
    if result.get("is_error") is True:  # as the program says, or the client's own tool runner
        step.set(error_type=mcp.ERROR_TYPE_TOOL)
        step.add(lambda: {"tool_error": as_text(response)})
    step.end(end_ns=now_ns)


class Loop:
    """A loop whose answer is still awaited.

    Args:
        root: the span of the run.
        session: id of the session that the run is in.
        outer_id: span id of its parent, 0 without one.
    """

    __slots__ = (
        "_executed",
        "answered_ns",
        "began_ns",
        "calls",
        "failed_key",
        "failure",
        "links",
        "outer_id",
        "requested",
        "requests",
        "root",
        "session",
        "tools",
        "touched_ns",
        "touched_s",
    )

    def __init__(self, root: StepSpan, session: str | None, outer_id: int):
        self.root = root
        self.session = session
        self.outer_id = outer_id
        self.began_ns = 0 if root.live is None else root.live.start_ns
        self.calls = 0
        """Model calls under way."""
        self.tools = 0
        """Decorated tools under way."""
        self.links: list[Link] = []
        """What its last answer offers."""
        self.requests: dict[str, Part] = {}
        """The tool calls that its last answer requests, by id."""
        self.requested: list[Call] = []
        """The same as hashes, to compare tools with."""
        self._executed: set[int] = set()
        """Places in it of those that a span has executed."""
        self.answered_ns = 0
        """When that answer came."""
        self.touched_s = monotonic()
        self.touched_ns = time_ns()
        """When something of it last began or ended."""
        self.failure: Failure | None = None
        """Why its last model call failed; a retry forgets it."""
        self.failed_key: int | None = None

    def touch(self, now_ns: int | None = None) -> None:
        self.touched_s = monotonic()
        self.touched_ns = time_ns() if now_ns is None else now_ns

    def inside(self, context: Context) -> Context:
        """Return a context as it is inside the run."""
        live = self.root.live
        if live is None:
            return context
        inner = context_with(context, live.span)
        for key in (RUN_KEY, IDENTITY_KEY):
            if (value := live.context.get(key)) is not None:
                dict.__setitem__(inner, key, value)  # ours alone still
        return inner

    def answered(self, operation: Inference, links: Iterable[Link], now_ns: int) -> None:
        """Note an answer that the loop goes on from."""
        self.answered_ns = now_ns
        self.links = [*links]
        keep = settings.policy.capture
        self.requests = {
            part["id"]: part if keep else {"name": part.get("name")}
            for message in operation.output or ()
            for part in requests_in(message)
            if isinstance(part.get("id"), str)
        }
        self.requested, self._executed = calls_in(operation.output), set()

    def waits_for(self, name: str, arguments: Fingerprint | None, *, again: bool = False) -> bool:
        """Return whether its last answer requests a tool that no span has executed yet.

        Args:
            name: of the tool.
            arguments: of the tool; None fits all.
            again: whether one that has been executed counts as well.
        """
        return self._place_of(name, arguments, again) is not None

    def executes(self, name: str, arguments: Fingerprint | None) -> None:
        """Note that a span executes a tool."""
        place = self._place_of(name, arguments, again=False)
        if place is not None:
            self._executed.add(place)

    def _place_of(self, name: str, arguments: Fingerprint | None, again: bool) -> int | None:
        for place, call in enumerate(self.requested):
            is_open = call.name == name and (again or place not in self._executed)
            if is_open and (arguments is None or fits(call.evidence, arguments)):
                return place
        return None

    def add_tools(self, results: Mapping[str, Part], before: Loop | None = None) -> None:
        """Add the tools whose results a call sends, unless a span has executed them.

        Each lasts from the answer to the call: what it took of that time is unknown. They begin a
        microsecond apart, because servers show spans in order of their begin.

        Args:
            results: by the id of its call, each result that is sent.
            before: the loop that requested them, if that is another one.
        """
        asking = self if before is None else before
        self.answered_ns = max(asking.answered_ns, self.began_ns)
        requests, asking.requests = asking.requests, {}
        live, asking_live = self.root.live, asking.root.live
        if live is None or asking_live is None or asking_live.run is None or not live.recording:
            return
        pending = {call.id for call in asking_live.run.pending()}
        steps: list[tuple[StepSpan, Part]] = []
        now_ns = time_ns()
        for call_id, part in requests.items():
            if call_id in results and call_id in pending:
                start_ns = min(self.answered_ns + len(steps) * _APART_NS, now_ns)
                steps.append((self._begin_tool(call_id, part, start_ns), results[call_id]))
        for step, result in steps:
            _end_tool(step, result, now_ns)

    def _begin_tool(self, call_id: str, part: Part, start_ns: int) -> StepSpan:
        operation = ToolExecution(name=str(part.get("name")), call_id=call_id, tool_type="function")
        live = begin(
            operation,
            parent=self.root.context,
            start_ns=start_ns,
            content_follows=True,
        )
        if live is not None:
            live.is_timed = False
        step = StepSpan(live, operation, "a tool of an inferred run", self.root.context)
        step.mark(_INFERRED_TIMES)
        if "arguments" in part:
            step.add(arguments=part["arguments"])
        return step

    def has_raised(self, error: BaseException) -> bool:
        """Return whether an exception is that of its last model call."""
        return self.failure is not None and self.failure.error_id == id(error)

    def end(
        self,
        output: list[Message] | None = None,
        *,
        error: BaseException | None = None,
        failure: Failure | None = None,
        interrupted: str | None = None,
    ) -> None:
        """End the run when something of it was last at work.

        Args:
            output: its answer.
            error: the exception that ended it.
            failure: what ended it, where the exception is gone.
            interrupted: why it ended without an answer and a failure.
        """
        root, end_ns = self.root, self.touched_ns
        if output:
            root.add(output=output)
        if failure is None:
            root.end_run(error, interrupted=interrupted, end_ns=end_ns)
        else:
            root.set(error_type=failure.error_type)
            root.end(extra={agentool.STATUS: failure.status}, end_ns=end_ns)
        self._forget()

    def _forget(self) -> None:
        """Keep no content: a context of the program may hold this loop."""
        self.requests, self.links, self.requested = {}, [], []
        self.root.fields.clear()
        self.root.live = None


def begin_loop(
    parent: Context, session: str | None, outer_id: int, question: list[Message]
) -> Loop | None:
    """Begin an inferred run; None where telemetry is off.

    Args:
        parent: context of its parent, with the names of its session.
        session: id of the session.
        outer_id: span id of the parent, 0 without one.
        question: the messages of the user that it answers.
    """
    operation = AgentInvocation(agent_name=settings.agent)
    live = begin(operation, parent=parent, content_follows=True)
    if live is None:
        return None
    root = StepSpan(live, operation, _DESCRIPTION, parent)
    root.mark(INFERRED)
    root.open(lambda: {"input": question} if question else {})
    return Loop(root, session, outer_id)
