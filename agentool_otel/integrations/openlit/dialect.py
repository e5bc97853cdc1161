"""OpenLIT: GenAI names, and many that it adds for agents, workflows, tools, costs and retrieval.

Source: openlit/openlit `sdk/python/src/openlit/semcov/__init__.py`.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentool_otel.dialects.kit import langchain_values as langchain
from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import (
    answer_in,
    calls_from,
    json_or_text,
    messages_from,
)
from agentool_otel.dialects.kit.python_text import object_in, value_in
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, run_at_root
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.messages import Message, Part, message, parts_of, reasoning, tool_call
from agentool_otel.model.operations import Inference, Operation
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["OpenLIT"]

_SOURCE, _TARGET = "gen_ai.agent.source", "gen_ai.agent.target"
_OWN = (
    *("gen_ai.agent.actual_output", "gen_ai.agent.expected_output", "gen_ai.agent.task"),
    *("gen_ai.agent.goal", "gen_ai.agent.finish.output", "gen_ai.agent.action.tool"),
    *("gen_ai.workflow.input", "gen_ai.workflow.output", "gen_ai.workflow.type"),
    *("gen_ai.usage.cost", "gen_ai.tool.args", "gen_ai.retrieval.query", "gen_ai.graph.nodes"),
    *("gen_ai.agent.session_id", _TARGET, "gen_ai.sdk.version"),
)
_OPERATIONS = {
    "agent": "invoke_agent",
    "model_request": "chat",
    "vectordb": "retrieval",
    "execute_task": None,
    "tool_coordination": None,
}
_NODES = frozenset({"agent", "model", "tools"})
_HOOKS = (".before_agent", ".before_model", ".after_model", ".after_agent")
"""Nodes that LangChain builds its agents of. Every node of a graph is recorded as an agent."""
_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""LangChain's id of a run, which stands for the call's where a tool has failed."""
_ARGS, _KWARGS = "function.args", "function.kwargs"
_USAGE = "gen_ai.usage."
_ROLE = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)
_NAMES = {
    "gen_ai.agent.session_id": gen_ai.CONVERSATION_ID,
    "gen_ai.retrieval.query": gen_ai.RETRIEVAL_QUERY_TEXT,
    "gen_ai.retrieval.source": gen_ai.DATA_SOURCE_ID,
    _USAGE + "prompt_tokens_details.cached_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    _USAGE + "prompt_tokens_details.cache_creation_tokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
    _USAGE + "completion_tokens_details.reasoning_tokens": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
}
_TOOL_NAMES = {
    "gen_ai.tool.args": gen_ai.TOOL_CALL_ARGUMENTS,
    "gen_ai.agent.action.tool": gen_ai.TOOL_NAME,
    "gen_ai.agent.action.tool_input": gen_ai.TOOL_CALL_ARGUMENTS,
}


class OpenLIT:
    """The dialect."""

    name = "openlit"
    markers = Markers(keys=_OWN, scopes=("openlit",))
    content = Content(
        attributes=(
            *("gen_ai.agent.task", "gen_ai.agent.goal", "gen_ai.agent.instructions"),
            *("gen_ai.agent.next_goal", "gen_ai.agent.thinking", "gen_ai.agent.evaluation"),
            *("gen_ai.agent.final_result", "gen_ai.agent.step_messages", "gen_ai.custom.data"),
            *("gen_ai.agent.action.log", "gen_ai.agent.finish.log", "gen_ai.agent.page_title"),
            *("gen_ai.execution.input", "gen_ai.execution.output", "gen_ai.message.content"),
            *("gen_ai.task.description", "gen_ai.task.expected_output", "gen_ai.crawl.js_code"),
            *("gen_ai.memory.input", "gen_ai.agno.memory.input", "gen_ai.memory.search.query"),
            *("gen_ai.knowledge.search.query", "gen_ai.vectordb.search.query"),
            *("gen_ai.framework.query.text", "gen_ai.framework.pipeline.input_data"),
            *("gen_ai.framework.pipeline.output_data", "gen_ai.extraction.instruction"),
            *("gen_ai.tool.input_kwargs", "gen_ai.tool.parameters", "gen_ai.tool.result"),
            *("gen_ai.tool_call.*.arguments", "gen_ai.request.speech.prompt"),
            *("gen_ai.response.audio.text", "gen_ai.response.speech.diarized_transcript"),
            *("gen_ai.response.title", "gen_ai.response.description"),
            *("gen_ai.browser.action.value", "gen_ai.browser.task.description"),
            *("gen_ai.browser.console.logs", "gen_ai.browser.page.title"),
            "gen_ai.browser.page_title",
            *("gen_ai.agent.actual_output", "gen_ai.agent.expected_output"),
            *("gen_ai.agent.finish.output", "gen_ai.agent.action.tool_input"),
            *("gen_ai.workflow.input", "gen_ai.workflow.output", "gen_ai.retrieval.query"),
            *(_ARGS, _KWARGS, "gen_ai.tool.args", "gen_ai.response.tool_calls"),
            *("gen_ai.content.", "gen_ai.agent.tool_results", "gen_ai.agent.context"),
            "gen_ai.agent.human_input",
            *("gen_ai.agent.memory", "gen_ai.agent.introduction", "gen_ai.agent.params"),
            *("gen_ai.agent.schema", "gen_ai.extraction.schema", "gen_ai.tool.schema"),
            # What a tool writes when it fails is its result.
            *("gen_ai.action.error", "gen_ai.agent.action_errors", "gen_ai.tool.error"),
            *("gen_ai.execution.error", "gen_ai.extraction.error"),
            *("gen_ai.response.error", "gen_ai.response.warning"),
            # Arguments of tools that open pages and files.
            *("gen_ai.action.file_path", "gen_ai.agent.browse_url", "gen_ai.browser.page.url"),
            *("gen_ai.browser.action.selector", "gen_ai.browser.action.target"),
            *("gen_ai.browser.javascript.errors", "gen_ai.crawl.css_selector"),
            *("gen_ai.crawl.current_url", "gen_ai.crawl.result.redirected_url"),
            *("gen_ai.crawl.wait_for", "gen_ai.openai.file.filename"),
            *("gen_ai.rag.documents_path", "gen_ai.index.document_sources"),
            *("gen_ai.framework.document.sources", "gen_ai.memory.metadata"),
            *("gen_ai.response.image", "gen_ai.response.speech.timestamps"),
        ),
        objects=("gen_ai.request.parameters",),
        keeps=("gen_ai.agent.task.id", "gen_ai.*.error.type", "gen_ai.*.error.code"),
        events=("gen_ai.content.",),
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        scope = span.scope.startswith("openlit")
        if not scope and not any(key in attributes for key in _OWN):
            return NOT_MINE
        if gen_ai.OPERATION_NAME in attributes:
            return Confidence(EXTENDS, "OpenLIT's names or scope")
        return Confidence(SCOPE, "OpenLIT's scope") if scope else Confidence(CENSUS, "its names")

    def read(self, span: Reader) -> Operation:
        if _SOURCE in span.rest and (_TARGET in span.rest or gen_ai.AGENT_NAME in span.rest):
            return _read_handoff(span)
        if _ARGS in span.rest:  # of `@openlit.trace`
            return _read_function(span)
        operation = _operation(span)
        if operation is None or (operation == "invoke_agent" and _is_machinery(span)):
            return onto.unclassified(span)
        onto.rename(span, _NAMES)
        if operation in ("invoke_agent", "invoke_workflow"):
            _read_run(span)
        elif operation == "execute_tool":
            _read_tool(span)
        elif operation == "retrieval":
            if gen_ai.RETRIEVAL_DOCUMENTS in span.rest:
                onto.set_documents(span, span.json(gen_ai.RETRIEVAL_DOCUMENTS))
        else:
            _read_model_call(span)
        read = onto.as_operation(span, operation)
        if isinstance(read, Inference) and read.max_tokens == -1:  # for none
            return replace(read, max_tokens=None)
        return read


def _operation(span: Reader) -> str | None:
    """Return the operation of a span; a failed one often has it in its name only."""
    name = span.rest.get(gen_ai.OPERATION_NAME)
    if name is None:
        name, _, model = span.span.name.partition(" ")
        if name == "chat" and span.span.status == STATUS_ERROR:
            onto.put(span, gen_ai.REQUEST_MODEL, model)
            return name
        return name if name in ("invoke_agent", "invoke_workflow") else None
    name, _, subject = str(name).partition(" ")
    if subject:  # of LangChain, in 1.35: the name of the span once more
        if name == "workflow":
            onto.put(span, gen_ai.WORKFLOW_NAME, subject)
            return run_at_root(span, "gen_ai.workflow.input", "gen_ai.workflow.output")
        if name == "tool":
            onto.put(span, gen_ai.TOOL_NAME, subject)
            return "execute_tool"
    return _OPERATIONS.get(str(name), str(name))


def _is_machinery(span: Reader) -> bool:
    """Return whether a span recorded as an agent is a part of one: a node, or a turn without a
    name.
    """
    name = span.rest.get(gen_ai.AGENT_NAME)
    if span.span.scope.endswith(".langgraph"):
        return str(name) in _NODES or str(name).endswith(_HOOKS)
    return span.span.scope.endswith(".openai_agents") and name is None


def _read_function(span: Reader) -> Operation:
    """Read a call of a function, which is a run where it is the root; its arguments are printed."""
    operation = run_at_root(span, _ARGS)
    if operation is not None:
        args, kwargs = value_in(span.text(_ARGS) or ""), value_in(span.text(_KWARGS) or "")
        if isinstance(args, tuple):
            args = {"args": list(args), "kwargs": kwargs}
        span.rest[_ARGS] = args
    return read_call(span, operation, None, _ARGS, gen_ai.OUTPUT_MESSAGES)


def _read_handoff(span: Reader) -> Operation:
    target = span.text(_TARGET) or span.text(gen_ai.AGENT_NAME)
    onto.rename(span, {_SOURCE: gen_ai.AGENT_NAME})
    span.rest[gen_ai.TOOL_NAME] = f"transfer_to_{target}"
    onto.put(span, agentool.TRANSFER_TARGET, target)
    return onto.as_operation(span, "execute_tool")


def _read_run(span: Reader) -> None:
    in_memory = str(span.rest.get(gen_ai.AGENT_ID)).isdecimal()
    if in_memory and span.span.scope.endswith(".openai_agents"):  # the place of the object
        onto.drop(span, gen_ai.AGENT_ID)
    onto.move_messages(
        span, gen_ai.INPUT_MESSAGES, "user", "gen_ai.agent.task", "gen_ai.workflow.input"
    )
    state = json_or_text(span.rest.get("gen_ai.workflow.output"))
    if isinstance(state, dict) and "messages" in state:  # of a graph
        messages = messages_from(langchain.parse_printed_messages(state), "assistant")
        onto.put(span, gen_ai.OUTPUT_MESSAGES, answer_in(messages))
        onto.drop(span, "gen_ai.workflow.output")
    onto.move_messages(
        span,
        gen_ai.OUTPUT_MESSAGES,
        "assistant",
        *("gen_ai.agent.actual_output", "gen_ai.agent.finish.output", "gen_ai.workflow.output"),
    )
    if "gen_ai.agent.instructions" in span.rest:
        onto.set_system(span, span.text("gen_ai.agent.instructions"))
    if "gen_ai.agent.tools" in span.rest:
        tools = onto.definitions(span.json("gen_ai.agent.tools"))
        onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)


def _read_tool(span: Reader) -> None:
    attributes = span.rest
    onto.rename(span, _TOOL_NAMES)
    if gen_ai.TOOL_CALL_ARGUMENTS in attributes:
        attributes[gen_ai.TOOL_CALL_ARGUMENTS] = object_in(attributes[gen_ai.TOOL_CALL_ARGUMENTS])
    if _RUN_ID.fullmatch(str(attributes.get(gen_ai.TOOL_CALL_ID))):
        onto.drop(span, gen_ai.TOOL_CALL_ID)
    result = langchain.tool_message(attributes.get(gen_ai.TOOL_CALL_RESULT))
    if result is not None:
        del attributes[gen_ai.TOOL_CALL_RESULT]
        onto.put(span, gen_ai.TOOL_CALL_ID, result.call_id)
        onto.put(span, agentool.TOOL_ERROR, str(result.content) if result.failed else None)
        onto.set_result(span, result.content)


def _mend_printed(span: Reader) -> None:
    """Parse tool results that are printed dicts, as in prompts for Google's models."""
    messages = span.rest.get(gen_ai.INPUT_MESSAGES)
    if isinstance(messages, str) and "\"{'" in messages:
        messages = json_or_text(messages)
        for item in messages if isinstance(messages, list) else ():
            for part in parts_of(item):
                if part.get("type") == "tool_call_response":
                    part["response"] = object_in(part.get("response"))
                    span.rest[gen_ai.INPUT_MESSAGES] = messages


def _read_model_call(span: Reader) -> None:
    if span.rest.get("gen_ai.usage.cost") == 0:  # of a model without a price
        onto.drop(span, "gen_ai.usage.cost")
    onto.rename(span, {"gen_ai.usage.cost": agentool.COST_USD})
    onto.mend_definitions(span)
    onto.mend_tool_messages(span)
    _mend_printed(span)
    thoughts = [
        reasoning(value)
        for event in span.span.events
        if event.name == "gen_ai.content.reasoning"
        for value in event.attributes.values()
        if isinstance(value, str)
    ]
    _read_prompt(span)
    calls = _calls(span)
    if gen_ai.OUTPUT_MESSAGES in span.rest or not (thoughts or calls):
        return
    answers: list[Message] = []
    for event in span.span.events:
        if event.name == "gen_ai.content.completion":
            answers += messages_from(event.attributes.get("gen_ai.completion"), "assistant")
    content = [part for answer in answers for part in answer.get("parts", ())]
    span.rest[gen_ai.OUTPUT_MESSAGES] = [message("assistant", [*thoughts, *content, *calls])]


def _read_prompt(span: Reader) -> None:
    """Read a prompt of releases before 1.36, one text of lines that begin with a role."""
    prompts = [span.rest.get("gen_ai.prompt")]
    prompts += [event.attributes.get("gen_ai.prompt") for event in span.span.events]
    prompt = next((prompt for prompt in prompts if isinstance(prompt, str)), "")
    if gen_ai.INPUT_MESSAGES in span.rest or _ROLE.match(prompt) is None:
        return
    _, *sections = _ROLE.split(prompt)
    messages: list[Message] = []
    for role, words in zip(sections[::2], sections[1::2], strict=True):
        words = words.removesuffix("\n")
        content = value_in(words) if words.startswith("[{") else words
        messages += messages_from(content, role)
    onto.put(span, gen_ai.INPUT_MESSAGES, messages)


def _calls(span: Reader) -> list[Part]:
    """Take the calls of an answer: a printed list, or each member of all calls as one text."""
    value = json_or_text(span.rest.get("gen_ai.response.tool_calls"))
    calls = calls_from(value_in(value) if isinstance(value, str) else value)
    if calls:
        onto.drop(span, "gen_ai.response.tool_calls")
        # By mistake it may hold the tools that a response could call.
        return [call for call in calls if "id" in call]
    keys = gen_ai.TOOL_NAME, gen_ai.TOOL_CALL_ID, "gen_ai.tool.args"
    names, ids, arguments = (str(span.rest.get(key) or "") for key in keys)
    name_list, id_list, argument_list = (
        names.split(", "),
        ids.split(", "),
        json_or_text(f"[{arguments}]"),
    )
    if (
        not ids
        or not isinstance(argument_list, list)
        or not len(name_list) == len(id_list) == len(argument_list)
    ):
        return []
    onto.drop(span, *keys)
    return [tool_call(*item) for item in zip(name_list, argument_list, id_list, strict=True)]
