"""Pipecat: a conversation of turns, each with the calls of its models.

Source: pipecat-ai 1.14.0 `utils/tracing/service_{attributes,decorators}.py`,
`utils/tracing/turn_trace_observer.py`. A turn is an agent's work on one utterance, so it is the
run; its conversation is the session. A span has only the text of an answer: tool calls, which have
no spans, and their results are in the input of the next model call.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.provider_messages import messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Pipecat"]

_MODELS, _TURNS = "pipecat", "pipecat.turn"


class Pipecat:
    """The dialect."""

    name = "pipecat"
    markers = Markers(scopes=(_MODELS, _TURNS))
    content = Content(attributes=("input", "output", "tools", "text", "transcript"))

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope in (_MODELS, _TURNS):
            return Confidence(OWN_ROLE, f"scope {span.scope}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        for key in [key for key, value in span.rest.items() if value == "NOT_GIVEN"]:
            onto.drop(span, key)
        if span.span.scope == _TURNS:
            onto.rename(span, {"conversation.id": gen_ai.CONVERSATION_ID})
            if span.span.name != "turn":
                return onto.unclassified(span)
            return onto.as_operation(span, "invoke_agent")
        if span.span.name == "llm":
            _read_model_call(span)
        return onto.as_operation(span)


def _read_model_call(span: Reader) -> None:
    onto.rename(span, {"stream": gen_ai.REQUEST_STREAM})
    onto.set_system(span, span.rest.pop(gen_ai.SYSTEM_INSTRUCTIONS, None))
    prompt = span.json("input", keep_text=False)
    onto.put(span, gen_ai.INPUT_MESSAGES, messages_from(prompt, "user") or None)
    answer = span.text("output")
    if answer:
        onto.put(span, gen_ai.OUTPUT_MESSAGES, [message("assistant", [text(answer)])])
    tools = span.json("tools", keep_text=False)
    onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(tools) or None)
