"""Components of Agent Spec, written as its documentation has them, and their spans and events."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

__all__ = [
    "ANSWER",
    "QUESTION",
    "SECRET",
    "agent",
    "answered",
    "asked",
    "config",
    "event",
    "flow",
    "model_call",
    "part",
    "remote_tool",
    "requested",
    "responded",
    "span",
    "to_json",
    "tool",
    "tool_call",
]

SECRET = "canary-7d1f"
QUESTION, ANSWER = "Is it sunny?", "It is."

_MODULES = {
    **dict.fromkeys(("Agent",), "agent"),
    **dict.fromkeys(("Swarm",), "swarm"),
    **dict.fromkeys(("ManagerWorkers",), "managerworkers"),
    **dict.fromkeys(("Flow",), "flows.flow"),
    **dict.fromkeys(("StartNode", "EndNode", "ToolNode", "BranchingNode"), "flows.nodes"),
    **dict.fromkeys(("ControlFlowEdge", "DataFlowEdge"), "flows.edges"),
    **dict.fromkeys(("OpenAiCompatibleConfig", "OllamaConfig", "LlmGenerationConfig"), "llms"),
    **dict.fromkeys(("ServerTool", "ClientTool", "RemoteTool", "Tool"), "tools"),
    **dict.fromkeys(("StringProperty",), "property"),
    **dict.fromkeys(("AgentSpecSerializer", "AgentSpecDeserializer"), "serialization"),
    **dict.fromkeys(("Trace", "get_trace"), "tracing.trace"),
    **dict.fromkeys(("SpanProcessor",), "tracing.spanprocessor"),
    **dict.fromkeys(("Message",), "tracing.messages.message"),
    **dict.fromkeys(("ToolCall",), "tracing.events.llmgeneration"),
    **dict.fromkeys(("Event",), "tracing.events"),
}


def part(name: str) -> Any:
    """Return a class of pyagentspec."""
    return getattr(import_module(f"pyagentspec.{_MODULES[name]}"), name)


def span(name: str, **fields: Any) -> Any:
    return getattr(import_module("pyagentspec.tracing.spans"), name)(**fields)


def event(name: str, **fields: Any) -> Any:
    value = getattr(import_module("pyagentspec.tracing.events"), name, None)
    if value is None:
        pytest.skip(f"this pyagentspec has no {name}")
    return value(**fields)


def config(url: str = "http://127.0.0.1:9/v1", **fields: Any) -> Any:
    return part("OpenAiCompatibleConfig")(name="model", model_id="gpt-5", url=url, **fields)


def tool(kind: str = "ServerTool", **fields: Any) -> Any:
    string = part("StringProperty")
    if "url" not in fields:
        fields["inputs"] = [string(title="city")]
    result = string(title="result")
    return part(kind)(name="get_weather", description="Look it up.", outputs=[result], **fields)


def remote_tool() -> Any:
    return tool(
        "RemoteTool",
        url=f"https://{SECRET}:{SECRET}@example.org/{SECRET}",
        http_method="POST",
        data={"key": SECRET},
        headers={"x-api-key": SECRET},
        sensitive_headers={"authorization": SECRET},
    )


def agent(url: str = "http://127.0.0.1:9/v1", name: str = "weather", **fields: Any) -> Any:
    fields = {"tools": [tool()], **fields}
    return part("Agent")(
        name=name, llm_config=config(url), system_prompt="You know the weather.", **fields
    )


def flow() -> Any:
    """A flow that looks the weather up for Paris, and for no other city."""
    city = part("StringProperty")(title="city")
    result = part("StringProperty")(title="result", default="")
    start = part("StartNode")(name="start", inputs=[city])
    choice = part("BranchingNode")(name="choose", inputs=[city], mapping={"Paris": "paris"})
    lookup = part("ToolNode")(name="look up", tool=tool())
    end = part("EndNode")(name="end", outputs=[result], branch_name="found")
    nowhere = part("EndNode")(name="nowhere", outputs=[result], branch_name="nowhere")
    controls = [
        (start, None, choice),
        (choice, "paris", lookup),
        (choice, "default", nowhere),
        (lookup, None, end),
    ]
    data = [(start, "city", choice), (start, "city", lookup), (lookup, "result", end)]
    return part("Flow")(
        name="weather flow",
        start_node=start,
        nodes=[start, choice, lookup, end, nowhere],
        inputs=[city],
        outputs=[result],
        control_flow_connections=[
            part("ControlFlowEdge")(
                name=f"c{n}", from_node=source, from_branch=branch, to_node=target
            )
            for n, (source, branch, target) in enumerate(controls)
        ],
        data_flow_connections=[
            part("DataFlowEdge")(
                name=f"d{n}",
                source_node=source,
                source_output=name,
                destination_node=target,
                destination_input=name,
            )
            for n, (source, name, target) in enumerate(data)
        ],
    )


def to_json(component: Any, **options: Any) -> str:
    return str(part("AgentSpecSerializer")().to_json(component, **options))


def asked(component: Any, *texts: tuple[str, str], tools: Any = ()) -> Any:
    prompt = [part("Message")(role=role, content=text) for role, text in texts]
    return event(
        "LlmGenerationRequest",
        llm_config=component,
        prompt=prompt,
        tools=list(tools),
        request_id="r",
    )


def answered(component: Any, text: str = ANSWER, **fields: Any) -> Any:
    return event(
        "LlmGenerationResponse", llm_config=component, content=text, request_id="r", **fields
    )


def model_call(text: str = ANSWER, **fields: Any) -> None:
    component = config()
    with span("LlmGenerationSpan", llm_config=component) as item:
        item.add_event(
            asked(component, ("system", "Be brief."), ("user", QUESTION), tools=[tool()])
        )
        item.add_event(answered(component, text, **fields))


def tool_call(result: Any = "sunny", component: Any = None, **fields: Any) -> None:
    component = component or tool()
    with span("ToolExecutionSpan", tool=component, **fields) as item:
        item.add_event(requested(component))
        item.add_event(responded(component, {"result": result}))


def requested(component: Any, request_id: str = "t") -> Any:
    inputs = {"city": "Paris"}
    return event("ToolExecutionRequest", tool=component, inputs=inputs, request_id=request_id)


def responded(component: Any, outputs: Any) -> Any:
    return event("ToolExecutionResponse", tool=component, outputs=outputs, request_id="t")
