"""Answers of a loopback model: scripted turns, or turns derived from the request.

Nothing here is a model: do not judge quality by it, only plumbing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

__all__ = ["Protocol", "Request", "Stop", "ToolCall", "Turn", "auto_turn", "call", "example_of"]

Json = dict[str, Any]
Protocol = Literal[
    "chat", "responses", "embeddings", "messages", "count_tokens", "generate_content", "converse"
]
"""OpenAI's chat completions, responses and embeddings; Anthropic's messages and `count_tokens`;
Google's generateContent; Bedrock's Converse."""
Stop = Literal["stop", "tool", "length", "refusal", "content_filter"]

ANSWER = "The answer is 42."


@dataclass(frozen=True)
class ToolCall:
    """One tool call. `arguments` as text are sent as they are, e.g. broken JSON."""

    name: str
    arguments: Json | str = field(default_factory=dict[str, Any])
    id: str | None = None
    namespace: str | None = None
    """Namespace of the tool; the Responses API alone has it."""
    custom: bool = False
    """Whether `arguments` is a free text for a custom tool; the Responses API alone has it."""

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer of the model. Everything has a default: the text of `Turn()` is `ANSWER`."""

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    phase: Literal["commentary", "final_answer"] | None = None
    """What the text is; the Responses API alone has it."""
    stop: Stop | None = None
    """Why the model stopped; by default `tool` with tool calls and `stop` without."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    """By default, made up from lengths."""
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    details: bool = True
    """False: the server reports no details of its token counts, as many do."""

    chunk_size: int = 8
    """Characters of a streamed fragment."""
    chunk_delay_s: float = 0.0
    delay_s: float = 0.0
    """Seconds before anything is sent."""

    status: int = 200
    """An HTTP status other than 200 is an error, with `error` as its message."""
    error: str = "injected failure"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """E.g. `{"retry-after": "0"}`."""
    malformed: bool = False
    """Answer with a body that is not JSON."""
    cut_after: int | None = None
    """Drop the connection after so many events; before the answer where it is not streamed."""
    end_after: int | None = None
    """End a stream after so many events, as if nothing were missing."""
    error_after: int | None = None
    """Send an error event after so many events."""

    @property
    def why(self) -> Stop:
        return self.stop or ("tool" if self.tool_calls else "stop")

    @property
    def answer_text(self) -> str:
        return ANSWER if self.text is None and not self.tool_calls else self.text or ""


def call(name: str, /, **arguments: Any) -> Turn:
    """Return a turn that calls one tool."""
    return Turn(tool_calls=(ToolCall(name, arguments),))


@dataclass(frozen=True)
class Request:
    """One request, complete and summarized for rules."""

    protocol: Protocol
    body: Json
    headers: Mapping[str, str]
    """Names in lower case; credentials are left out."""

    @property
    def model(self) -> str:
        return str(self.body.get("model") or "loopback")

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def messages(self) -> list[Json]:
        """The messages of a chat, the input items of a response, or Google's contents."""
        if self.protocol == "embeddings":
            return []
        member = {"responses": "input", "generate_content": "contents"}
        messages = self.body.get(member.get(self.protocol, "messages"))
        if isinstance(messages, str):
            return [{"role": "user", "content": messages}]
        return cast("list[Json]", messages) if isinstance(messages, list) else []

    @property
    def tools(self) -> list[Json]:
        """The functions that are offered, as `{name, description, parameters}`."""
        if "none" in (self.body.get("tool_choice"), self.option("tool_choice").get("type")):
            return []
        offered = cast("list[Json]", self.body.get("tools") or [])
        if self.protocol == "generate_content":
            return [_function(item) for tool in offered for item in _declared(tool)]
        if self.protocol == "converse":
            return [_specified(tool) for tool in self.option("toolConfig").get("tools") or []]
        if self.protocol in ("messages", "count_tokens"):
            functions = [tool for tool in offered if "input_schema" in tool]
            return [tool | {"parameters": tool["input_schema"]} for tool in functions]
        functions = [tool for tool in offered if tool.get("type", "function") == "function"]
        return [cast("Json", tool.get("function") or tool) for tool in functions]

    @property
    def after_tool(self) -> bool:
        """Return whether the newest message is a tool's result."""
        newest = self.messages[-1] if self.messages else {}
        if newest.get("role") == "tool" or str(newest.get("type")).endswith("_output"):
            return True
        blocks = newest.get("content") or newest.get("parts")
        return isinstance(blocks, list) and any(
            block.get("type") == "tool_result" or not _RESULTS.isdisjoint(block)
            for block in cast("list[Json]", blocks)
        )

    @property
    def last_user(self) -> str:
        """The newest text of the user."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return _text_of(message.get("content") or message.get("parts"))
        return ""

    @property
    def schema(self) -> Json | None:
        """Return the JSON Schema of the answer; None if the request has none."""
        places = (
            ("response_format", "json_schema"),
            ("text", "format"),
            ("output_config", "format"),
            ("output_format",),
        )
        formats = (self.option(*place) for place in places)
        schema = next((item["schema"] for item in formats if "schema" in item), None)
        google = self.option("generationConfig")
        return schema or google.get("responseJsonSchema") or google.get("responseSchema")

    def option(self, *path: str) -> Json:
        """Return an object inside the body, an empty one where there is none."""
        value: Any = self.body
        for name in path:
            value = cast("Json", value).get(name)
            if not isinstance(value, dict):
                return {}
        return cast("Json", value)


_RESULTS = frozenset({"functionResponse", "toolResult"})
"""Members of blocks that are the result of a tool, of Google and Bedrock."""


def _specified(tool: Json) -> Json:
    """Return the function of one of Bedrock's tools."""
    specification: Json = tool.get("toolSpec") or {}
    return specification | {"parameters": (specification.get("inputSchema") or {}).get("json")}


def _declared(tool: Json) -> list[Json]:
    """Return the functions that one of Google's tools declares."""
    return tool.get("functionDeclarations") or tool.get("function_declarations") or []


def _function(declaration: Json) -> Json:
    names = ("parametersJsonSchema", "parameters_json_schema", "parameters")
    schema: Any = next((declaration[name] for name in names if declaration.get(name)), {})
    return declaration | {"parameters": schema}


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(_text_of(part) for part in cast("Sequence[Any]", content))
    if isinstance(content, dict):
        return str(cast("Json", content).get("text") or "")
    return str(content or "")


def auto_turn(request: Request) -> Turn:
    """Call the first tool on offer, with arguments made up from its schema; then answer."""
    hint = (request.last_user.strip().splitlines() or ["x"])[-1][:60] or "x"
    if request.tools and not request.after_tool:
        chosen = request.tools[0]
        arguments = example_of(chosen.get("parameters") or {}, hint)
        return Turn(tool_calls=(ToolCall(str(chosen["name"]), arguments),))
    if request.schema is not None:
        return Turn(text=json.dumps(example_of(request.schema, ANSWER)))
    return Turn()


def example_of(schema: Json, hint: str = "x", root: Json | None = None) -> Any:
    """Return a small value that satisfies a JSON Schema; free text is `hint`."""
    root = schema if root is None else root
    if "$ref" in schema:
        node: Any = root
        for name in str(schema["$ref"]).lstrip("#/").split("/"):
            node = node[name]
        return example_of(node, hint, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        for option in schema.get(key, ()):
            if option.get("type") != "null":
                return example_of(option, hint, root)
    kinds: Any = schema.get("type") or ("object" if "properties" in schema else "string")
    names: list[str] = [kinds] if isinstance(kinds, str) else kinds
    # Google's schemas have the types in capitals.
    match next((name.lower() for name in names if name != "null"), "null"):
        case "object":
            properties: Json = schema.get("properties") or {}
            wanted: list[str] = schema.get("required") or list(properties)
            return {name: example_of(properties.get(name, {}), hint, root) for name in wanted}
        case "array":
            return [example_of(schema.get("items") or {}, hint, root)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return hint
