"""Documents of every format, valid and with members that nobody knows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentool_otel.converters import converter_named
from agentool_otel.model.documents import Document, EvalCase, ToolRegistry, ToolSpec
from tests.strategies import maybe, values, with_unknown

__all__ = ["FORMATS", "LOSSLESS", "agentool_documents", "documents_of", "json_objects"]

Object = dict[str, Any]

names = st.text(min_size=1, max_size=8)
words = st.text(max_size=8)
_keys = st.text(max_size=4) | st.sampled_from(["-", "--", "-a", "a", "type", "object"])
_inner = st.recursive(
    values,
    lambda inner: st.dictionaries(_keys, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=4,
)
json_objects = st.dictionaries(_keys, _inner, max_size=4)
titled = st.dictionaries(st.sampled_from(["a", "-b", "title", "ü"]), _inner, max_size=3)
_unnamed = _keys.filter(lambda key: key != "properties")
schemas = st.dictionaries(_unnamed, _inner, max_size=4) | st.fixed_dictionaries(
    {"type": st.sampled_from(["object", "array"])},
    optional={"properties": titled, "required": st.lists(words, max_size=2)},
)
flags = st.booleans()
hints = st.fixed_dictionaries({}, optional={"readOnlyHint": flags | values, "title": words})

metadata = st.builds(
    lambda entries, free: {**free, **entries},
    st.fixed_dictionaries(
        {},
        optional={
            "category": words,
            "side_effects": flags | values,
            "openai-tools": json_objects,
            "mcp-tools": json_objects | st.just({"_meta": {}}),
            "anthropic-tools": values,
        },
    ),
    json_objects,
)
tool_specs = with_unknown(
    st.fixed_dictionaries(
        {"name": names, "description": words, "parameters": schemas},
        optional=maybe(returns=schemas, metadata=metadata),
    )
)
registries = with_unknown(
    st.fixed_dictionaries(
        {
            "registry_id": names,
            "tools": st.lists(
                with_unknown(
                    st.fixed_dictionaries(
                        {"spec": tool_specs},
                        optional={
                            **maybe(endpoint=words, auth=words, provider=words),
                            "tags": st.lists(words, max_size=2),
                        },
                    )
                ),
                min_size=1,
                max_size=3,
            ),
        },
        optional=maybe(version=words, updated_at=words),
    )
)


def listed(tools: st.SearchStrategy[Object]) -> st.SearchStrategy[list[Object]]:
    return st.lists(tools, min_size=1, max_size=3)


openai_tools = with_unknown(
    st.fixed_dictionaries(
        {
            "type": st.just("function"),
            "function": with_unknown(
                st.fixed_dictionaries(
                    {"name": names},
                    optional=maybe(description=words, parameters=schemas, strict=flags),
                )
            ),
        }
    )
)
flat_openai_tools = with_unknown(
    st.fixed_dictionaries(
        {"type": st.just("function"), "name": names},
        optional=maybe(description=words, parameters=schemas, strict=flags),
    )
)
anthropic_tools = with_unknown(
    st.fixed_dictionaries(
        {"name": names},
        optional=maybe(description=words, input_schema=schemas, cache_control=json_objects),
    )
)
mcp_tools = with_unknown(
    st.fixed_dictionaries(
        {"name": names, "inputSchema": schemas},
        optional=maybe(
            description=words,
            outputSchema=schemas,
            title=words,
            annotations=hints | json_objects,
            _meta=json_objects,
        ),
    )
)
filled = st.text(min_size=1, max_size=6)
toolsmith_tools = with_unknown(
    st.fixed_dictionaries(
        {"name": filled},
        optional=maybe(
            description=words,
            sideEffects=words | st.sampled_from(["mock-only", "external side effect"]),
            requiresConfirmation=flags,
            examples=st.lists(words, max_size=2),
            inputSchema=schemas,
            outputSchema=schemas,
            metadata=json_objects,
        ),
    )
)
toolsmith_files = with_unknown(
    st.fixed_dictionaries(
        {
            "name": filled | st.just("tools"),
            "version": filled | st.just("1.0.0"),
            "tools": st.lists(
                toolsmith_tools, min_size=1, max_size=3, unique_by=lambda item: item["name"]
            ),
        },
        optional=maybe(
            description=words,
            safety=with_unknown(
                st.fixed_dictionaries({}, optional=maybe(network=flags, realSideEffects=flags))
            ),
        ),
    )
)
expected = filled | st.sampled_from(["none", "None", "NONE"])
tasks = with_unknown(
    st.fixed_dictionaries(
        {"id": filled, "prompt": filled, "expectedTool": expected},
        optional=maybe(successCriteria=st.lists(words, max_size=2), metadata=json_objects),
    )
)
task_files = with_unknown(
    st.fixed_dictionaries(
        {
            "name": filled | st.just("tasks"),
            "version": filled | st.just("1.0.0"),
            "tasks": st.lists(tasks, min_size=1, max_size=3, unique_by=lambda item: item["id"]),
        },
        optional={"metadata": json_objects},
    )
)
categories = st.sampled_from(["passed", "wrong_tool", "unknown_error", "NO_TOOL_SELECTED"]) | words
task_results = with_unknown(
    st.fixed_dictionaries(
        {"taskId": filled, "prompt": words, "expectedTool": expected, "passed": flags},
        optional=maybe(
            actualTool=words,
            failureCategory=categories,
            failureReason=categories,
            reason=words,
            recommendation=words,
            suggestion=words,
            textResponse=words,
            metadata=json_objects,
            toolCall=with_unknown(
                st.fixed_dictionaries(
                    {"toolName": filled}, optional={"arguments": values, **maybe(reason=words)}
                )
            ),
        ),
    )
)
runs = with_unknown(
    st.fixed_dictionaries(
        {
            "id": filled,
            "results": st.lists(
                task_results, min_size=1, max_size=3, unique_by=lambda item: item["taskId"]
            ),
        },
        optional=maybe(
            version=words,
            createdAt=words | st.just("2026-06-03T00:00:00.000Z"),
            agent=json_objects | st.just({"name": "keyword-mock-agent"}),
            provider=json_objects,
            summary=json_objects,
        ),
    )
)
cases = with_unknown(
    st.fixed_dictionaries(
        {
            "case_id": filled,
            "input": filled,
            "assertions": st.builds(
                lambda before, first, after: [*before, first, *after],
                st.just([]) | st.just([{"type": "latency", "max_ms": 5, "x": None}]),
                st.just({"type": "tool_call_count", "min_calls": 0, "max_calls": 0})
                | st.builds(
                    lambda name: {"type": "contains_tool_call", "tool_name": f"tool {name}"}, words
                ),
                st.just([]) | st.just([{"type": "output_property", "property": "short"}]),
            ),
        },
        optional=maybe(
            eval_id=words,
            description=words,
            context=json_objects,
            tags=st.lists(words, max_size=2),
            difficulty=words,
            toolsmith=json_objects,
            toolsmith_file=json_objects | st.just({"version": "2"}),
        ),
    )
)
agent_tools = with_unknown(
    st.fixed_dictionaries(
        {
            "tool_id": words,
            "namespace": words,
            "name": names,
            "description": words,
            "lifecycle": words,
            "tool_kind": st.sampled_from(["function", "web_search", "shell_command"]) | words,
        },
        optional={
            "schema_version": st.sampled_from(["0.2.0", "0.3.0"]),
            **maybe(
                aliases=st.lists(words, max_size=2),
                input_contract=st.fixed_dictionaries(
                    {}, optional=maybe(schema=schemas, model_input_schema=schemas, strict=flags)
                ),
                output_contract=with_unknown(
                    st.fixed_dictionaries({}, optional=maybe(structured_schema=schemas))
                ),
                annotations=json_objects | st.fixed_dictionaries({"is_read_only": flags}),
            ),
        },
    )
)
amplifier_tools = with_unknown(
    st.fixed_dictionaries({"name": names}, optional=maybe(description=words, input_schema=schemas))
) | with_unknown(st.fixed_dictionaries({"name": names, "parameters": schemas}))
properties = st.lists(
    with_unknown(
        st.fixed_dictionaries(
            {"title": st.sampled_from("abc")},
            optional={"type": st.sampled_from(["string", "object"]), "default": values},
        )
    ),
    max_size=3,
    unique_by=lambda item: item["title"],
)
agent_spec_tools = with_unknown(
    st.fixed_dictionaries(
        {
            "component_type": st.sampled_from(["ServerTool", "ClientTool", "MCPTool", "NewTool"]),
            "name": names,
        },
        optional={
            "agentspec_version": st.sampled_from(["25.4.1", "26.3.1", "27.1.0"]),
            **maybe(
                id=words,
                description=words,
                metadata=json_objects,
                inputs=properties,
                outputs=properties,
                requires_confirmation=flags,
                client_transport=json_objects,
            ),
        },
    )
)
_DOCUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "agentool": listed(tool_specs) | registries,
    "openai-tools": listed(openai_tools | flat_openai_tools),
    "anthropic-tools": listed(anthropic_tools),
    "toolsmith": toolsmith_files,
    "agent-tool": listed(agent_tools),
    "amplifier": listed(amplifier_tools),
    "agent-spec": listed(agent_spec_tools),
    "mcp-tools": listed(mcp_tools) | st.fixed_dictionaries({"tools": listed(mcp_tools)}),
}
FORMATS = sorted(_DOCUMENTS)
LOSSLESS = [name for name in FORMATS if converter_named(name).lossless]


def documents_of(name: str) -> st.SearchStrategy[Any]:
    """Return documents of a format that hold tools, as ToolSmith could have them, too."""
    return _DOCUMENTS[name].filter(_named_once)


def _named_once(value: Any) -> bool:
    tools = value if isinstance(value, list) else value["tools"]
    specs = [tool.get("function", tool.get("spec", tool)) for tool in tools]
    names = [spec["name"] for spec in specs]
    return len(set(names)) == len(names)


def agentool_documents(name: str) -> st.SearchStrategy[list[Document]]:
    """Return documents of the spec that a format takes."""
    specs = listed(tool_specs).filter(_named_once)
    registry = registries.filter(_named_once)
    search_strategies: list[st.SearchStrategy[list[Document]]] = [
        specs.map(lambda item: [*map(ToolSpec.from_dict, item)]),
        registry.map(lambda item: [ToolRegistry.from_dict(item)]),
    ]
    if name == "toolsmith":
        several = st.lists(cases, min_size=1, max_size=3, unique_by=lambda item: item["case_id"])
        search_strategies.append(several.map(lambda item: [*map(EvalCase.from_dict, item)]))
    return st.one_of(search_strategies)
