"""Agents that run at Bedrock: their answers, and the steps that `enableTrace` reports.

Source: botocore data/bedrock-agent-runtime/2023-07-26, `InvokeAgentRequest`, `ResponseStream`,
`TracePart`, at 1.44.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import replace
from opentelemetry.context import Context

from agentool_otel.content.policy import jsonable
from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    Retrieval,
    ToolExecution,
    Usage,
)
from agentool_otel.providers.calls import parse_structured
from agentool_otel.providers.fields import get, integer, is_a, items, plain_text, record, string
from agentool_otel.semconv.gen_ai import Provider
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["AgentReading", "content", "operation"]

_SCOPE = "agentool_otel.instrumentation.bedrock"
_WHAT = "a step of an agent at Bedrock"
_PARTS = ("preProcessingTrace", "orchestrationTrace", "postProcessingTrace")


def operation(parameters: dict[str, Any]) -> AgentInvocation:
    """Return what is known of a run at its start."""
    return AgentInvocation(
        remote=True,
        agent_id=string(parameters, "agentId"),
        agent_name=string(parameters, "agentName"),
        request_model=string(parameters, "foundationModel"),
        conversation_id=string(parameters, "sessionId"),
        **parameters[""],
    )


def content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the instructions and the input of a run."""
    instruction, question = (string(parameters, name) for name in ("instruction", "inputText"))
    return {
        "system": None if instruction is None else [text(instruction)],
        "input": None if question is None else [message("user", [text(question)])],
    }


class AgentReading:
    """Reads the events of a run. The steps in its trace have spans of their own."""

    def __init__(self, request: AgentInvocation):
        self._request = request
        self._pieces: list[bytes] = []
        self._calls: list[Any] = []
        self._open: dict[str, StepSpan] = {}
        self._name: str | None = None
        self.context: Context | None = None
        """The context of the run, for its steps."""

    complete = has_last_event = False

    def whole(self, response: Any) -> None:
        """A run is always a stream."""

    def add(self, event: Any) -> None:
        data = get(get(event, "chunk"), "bytes")
        if is_a(data, bytes):
            self._pieces.append(data)
        for each in items(get(event, "returnControl"), "invocationInputs"):
            self._calls += [given for given in (record(each) or {}).values() if given is not None]
        part = get(event, "trace")
        if part is not None:
            with guarded(f"reading {_WHAT}"):
                self._step(part)

    def _step(self, part: Any) -> None:
        self._name = self._name or string(part, "collaboratorName")
        at_ns = _nanoseconds(get(part, "eventTime"))
        for name in _PARTS:
            trace = get(get(part, "trace"), name)
            if (given := get(trace, "modelInvocationInput")) is not None:
                self._begin(given, _model_call(given), at_ns, lambda g=given: _prompt(g))
            if (answer := get(trace, "modelInvocationOutput")) is not None:
                self._answered(answer, at_ns)
            if (given := get(trace, "invocationInput")) is not None:
                operation, arguments = _invocation(given)
                if operation is not None:
                    self._begin(given, operation, at_ns, lambda a=arguments: a)
            if (result := get(trace, "observation")) is not None:
                self._observed(result, at_ns)

    def _begin(self, given: Any, operation: Operation, at_ns: int | None, content: Any) -> None:
        trace_id = string(given, "traceId") or ""
        self._open[trace_id] = start_step(
            operation,
            description=_WHAT,
            scope=_SCOPE,
            parent=self.context,
            start_ns=at_ns,
            content=content,
        )

    def _answered(self, answer: Any, at_ns: int | None) -> None:
        step = self._open.pop(string(answer, "traceId") or "", None)
        if step is None:
            return
        metadata = get(answer, "metadata")
        usage = get(metadata, "usage")
        counts = Usage(
            input_tokens=integer(usage, "inputTokens"), output_tokens=integer(usage, "outputTokens")
        )
        words = string(get(answer, "rawResponse"), "content")
        step.set(usage=None if counts == Usage() else counts)
        if words is not None:
            step.add(output=[message("assistant", [text(words)])])
        step.end(end_ns=_nanoseconds(get(metadata, "endTime")) or at_ns)

    def _observed(self, result: Any, at_ns: int | None) -> None:
        step = self._open.pop(string(result, "traceId") or "", None)
        if step is None:
            return
        found = get(result, "knowledgeBaseLookupOutput")
        if found is not None:
            step.add(documents=[jsonable(each) for each in items(found, "retrievedReferences")])
        else:
            outputs = (get(result, name) for name in _OUTPUTS)
            output = next((each for each in outputs if each is not None), None)
            step.add(lambda: {"result": _result(output)})
            if (error := string(output, "executionError")) is not None:
                step.set(error_type="tool_error")
                step.add(tool_error=error)
        step.end(end_ns=at_ns)

    def end_steps(self) -> None:
        """End the steps whose end was not reported."""
        for step in self._open.values():
            step.end(interrupted="closed")
        self._open.clear()

    def operation(self) -> AgentInvocation:
        answer = b"".join(self._pieces).decode("utf-8", "replace")
        parts = [text(answer)] if answer else []
        parts += [_requested(given) for given in self._calls]
        reason = "tool_call" if self._calls else None
        return replace(
            self._request,
            finish_reasons=None if reason is None else [reason],
            output=[message("assistant", parts, reason)] if parts else None,
        )


_OUTPUTS = (
    "actionGroupInvocationOutput",
    "agentCollaboratorInvocationOutput",
    "codeInterpreterInvocationOutput",
)


def _model_call(given: Any) -> Inference:
    return Inference(
        provider=Provider.AWS_BEDROCK, request_model=string(given, "foundationModel") or None
    )


def _prompt(given: Any) -> dict[str, Any]:
    words = string(given, "text")
    return {} if words is None else {"input": [message("user", [text(words)])]}


def _invocation(given: Any) -> tuple[Operation | None, dict[str, Any]]:
    """Return the step that an invocation is, and its content."""
    if (action := get(given, "actionGroupInvocationInput")) is not None:
        name = string(action, "function") or string(action, "apiPath")
        name = name or string(action, "actionGroupName") or "unknown"
        call_id = string(action, "invocationId")
        action_step = ToolExecution(name=name, tool_type="extension", call_id=call_id)
        return action_step, {"arguments": _arguments(action)}
    if (lookup := get(given, "knowledgeBaseLookupInput")) is not None:
        source = string(lookup, "knowledgeBaseId")
        found = Retrieval(provider=Provider.AWS_BEDROCK, data_source_id=source)
        return found, {"query": string(lookup, "text")}
    if (other := get(given, "agentCollaboratorInvocationInput")) is not None:
        name = string(other, "agentCollaboratorName")
        run = AgentInvocation(remote=True, provider=Provider.AWS_BEDROCK, agent_name=name)
        question = string(get(other, "input"), "text")
        asked = None if question is None else [message("user", [text(question)])]
        return run, {"input": asked}
    if (code := get(given, "codeInterpreterInvocationInput")) is not None:
        code_step = ToolExecution(name="code_interpreter", tool_type="extension")
        return code_step, {"arguments": jsonable(code)}
    return None, {}


def _arguments(given: Any) -> dict[str, Any]:
    """Return the parameters of an action, a list of names and values, as an object."""
    body = get(given, "requestBody")
    contents = record(get(body, "content")) or {}
    listed = [*items(given, "parameters")]
    for each in contents.values():
        listed += items(each) or items(each, "properties")
    return {string(item, "name") or "": parse_structured(get(item, "value")) for item in listed}


def _result(output: Any) -> Any:
    words = string(output, "text")
    words = string(output, "executionOutput") if words is None else words
    nested = string(get(output, "output"), "text")
    words = nested if words is None else words
    return jsonable(output) if words is None else parse_structured(words)


def _requested(given: Any) -> dict[str, Any]:
    """Return an action that the agent leaves to the program as a tool call."""
    name = string(given, "function") or string(given, "apiPath") or "unknown"
    return tool_call(name, _arguments(given), plain_text(get(given, "invocationId")))


def _nanoseconds(time: Any) -> int | None:
    return int(time.timestamp() * 1e6) * 1000 if type(time) is datetime else None
