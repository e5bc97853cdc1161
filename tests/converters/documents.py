"""Documents of every format, valid and with members that nobody knows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentool_otel.converters import converter_named
from agentool_otel.model.documents import Document, ToolRegistry, ToolSpec
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
schemas = json_objects | st.fixed_dictionaries(
    {"type": st.sampled_from(["object", "array"])},
    optional={"properties": json_objects, "required": st.lists(words, max_size=2)},
)
flags = st.booleans()
hints = st.fixed_dictionaries({}, optional={"readOnlyHint": flags | values, "title": words})

metadata = st.builds(
    lambda known, free: {**free, **known},
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
            "registry_id": words,
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
_DOCUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "agentool": listed(tool_specs) | registries,
    "openai-tools": listed(openai_tools | flat_openai_tools),
    "anthropic-tools": listed(anthropic_tools),
    "mcp-tools": listed(mcp_tools) | st.fixed_dictionaries({"tools": listed(mcp_tools)}),
}
FORMATS = sorted(_DOCUMENTS)
LOSSLESS = [name for name in FORMATS if converter_named(name).lossless]


def documents_of(name: str) -> st.SearchStrategy[Any]:
    """Return documents of a format that hold tools."""
    return _DOCUMENTS[name]


def agentool_documents(name: str) -> st.SearchStrategy[list[Document]]:
    """Return documents of the spec that a format takes."""
    specs = listed(tool_specs.map(ToolSpec.from_dict))
    registry = registries.map(lambda it: [ToolRegistry.from_dict(it)])
    return specs | registry  # type: ignore[return-value]
