"""The documents of the agentool interoperability spec, field for field.

Spec: agentool interoperability spec v0.1, and the fields its reference package adds to it.

A member that was not there is `UNSET`, one that was null is None; empty is a value like any other.
Members the spec does not know are kept in `extra` and written back beside the known ones. Words
(status, step type, assertion type) are plain strings: the known ones are listed here, any other is
carried. Times keep their text; `agentool_otel.model.times` turns it into nanoseconds.

These classes only hold values. `agentool_otel.model.codec` reads and writes them, because a typed
decoder would drop unknown members. Payloads (arguments, outputs, memory) are whatever JSON they
were, shared with the object they were read from rather than copied.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from agentool_otel.ground.json_codec import Json
from agentool_otel.ground.json_difference import apply, patch
from agentool_otel.model.statuses import STATUSES, Status

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ASSERTION_TYPES",
    "COST_TIERS",
    "DIFFICULTIES",
    "STATUSES",
    "STEP_TYPES",
    "TOOL_CATEGORIES",
    "UNSET",
    "Assertion",
    "AssertionResult",
    "AssertionType",
    "Document",
    "EvalCase",
    "EvalResult",
    "Maybe",
    "Number",
    "ReasoningTrace",
    "RegisteredTool",
    "Status",
    "Step",
    "StepType",
    "ToolCall",
    "ToolExchange",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "TraceMetrics",
    "UnsetType",
]

StepType = Literal[
    "reasoning", "tool_call", "tool_result", "handoff", "memory_read", "memory_write"
]
AssertionType = Literal[
    "output_property",
    "contains_tool_call",
    "tool_call_count",
    "no_hallucination",
    "response_format",
    "context_efficiency",
    "latency",
]

STEP_TYPES: tuple[str, ...] = get_args(StepType)
ASSERTION_TYPES: tuple[str, ...] = get_args(AssertionType)
DIFFICULTIES = ("easy", "medium", "hard")
TOOL_CATEGORIES = ("retrieval", "compute", "io", "side_effect", "coordination")
COST_TIERS = ("free", "cheap", "medium", "expensive")

_T = TypeVar("_T")
Maybe: TypeAlias = Union[_T, UnsetType, None]  # noqa: UP007 - mypy takes no TypeVar with |
"""A value, null, or absent."""

Number = int | float
"""Any JSON number: a count that passed through JavaScript or a data frame comes back as 3.0."""

Object = dict[str, Any]
StatusWord = Annotated[str, Meta(examples=list(STATUSES))]
StepTypeWord = Annotated[str, Meta(examples=list(STEP_TYPES))]
AssertionTypeWord = Annotated[str, Meta(examples=list(ASSERTION_TYPES))]
DifficultyWord = Annotated[str, Meta(examples=list(DIFFICULTIES))]


class Document(Struct, frozen=True, kw_only=True, gc=False, repr_omit_defaults=True):
    """Base of all documents: unknown members, and conversion to JSON and back."""

    extra: Object = {}
    """Members the spec does not know, written back unchanged; a known member of that name wins."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a JSON object.

        Raises:
            DecodeError: if a known member has the wrong type or a required one is missing.
        """
        from agentool_otel.model.codec import decode

        return decode(cls, data)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read JSON text.

        Raises:
            DecodeError: if it is not JSON, or not this document.
        """
        from agentool_otel.model.codec import decode

        return decode(cls, text)

    def to_dict(self) -> Object:
        """Return the JSON object; payloads inside it are shared with this document."""
        from agentool_otel.model.codec import encode

        return encode(self)

    def to_json(self) -> str:
        """Return compact JSON text."""
        from agentool_otel.model.codec import dumps

        return dumps(self)

    def __str__(self) -> str:
        from agentool_otel.model.plain_text import line_of

        return line_of(self) or repr(self)

    def _repr_html_(self) -> str | None:
        from agentool_otel.model.notebook import html_of

        return html_of(self)


class ToolSpec(Document, frozen=True, kw_only=True):
    """A callable tool, as every framework can describe it."""

    name: str
    """Unique identifier, snake_case."""
    description: str
    """Purpose of the tool and when to use it, for people and models."""
    parameters: Object
    """JSON Schema of the arguments, as in OpenAI function calling."""
    returns: Maybe[Object] = UNSET
    """JSON Schema of the output."""
    metadata: Maybe[Object] = UNSET
    """Open; known are `category` (retrieval, compute, io, side_effect, coordination), `cost_tier`
    (free, cheap, medium, expensive) and `side_effects` (bool)."""

    def to_openai(self) -> Object:
        """Return the tool as OpenAI's Chat Completions API takes it.

        That form has no place for `returns`, `metadata` and unknown members: they are left out.
        """
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return self._to_vendor("openai-tools", {"type": "function", "function": function})

    @classmethod
    def from_openai(cls, tool: Mapping[str, Any]) -> Self:
        """Read a function tool of OpenAI's Chat Completions (nested) or Responses API (flat).

        Members only OpenAI knows (`strict`) are kept in `metadata["openai-tools"]` and written back
        by `to_openai`. A description or parameters left out there are empty here.

        Raises:
            DecodeError: if it is not a function tool.
        """
        nested = isinstance(tool.get("function"), Mapping)
        function = dict(tool["function"] if nested else tool)
        outer = {k: v for k, v in tool.items() if k not in ("type", "function")} if nested else {}
        if not nested:
            function.pop("type", None)
        return cls._from_vendor("openai-tools", function, "parameters", outer, "function")

    def to_anthropic(self) -> Object:
        """Return the tool as Anthropic's Messages API takes it.

        That form has no place for `returns`, `metadata` and unknown members: they are left out.
        """
        tool = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.parameters,
        }
        return self._to_vendor("anthropic-tools", tool)

    @classmethod
    def from_anthropic(cls, tool: Mapping[str, Any]) -> Self:
        """Read a tool of Anthropic's Messages API.

        Members only Anthropic knows (`cache_control`) are kept in `metadata["anthropic-tools"]` and
        written back by `to_anthropic`.

        Raises:
            DecodeError: if it is not a tool with a name.
        """
        return cls._from_vendor("anthropic-tools", dict(tool), "input_schema", {}, None)

    @classmethod
    def _from_vendor(
        cls, vendor: str, tool: Object, schema: str, outer: Object, inner: str | None
    ) -> Self:
        spec: Object = {name: tool.pop(name) for name in ("name",) if name in tool}
        description, parameters = tool.pop("description", None), tool.pop(schema, None)
        spec["description"] = "" if description is None else description
        spec["parameters"] = {} if parameters is None else parameters
        merged = {**outer, inner: tool} if inner and tool else {**outer, **tool}
        if merged:
            spec["metadata"] = {vendor: patch({}, merged)}
        return cls.from_dict(spec)

    def _to_vendor(self, vendor: str, tool: Object) -> Object:
        vendor_data = self.metadata.get(vendor) if isinstance(self.metadata, dict) else None
        return apply(tool, vendor_data) if isinstance(vendor_data, dict) else tool


class ToolCall(Document, frozen=True, kw_only=True):
    """An agent's request to run a tool."""

    id: Maybe[str] = UNSET
    """Unique in its trace; the result repeats it as `call_id`."""
    name: str
    """Name of the tool."""
    arguments: Json = UNSET
    """An object of named arguments; what the model wrote where that is not one."""
    timestamp: Maybe[str] = UNSET
    """RFC 3339 time of the call; inside a step usually left to the step."""


class ToolResult(Document, frozen=True, kw_only=True):
    """Result of a tool. The unknown member `exit_code` is that of the command that it ran."""

    call_id: Maybe[str] = UNSET
    """The `id` of the call this answers."""
    output: Json = UNSET
    """Any JSON value."""
    error: Json = UNSET
    """Error of the tool, as text; null or absent without an error. That of a call that the user, a
    policy or a hook denied begins with `permission_denied`."""
    duration_ms: Maybe[Number] = UNSET
    """As the tool's caller measured it, in milliseconds."""
    cost_tokens: Maybe[Number] = UNSET
    """Tokens the tool itself used."""


class ToolExchange(Document, frozen=True, kw_only=True):
    """A call and its result side by side, as the spec shows them outside a trace."""

    tool_call: Maybe[ToolCall] = UNSET
    """The call."""
    tool_result: Maybe[ToolResult] = UNSET
    """Result of the call."""


class Step(Document, frozen=True, kw_only=True):
    """One thing an agent did. Which members are there depends on `type`."""

    step_id: Maybe[str] = UNSET
    """Unique in its trace."""
    type: StepTypeWord
    """Type of the step; an unknown word is kept."""
    timestamp: Maybe[str] = UNSET
    """RFC 3339 time of the step. The order of steps is their order in the list, not this."""
    content: Json = UNSET
    """reasoning: the thought, as text. memory_write: the value that is written."""
    context_tokens: Maybe[Number] = UNSET
    """reasoning: tokens in the model's context at this step."""
    tool_call: Maybe[ToolCall] = UNSET
    """tool_call: the call. Where nobody executed it, the unknown member `executed` is false."""
    tool_result: Maybe[ToolResult] = UNSET
    """tool_result: the result."""
    to_agent: Maybe[str] = UNSET
    """handoff: the agent that takes over."""
    message: Json = UNSET
    """handoff: message to that agent, as text."""
    query: Json = UNSET
    """memory_read: what was looked for, as text."""
    results: Json = UNSET
    """memory_read: what was found, as a list."""
    key: Json = UNSET
    """memory_write: the name the value is kept under."""


class TraceMetrics(Document, frozen=True, kw_only=True):
    """Totals of a run, as its agent reported them. They need not agree with the steps."""

    total_tokens: Maybe[Number] = UNSET
    """Tokens of all model calls, input and output."""
    total_cost_usd: Maybe[Number] = UNSET
    """Cost of all calls in US dollars."""
    total_duration_ms: Maybe[Number] = UNSET
    """Length of the run in milliseconds."""
    step_count: Maybe[Number] = UNSET
    """Number of steps."""
    tool_call_count: Maybe[Number] = UNSET
    """Number of tool calls."""


class ReasoningTrace(Document, frozen=True, kw_only=True):
    """The structured record of one run of an agent."""

    trace_id: str
    """Unique identifier of the run."""
    agent_id: Maybe[str] = UNSET
    """The agent that ran."""
    session_id: Maybe[str] = UNSET
    """The conversation this run belongs to."""
    started_at: Maybe[str] = UNSET
    """RFC 3339 time."""
    finished_at: Maybe[str] = UNSET
    """RFC 3339 time; null or absent while the run goes on."""
    input: Json = UNSET
    """Input of the agent, as text."""
    output: Json = UNSET
    """Output of the agent, as text."""
    status: Maybe[StatusWord] = UNSET
    """Status at the end of the run; an unknown word is kept."""
    steps: list[Step]
    """Steps of the agent, in order."""
    metrics: Maybe[TraceMetrics] = UNSET
    """Totals of the run."""
    metadata: Maybe[Object] = UNSET
    """Open. What ended a run that did not succeed is its `error`: `type`, `message` and `span_id`,
    as far as they are known."""

    def tool_calls(self) -> list[ToolCall]:
        """Return the calls in the order of their steps, whatever type those steps have."""
        return [step.tool_call for step in self.steps if isinstance(step.tool_call, ToolCall)]

    def tool_results(self) -> list[ToolResult]:
        """Return the results in the order of their steps, whatever type those steps have."""
        return [s.tool_result for s in self.steps if isinstance(s.tool_result, ToolResult)]

    def pairs(self) -> Iterator[tuple[ToolCall | None, ToolResult | None]]:
        """Yield each call with its result, in the order of calls, then results without a call.

        They belong together by id, wherever they stand; among equal ids the first result answers
        the first call. Without an id nothing is paired.
        """
        waiting: defaultdict[str, deque[ToolResult]] = defaultdict(deque)
        orphans: list[ToolResult] = []
        for result in self.tool_results():
            if isinstance(result.call_id, str):
                waiting[result.call_id].append(result)
            else:
                orphans.append(result)
        for call in self.tool_calls():
            answers = waiting.get(call.id) if isinstance(call.id, str) else None
            yield call, answers.popleft() if answers else None
        for result in [*orphans, *chain.from_iterable(waiting.values())]:
            yield None, result

    def call_of(self, result: ToolResult) -> ToolCall | None:
        """Return the call that `result`, one of this trace's, answers. Walks the trace."""
        pairs = list(self.pairs())
        same = [call for call, other in pairs if other is result]
        equal = same or [call for call, other in pairs if other == result]
        return equal[0] if equal else None

    def result_of(self, call: ToolCall) -> ToolResult | None:
        """Return the result of `call`, one of this trace's. Walks the trace."""
        pairs = list(self.pairs())
        same = [result for other, result in pairs if other is call]
        equal = same or [result for other, result in pairs if other == call]
        return equal[0] if equal else None


class Assertion(Document, frozen=True, kw_only=True):
    """A property a run must have. Which members are there depends on `type`."""

    type: AssertionTypeWord
    """Type of the assertion; an unknown word is kept."""
    description: Maybe[str] = UNSET
    """Why, for people."""
    property: Maybe[str] = UNSET
    """output_property: the property, in words for a judge."""
    tool_name: Maybe[str] = UNSET
    """contains_tool_call, tool_call_count: the tool that is meant."""
    tool_args: Maybe[Object] = UNSET
    """contains_tool_call: arguments the call must have."""
    min_calls: Maybe[Number] = UNSET
    """tool_call_count: at least so many."""
    max_calls: Maybe[Number] = UNSET
    """tool_call_count: at most so many."""
    schema: Maybe[Object] = UNSET
    """response_format: JSON Schema the output must match."""
    max_ms: Maybe[Number] = UNSET
    """latency: the longest a run may take, in milliseconds."""
    max_tokens: Maybe[Number] = UNSET
    """context_efficiency: the most tokens a run may use."""


class EvalCase(Document, frozen=True, kw_only=True):
    """A test case for an agent: properties of a good run, not an exact answer."""

    eval_id: Maybe[str] = UNSET
    """The evaluation this case belongs to."""
    case_id: str
    """Unique in its evaluation."""
    description: Maybe[str] = UNSET
    """Description of the case, for people."""
    input: Json = UNSET
    """Input for the agent, as text."""
    context: Maybe[Object] = UNSET
    """Further data for the agent."""
    assertions: list[Assertion]
    """All must hold."""
    tags: Maybe[list[str]] = UNSET
    """Words to select cases by."""
    difficulty: Maybe[DifficultyWord] = UNSET
    """Difficulty of the case; an unknown word is kept."""


class AssertionResult(Document, frozen=True, kw_only=True):
    """Result of one assertion."""

    assertion_type: AssertionTypeWord
    """The `type` of the assertion."""
    passed: bool | None
    """Whether it passed; null if it could not be evaluated."""
    score: Maybe[Number] = UNSET
    """0 to 1."""
    reason: Maybe[str] = UNSET
    """Why, for people."""


class EvalResult(Document, frozen=True, kw_only=True):
    """Evaluation of one run."""

    eval_id: Maybe[str] = UNSET
    """The evaluation this belongs to."""
    case_id: str
    """The case the run was held against."""
    trace_id: Maybe[str] = UNSET
    """The run that was judged."""
    passed: bool | None
    """Whether all assertions passed; null if that could not be evaluated."""
    assertion_results: list[AssertionResult]
    """One per assertion, in the order of the case."""
    composite_score: Maybe[Number] = UNSET
    """0 to 1 over all assertions."""
    judge_model: Maybe[str] = UNSET
    """The model that judged."""
    evaluated_at: Maybe[str] = UNSET
    """RFC 3339 time."""
    notes: Maybe[str] = UNSET
    """Remarks; a field of the reference package."""


class RegisteredTool(Document, frozen=True, kw_only=True):
    """A tool in a registry, and how to reach it."""

    spec: ToolSpec
    """The tool."""
    endpoint: Maybe[str] = UNSET
    """URL it is called at."""
    auth: Maybe[str] = UNSET
    """Method of authentication, for example `bearer`."""
    provider: Maybe[str] = UNSET
    """Operator of the server."""
    tags: Maybe[list[str]] = UNSET
    """Words to find it by."""


class ToolRegistry(Document, frozen=True, kw_only=True):
    """A catalogue of tools that agents can query."""

    registry_id: str
    """Unique identifier."""
    tools: list[RegisteredTool]
    """The tools."""
    version: Maybe[str] = UNSET
    """Version of the catalogue."""
    updated_at: Maybe[str] = UNSET
    """RFC 3339 time."""
