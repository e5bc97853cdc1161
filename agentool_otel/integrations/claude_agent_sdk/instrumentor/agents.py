"""The steps of one agent: its run, its model calls and its tools.

The CLI makes the model calls in its own process. What is known of them is in the frames that it
writes: the events of a stream, then the blocks of the message one by one, under one message id.
"""

from __future__ import annotations

from typing import Any

from opentelemetry.context import Context

from agentool_otel.content.values import jsonable
from agentool_otel.integrations.claude_agent_sdk.instrumentor import values
from agentool_otel.model.messages import Message, Part, message, tool_response
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from agentool_otel.model.statuses import INCOMPLETE_STREAM
from agentool_otel.providers.anthropic import MessagesReading
from agentool_otel.providers.fields import get, items, record, string
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.requested_calls import retire
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import CLIENTS

__all__ = ["SCOPE", "Agent", "ModelCall", "Tool"]

SCOPE = "agentool_otel.instrumentation.claude_agent_sdk"
_PROVIDER = "anthropic"
_MODEL_CALL = frozenset({CLIENTS})
_DELEGATING = ("Agent", "Task")
"""`Task` is the earlier name of `Agent`."""


class ModelCall:
    """A model call that is under way."""

    __slots__ = (
        "_blocks",
        "_envelope",
        "_failure",
        "_reading",
        "_request",
        "_usage",
        "last_ns",
        "message_id",
        "step",
        "superseded",
    )

    def __init__(self, step: StepSpan, request: Inference):
        self.step = step
        self.message_id: str | None = None
        self.last_ns: int | None = None
        """When the last frame of it came."""
        self.superseded = False
        """Whether results of its tools have come: the next model call has begun."""
        self._request = request
        self._reading: MessagesReading | None = None
        self._envelope: Any = None
        self._blocks: list[Any] = []
        self._usage: Any = None
        self._failure: dict[str, str | None] = {}

    @property
    def answered(self) -> bool:
        return self._reading is not None or bool(self._blocks)

    @property
    def streamed(self) -> bool:
        return self._reading is not None

    @property
    def awaits_last_event(self) -> bool:
        """Return whether the blocks of a streamed message have come, but not its finish reason."""
        return self.streamed and self._envelope is not None

    def fail(self, error_type: str, words: str | None) -> None:
        """Take an error of the CLI. A finish reason of the model outweighs it."""
        self._failure = {"error_type": error_type, "error_message": words}

    def event(self, event: Any, at_ns: int) -> bool:
        """Take an event of the stream; return whether it is the last one."""
        kind = string(event, "type")
        if self._reading is None:
            self._reading = MessagesReading(self._request)
        if kind == "message_start":
            self.message_id = string(get(event, "message"), "id")
        self.step.chunk()
        self._reading.add(event)
        self.last_ns = at_ns
        return kind == "message_stop"

    def block(self, envelope: Any, at_ns: int) -> None:
        """Take a message with the next block of its content."""
        self.message_id = string(envelope, "id")
        self._envelope = envelope
        self._blocks += items(envelope, "content")
        self.last_ns = at_ns

    def count(self, usage: Any) -> None:
        """Take the counts of the whole message."""
        self._usage = usage

    def operation(self) -> Inference:
        """Return the call as far as it is known."""
        reading = self._reading
        if reading is not None:
            return reading.operation()
        if self._envelope is None:
            return self._request
        reading = MessagesReading(self._request)
        whole = {**(record(self._envelope) or {}), "content": self._blocks}
        if self._usage is not None:
            whole["usage"] = self._usage
        reading.whole(whole)
        read = reading.operation()
        return values.with_known_counts(read, counted=self._usage is not None)

    def end(self, **ending: Any) -> Message | None:
        """End the span; return the message of the model."""
        operation = self.operation()
        if not (self.streamed and operation.finish_reasons):
            self.step.set(**self._failure)
            # The CLI ends a stream that broke off with `message_stop`, without a finish reason.
            if self.streamed and not self._failure and not ending.keys() & {"error", "interrupted"}:
                self.step.set(error_type=INCOMPLETE_STREAM)
        extra = {key: item for key, item in operation.extra.items() if item is not None}
        self.step.set(
            response_id=operation.response_id,
            response_model=operation.response_model,
            finish_reasons=operation.finish_reasons,
            usage=operation.usage,
        )
        if extra:
            self.step.mark(extra)
        if operation.output:
            self.step.add(output=operation.output)
        if operation.response_model:
            self.step.rename(request_model=self._request.request_model or operation.response_model)
        self.step.end(**ending)
        return values.answer_of(operation)


class Tool:
    """A call of a tool that is under way."""

    __slots__ = ("agent", "arguments", "call_id", "delegates", "name", "owner", "step", "waits")

    def __init__(self, step: StepSpan, owner: Agent, call_id: str, name: str, arguments: Any):
        self.step = step
        self.owner = owner
        self.call_id = call_id
        self.name = name
        self.arguments = arguments
        self.agent: Agent | None = None
        """The sub-agent that it runs."""
        self.delegates = name in _DELEGATING
        self.waits = True
        """False once the tool has returned while its sub-agent goes on in the background."""


class Agent:
    """An agent at work: the main one, or a sub-agent below the tool that started it."""

    def __init__(
        self,
        parent: Context | None,
        *,
        name: str | None,
        description: str | None = None,
        model: str | None = None,
        conversation_id: str | None = None,
        system: list[Part] | None = None,
        history: list[Message] | None = None,
        prompts: list[Message] | None = None,
        at_ns: int | None = None,
    ):
        prompts = prompts or []
        self.step = start_step(
            AgentInvocation(
                provider=_PROVIDER,
                agent_name=name,
                agent_description=description,
                conversation_id=conversation_id,
            ),
            description="a run of an agent",
            scope=SCOPE,
            parent=parent,
            start_ns=at_ns,
            content=lambda: {"input": list(prompts)} if prompts else {},
        )
        self.model = model
        self.tools: list[dict[str, Any]] | None = None
        self.system = system
        self.history = history if history is not None else []
        """The conversation as far as it went through this process."""
        self.prompted = bool(prompts)
        self.call: ModelCall | None = None
        self.since_ns = at_ns
        """When the model could be called next: the prompt, the last answer or the last result has
        come."""
        self.output: Message | None = None
        self._conversation_id: str | None = None
        self._results: list[Message] = []
        self._ended_ids: set[str | None] = set()
        self._started: list[str] = []
        """Ids of the tools that the model call under way has requested."""
        self.history += prompts
        self.identify(conversation_id)

    def identify(self, conversation_id: str | None) -> None:
        """Note the id of the session."""
        if conversation_id and conversation_id != self._conversation_id:
            self._conversation_id = conversation_id
            self.step.set(conversation_id=conversation_id)
            self.step.context = identify(self.step.context, names_of(conversation_id))

    def prompt(self, prompt: Message) -> None:
        """Add an input that came after the beginning."""
        self.prompted = True
        self.history.append(prompt)
        inputs = [*(self.step.fields.get("input") or ()), prompt]
        self.step.add(input=inputs)

    @property
    def streams(self) -> bool:
        """Return whether a model call is under way whose end is an event of its stream."""
        return self.call is not None and self.call.streamed

    # ---- model calls
    def requested(self, at_ns: int) -> ModelCall:
        """Begin a model call, unless one waits for its answer: the CLI tries again."""
        if self.call is not None and not self.call.answered:
            return self.call
        self.end_call()
        self.history += self._results
        self._results = []
        history, system, tools = list(self.history), self.system, self.tools
        request = Inference(
            provider=_PROVIDER, request_model=self.model, conversation_id=self._conversation_id
        )
        step = start_step(
            request,
            description="a model call",
            scope=SCOPE,
            parent=self.step.context,
            owner=_MODEL_CALL,
            start_ns=at_ns,
            content=lambda: {"system": system, "input": history or None, "tools": tools},
        )
        self.call = ModelCall(step, request)
        return self.call

    def event(self, event: Any, at_ns: int) -> None:
        """Take an event of the stream of the model call."""
        if string(event, "type") == "message_start" or self.call is None:
            if string(event, "type") != "message_start":
                return
            self.requested(self.since_ns or at_ns)
        if self.call is not None and self.call.event(event, at_ns):
            self.end_call()

    def blocks(self, envelope: Any, at_ns: int) -> None:
        """Take blocks of a message, which may have come as events already."""
        message_id = string(envelope, "id")
        if message_id in self._ended_ids:
            return
        call = self.call
        if call is None or (call.message_id is not None and call.message_id != message_id):
            self.end_call()
            call = self.requested(self.since_ns or at_ns)
        call.block(envelope, at_ns)

    def failed(self, error_type: str, words: str | None, at_ns: int) -> None:
        """End the model call with the error that the CLI reports in the place of a message."""
        if self.call is None and self._ended_ids:
            return  # it is about the message that has come, such as its length
        call = self.call or self.requested(self.since_ns or at_ns)
        call.fail(error_type, words)
        if not call.awaits_last_event:
            self.end_call(failed=True)

    def end_call(self, failed: bool = False, **ending: Any) -> None:
        """End the model call that is under way, if there is one."""
        call, self.call = self.call, None
        if call is None:
            return
        ending = {name: value for name, value in ending.items() if value is not None}
        if call.answered and not call.streamed:  # the whole message has come
            ending, failed = {}, False
        if not ending and not failed and call.last_ns is not None:
            ending["end_ns"] = call.last_ns
        self._ended_ids = {call.message_id}
        if call.last_ns is not None:  # the CLI announces no request that it makes again
            self.since_ns = max(self.since_ns or 0, call.last_ns)
        answer = call.end(**ending)
        for call_id in self._started:
            retire((), call_id)  # the tool began before the model's message was complete
        self._started.clear()
        if answer is not None:
            self.history.append(
                {key: item for key, item in answer.items() if key != "finish_reason"}
            )
            self.output = answer

    def reported(self, report: Any, at_ns: int) -> None:
        """Take the report of a sub-agent: its last message, with its token counts.

        The frame of the message has no counts; SDKs without `forward_subagent_text` have no frame.
        """
        usage = record(get(report, "usage"))
        if usage is None or string(report, "status") != "completed":
            return
        if self.call is None or self.call.superseded:
            self.end_call()
            self.blocks({"content": items(report, "content"), "model": self.model}, at_ns)
        if self.call is not None:
            self.call.count(usage)

    # ---- tools
    def tool(self, block: Any, description: str | None) -> Tool | None:
        """Begin a tool that the model requests."""
        call_id, name = string(block, "id"), string(block, "name")
        if call_id is None or name is None:
            return None
        arguments = get(block, "input")
        step = start_step(
            ToolExecution(
                name=name,
                call_id=call_id,
                tool_type="extension" if name.startswith("mcp__") else "function",
                description=description,
                conversation_id=self._conversation_id,
            ),
            description="a tool",
            scope=SCOPE,
            parent=self.step.context,
            content=lambda: {"arguments": jsonable(arguments)},
        )
        self._started.append(call_id)
        return Tool(step, self, call_id, name, arguments)

    def returned(self, call_id: str, result: Any, at_ns: int) -> None:
        """Note a result as input of the next model call."""
        self._results.append(message("tool", [tool_response(result, call_id)]))
        if self.call is not None:
            self.call.superseded = True
        self.ready(at_ns)

    def ready(self, at_ns: int) -> None:
        """Note that the model can be called."""
        self.since_ns = at_ns
        self._ended_ids.clear()

    # ---- its end
    def end(
        self,
        error: BaseException | None = None,
        *,
        interrupted: str | None = None,
        output: list[Message] | None = None,
    ) -> None:
        """End the run, and the model call that is under way."""
        if self.call is not None:
            if error is not None:
                self.end_call(failed=True, error=error)
            else:
                self.end_call(interrupted=interrupted)
        if output:
            self.step.add(output=output)
        self.step.end_run(error, interrupted=interrupted)
