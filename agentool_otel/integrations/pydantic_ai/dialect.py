"""pydantic-ai's own spans, in every version of its instrumentation.

Source: pydantic/pydantic-ai `pydantic_ai_slim/pydantic_ai/{_instrumentation,_otel_messages}.py`,
`models/instrumented.py`, instrumentation versions 1 to 6. Versions 1 and 2 have no role attribute
on agent and tool spans; messages moved from one JSON attribute `events` to the conventions' own.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import Message, message, text, text_of
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["PydanticAI"]

_SCOPE = "pydantic-ai"
_ALL = "pydantic_ai.all_messages"
_ALL_V1 = "all_messages_events"
_NEW = "pydantic_ai.new_message_index"
_RETRY = "Fix the errors and try again."
"""Ending of the user prompts that pydantic-ai itself adds."""
_PARAMETERS = "model_request_parameters"
_AGENT = {
    "agent_name": gen_ai.AGENT_NAME,
    "model_name": gen_ai.REQUEST_MODEL,
    "gen_ai.aggregated_usage.input_tokens": gen_ai.USAGE_INPUT_TOKENS,
    "gen_ai.aggregated_usage.output_tokens": gen_ai.USAGE_OUTPUT_TOKENS,
    "gen_ai.aggregated_usage.cache_read.input_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "gen_ai.aggregated_usage.cache_creation.input_tokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
}
_TOOL = {
    "tool_arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    "tool_response": gen_ai.TOOL_CALL_RESULT,
    "pydantic_ai.tool.failure_stage": core.ERROR_TYPE,
}


class PydanticAI:
    """The dialect."""

    name = "pydantic_ai"
    markers = Markers(
        keys=(_ALL_V1, _PARAMETERS, "pydantic_ai."),
        scopes=(_SCOPE,),
    )
    content = Content(
        attributes=(
            _ALL,
            _ALL_V1,
            _PARAMETERS,
            "events",
            *("pydantic_ai.decision.answers", "pydantic_ai.decision.state"),
            *("pydantic_ai.decision.questions", "pydantic_ai.tool.deferral.metadata"),
            "final_result",
            "prompt",
            "tool_arguments",
            "tool_response",
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        for key in (_ALL, _ALL_V1, _PARAMETERS):
            if key in attributes:
                return Confidence(OWN_ROLE, f"has {key}")
        if span.scope == _SCOPE:
            return Confidence(EXTENDS if "gen_ai." in "".join(attributes) else SCOPE, "scope")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        attributes = span.rest
        operation = attributes.get(gen_ai.OPERATION_NAME)
        if operation == "invoke_agent" or _ALL in attributes or _ALL_V1 in attributes:
            return _read_agent(span)
        if operation == "execute_tool" or (operation is None and gen_ai.TOOL_NAME in attributes):
            onto.rename(span, _TOOL)
            return onto.as_operation(span, "execute_tool")
        if "events" in attributes or _PARAMETERS in attributes:
            _read_model_call(span)
        if operation is None and gen_ai.REQUEST_MODEL not in attributes:
            if "agent_name" in attributes:  # a run without content
                return _read_agent(span)
            return onto.unclassified(span)
        onto.rename(
            span, {"operation.cost": agentool.COST_USD, "gen_ai.system": gen_ai.PROVIDER_NAME}
        )
        onto.mend_responses(span)
        return onto.as_operation(span, str(operation or "chat"))


def _read_agent(span: Reader) -> Operation:
    onto.rename(span, _AGENT)
    onto.move_messages(span, _ALL, "user", _ALL_V1)
    everything = (
        messages_from(span.json(_ALL, keep_text=False), "user") if _ALL in span.rest else []
    )
    index = span.integer(_NEW)
    if index is None:
        everything = _of_this_run(everything)
    start = _place_of(index or 0, everything)
    first = next(
        (n for n, item in enumerate(everything) if n >= start and item.get("role") == "assistant"),
        len(everything),
    )
    onto.put(span, gen_ai.INPUT_MESSAGES, everything[:first] or None)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span, everything[first:]))
    onto.mend_responses(span)
    return onto.as_operation(span, "invoke_agent")


def _of_this_run(everything: list[Message]) -> list[Message]:
    """Return the messages without those of earlier runs, which older versions do not
    distinguish.

    With two messages of the user only the answer is certain; the model calls have the others.
    """
    questions = [text_of(item) for item in everything if item.get("role") == "user"]
    if sum(question is not None and not question.endswith(_RETRY) for question in questions) < 2:
        return everything
    return everything[-1:] if everything[-1].get("role") == "assistant" else []


def _place_of(index: int, messages: list[Message]) -> int:
    """Return the index at which a message of pydantic-ai's begins among those of the span, where
    one of its requests may be several messages, of the system, the user and tools.
    """
    count, before = 0, "assistant"
    for place, item in enumerate(messages):
        role = str(item.get("role"))
        count += role == "assistant" or before == "assistant"
        if count > index:
            return place
        before = role
    return len(messages)


def _answer(span: Reader, run: list[Message]) -> list[Message] | None:
    """Return the messages of the run, the last of them its answer: a structured result, if any.

    Their tool calls are all that is known of them if the spans inside are missing.
    """
    result = span.json("final_result")
    if result is not onto.UNSET and result is not None:
        words = result if isinstance(result, str) else onto.dumps(result)
        answer = message("assistant", [text(words)])
        return [*(run if not run or run[-1].get("role") != "assistant" else run[:-1]), answer]
    return run or None


def _read_model_call(span: Reader) -> None:
    onto.set_from_events(span, "events")
    if gen_ai.TOOL_DEFINITIONS not in span.rest and _PARAMETERS in span.rest:
        parameters = span.json(_PARAMETERS, keep_text=False)
        if isinstance(parameters, dict):
            tools = [
                *onto.definitions(parameters.get("function_tools")),
                *onto.definitions(parameters.get("output_tools")),
            ]
            onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)
