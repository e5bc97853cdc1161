"""A ToolSpec inferred from a signature and a docstring."""

from __future__ import annotations

from typing import Literal

from agentool_otel.tracing.capture import tool, tool_spec


@tool
def search(query: str, limit: int = 5, kind: Literal["web", "news"] = "web") -> list[str]:
    """Search the web.

    Returns titles only.

    Args:
        query: The search query,
            in any language.
        limit: Max results to return.
    """
    return [query] * limit


def test_a_decorated_function_describes_its_parameters_and_result() -> None:
    assert tool_spec(search).to_dict() == {
        "name": "search",
        "description": "Search the web.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The search query, in any language."},
                "limit": {"type": "integer", "description": "Max results to return.", "default": 5},
                "kind": {"enum": ["news", "web"], "default": "web"},
            },
            "required": ["query"],
        },
        "returns": {"type": "array", "items": {"type": "string"}},
    }


def test_self_and_variable_arguments_are_left_out() -> None:
    class Box:
        def lift(self, weight: float, *others: int, **number: int) -> None: ...

    spec = tool_spec(Box.lift, name="lift_box")
    assert spec.name == "lift_box"
    assert list(spec.parameters["properties"]) == ["weight"]


def test_a_type_without_a_json_form_becomes_an_open_schema() -> None:
    class Odd: ...

    def use(thing: Odd, other) -> None: ...  # type: ignore[no-untyped-def]

    assert tool_spec(use).parameters["properties"] == {"thing": {}, "other": {}}
