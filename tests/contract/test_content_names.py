"""Names of content: declared by the dialects, generated, and complete.

The proof that a declaration is complete: a canary is put under every name that the source of a
dialect has, in spans of that dialect. Where it is read as content, the name is one that holds it.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.dialects import Dialect, Reader, classify, dialects
from agentool_otel.dialects.kit.dialect import Content
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.semconv import core, gen_ai
from agentool_otel.semconv import openinference as oi
from agentool_otel.semconv import traceloop as tl
from agentool_otel.semconv.foreign import (
    EVENT_KEEPS,
    Names,
    holds_content,
    holds_object,
    is_content_event,
)
from agentool_otel.semconv.table import ATTRIBUTES
from tests import content_names
from tests.contract.content import joined, recordings, spans_in, texts_in

PACKAGE = Path(agentool_otel.__file__).parent
INSTALLED = {
    dialect.name: dialect
    for dialect in dialects()
    if type(dialect).__module__.startswith("agentool_otel.")
}

NAMES_ALONE = {
    # Lists of tools that were offered, by name.
    *("gen_ai.agent.tools", "spring.ai.chat.client.tool.names"),
    *("spring.ai.model.request.tool.names", "haystack.agent.tools"),
    # Which skill or agent is called; arguments are made of it.
    *("skill_name", "subagent_type"),
    # A handoff's target, the class of an error.
    *(core.ERROR_TYPE, "pydantic_ai.tool.failure_stage", "gen_ai.tool.error.type"),
}
"""Names that are read into a field of content, and hold a name."""


def test_every_dialect_declares_its_content() -> None:
    assert [item.name for item in INSTALLED.values() if type(item.content) is not Content] == []


def test_the_generated_module_has_what_is_declared() -> None:
    expected = content_names.module()
    text = content_names.MODULE.read_text(encoding="utf-8")
    assert text == expected, "write it with: python -m tests.content_names"


def test_names_of_the_conventions_are_declared_once() -> None:
    declared = [name for item in INSTALLED.values() for name in item.content.attributes]
    assert [name for name in declared if name in ATTRIBUTES and ATTRIBUTES[name].content] == []


@pytest.mark.parametrize(
    "name",
    [
        *("gen_ai.prompt.name", "gen_ai.prompt.version", "gen_ai.agent.name", "gen_ai.tool.name"),
        *("gen_ai.request.model", "gen_ai.tool.call.id", "gen_ai.conversation.id", "session.id"),
        *("gen_ai.usage.input_tokens", "llm.token_count.prompt", "llm.usage.total_tokens"),
        *("llm.cost.input", "llm.model_name", "traceloop.entity.name", "ai.usage.inputTokens"),
        *("agentops.entity.name", "mastra.span.type", "llm.openai.usage", "llm.openai.id"),
        *("ai.observability.mcp.tool_name", "ai.observability.retrieval.num_contexts"),
        *("input.mime_type", "llm.prompt_template.version", "db.query.summary", "http.route"),
        *("gen_ai.output.type", "gen_ai.tool.error.type", "llm.messages.count", "error.message"),
        *("logfire.msg_template", "message.role", "gen_ai.token.usage.input", "error.type"),
        *("litellm.tokens.prompt", "tool.description", "http.request.method"),
    ],
)
def test_ids_names_counts_and_models_hold_no_content(name: str) -> None:
    assert not holds_content(name)


@pytest.mark.parametrize(
    "name",
    [
        *("lk.pii.user_input", "lk.pii.room_name", "acme.PII.mail", "pii", "pii.name", "a.b.pii"),
        *("a/pii/b", "a:pii", "pii[0].name", "my-pii.x"),
        *("haystack.tool.input", "haystack.tool.output", "langsmith.span.inputs"),
        *("crewai.agent.goal", "crewai.agent.backstory", "crewai.crew.agents", "crewai.crew.tasks"),
        *("gen_ai.request.stop_sequences.0", "gen_ai.openai.request.stop", "llm.request.stop"),
        *("llm.stop_sequences", "gen_ai.memory.content", "logfire.msg", "autogen.message"),
        *("metadata.reasoning_content", "langfuse.observation.metadata.inputs", "db.query.text"),
        *("gen_ai.request.embedding_inputs", "db.statement", "url.query", "llm.openai.stop"),
    ],
)
def test_texts_of_people_and_prompts_hold_content(name: str) -> None:
    assert holds_content(name)
    assert _is_masked_by_the_collector(name)


@pytest.mark.parametrize(
    "name", ["lk.piide", "lk.pii_removed", "pii_filter.on", "crewai.agent.role"]
)
def test_pii_is_content_as_a_segment_only(name: str) -> None:
    assert not holds_content(name)
    assert not _is_masked_by_the_collector(name)


_SEGMENTS = st.lists(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), max_size=3)


@given(_SEGMENTS, st.sampled_from(["pii", "PII", "Pii"]), _SEGMENTS)
def test_any_name_with_a_segment_pii_holds_content(
    before: list[str], pii: str, after: list[str]
) -> None:
    name = ".".join([*before, pii, *after])
    assert holds_content(name)
    assert _is_masked_by_the_collector(name)


def _is_masked_by_the_collector(name: str) -> bool:
    return any(re.search(pattern, name) for pattern in content_names.patterns())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.b", True),
        ("a.b.c", False),
        ("p.anything.below", True),
        ("p", False),
        ("x.one.y", True),
        ("x.one.two.y", False),
        ("x.y", False),
        ("w.one.p.below", True),
        ("w.one.p", False),
        ("p.kept", False),
        ("agentool.gen_ai.z", True),
    ],
)
def test_a_name_is_whole_a_prefix_or_has_one_free_segment(name: str, found: bool) -> None:
    names = Names(("a.b", "p.", "x.*.y", "w.*.p.", "gen_ai.z"), keeps=("p.kept",))
    assert (name in names) is found
    assert (name in names) is found  # from memory, too


def test_names_that_are_never_the_same_take_bounded_memory() -> None:
    names = Names(("p.",))
    assert all(f"p.{n}" in names and f"q.{n}" not in names for n in range(10_000))
    assert len(names._known) <= 4096


# ----------------------------------------------------------------------------------- completeness

CANARY = "Kanarienvogel"
_MESSAGE = {"role": "user", "content": CANARY}
_OBJECT = {
    **_MESSAGE,
    **dict.fromkeys(("input", "output", "text", "result", "query", "description"), CANARY),
    "messages": [_MESSAGE],
    "parts": [{"text": CANARY}],
    "args": [CANARY],
    "kwargs": {"q": CANARY},
    "arguments": {"a": CANARY},
    "documents": [{"content": CANARY}],
    **{key: [CANARY] for key in ("stop", "stop_sequences", "stopSequences")},
}
_TOOL = {"type": "function", "function": {"name": "f", "description": CANARY, "parameters": {}}}
VALUES: list[Any] = [
    *(CANARY, [CANARY], json.dumps(_OBJECT), json.dumps([_MESSAGE]), json.dumps(_TOOL)),
    *(json.dumps([_OBJECT]), [_OBJECT], [_TOOL]),
]
_ROLES: list[dict[str, Any]] = [
    {},
    *(
        {gen_ai.OPERATION_NAME: name}
        for name in ("chat", "execute_tool", "invoke_agent", "retrieval")
    ),
    *({oi.SPAN_KIND: value} for value in (oi.LLM, oi.TOOL, oi.AGENT, oi.RETRIEVER)),
    *({tl.SPAN_KIND: value} for value in (tl.TOOL, tl.AGENT, tl.WORKFLOW)),
]
_SPANS = 10
"""Different spans of a vocabulary that are tried."""


@pytest.mark.parametrize("name", INSTALLED)
def test_what_a_dialect_reads_as_content_is_known_to_hold_it(name: str) -> None:
    dialect = INSTALLED[name]
    spans = [*_recorded().get(name, ())][:_SPANS] or [_bare(role) for role in _ROLES]
    missed = {
        key
        for key in sorted(_names_in(dialect) - NAMES_ALONE)
        if not (holds_content(key) or holds_object(key))
        for span in spans
        if any(_reaches(dialect, span, key, value) for value in VALUES)
    }
    assert missed == set()


@pytest.mark.parametrize("name", INSTALLED)
def test_what_a_dialect_reads_of_events_is_known_to_hold_content(name: str) -> None:
    for span in _recorded().get(name, ())[:_SPANS]:
        for n, event in enumerate(span.events):
            for key in event.attributes:
                if not (is_content_event(event.name) and key not in EVENT_KEEPS):
                    span_event = SpanEvent(
                        event.name, event.time_ns, {**event.attributes, key: CANARY}
                    )
                    events = [*span.events[:n], span_event, *span.events[n + 1 :]]
                    read = INSTALLED[name].read(
                        Reader(msgspec.structs.replace(span, events=events))
                    )
                    assert holds_content(key) or CANARY not in texts_in(read), (event.name, key)


def _reaches(dialect: Dialect, span: SpanRecord, key: str, value: Any) -> bool:
    attributes = {**span.attributes, key: value}
    operation = dialect.read(Reader(msgspec.structs.replace(span, attributes=attributes)))
    return any(CANARY in text for text in texts_in(operation))


def _bare(attributes: dict[str, Any]) -> SpanRecord:
    return SpanRecord("1" * 32, "2" * 16, name="a", attributes=dict(attributes))


@cache
def _recorded() -> dict[str | None, list[SpanRecord]]:
    """Return spans of each dialect, one of each operation, scope and name."""
    results: dict[str | None, dict[Any, SpanRecord]] = {}
    for path in recordings():
        for span in joined(spans_in(path)):
            name, operation = classify(span)
            kind = (type(operation), span.scope, re.sub(r"\W.*", "", span.name))
            results.setdefault(name, {}).setdefault(kind, span)
    return {name: list(spans.values()) for name, spans in results.items()}


def _names_in(dialect: Dialect) -> set[str]:
    """Return the names of attributes in the source of a dialect, and those its spans have."""
    module = sys.modules[type(dialect).__module__]
    path = Path(str(module.__file__))
    files = [path] if path.parent.name == "dialects" else [*path.parent.glob("*.py")]
    names = {name for file in files for name in _literals(file)}
    names |= {var for of in (oi, tl) for var in vars(of).values() if isinstance(var, str)}
    names |= {key for span in _recorded().get(dialect.name, ())[:_SPANS] for key in span.attributes}
    return {complete for name in names for complete in _completed(name)}


@cache
def _literals(file: Path) -> frozenset[str]:
    strings = (
        node.value
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return frozenset(string for string in strings if re.fullmatch(r"[A-Za-z_][\w.:\-]*", string))


def _completed(name: str) -> Iterator[str]:
    """Yield a name; of a prefix, names that it may begin."""
    if name.endswith("."):
        yield from (name + end for end in ("0", "content", "0.content", "0.description"))
    elif name.isidentifier() or "." in name or ":" in name:
        yield name
