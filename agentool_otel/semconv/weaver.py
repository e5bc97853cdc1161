"""Our own names as a registry that OpenTelemetry Weaver reads, so that a live check knows them.

Spec: `schemas/semconv-syntax.md` of Weaver 0.25. Text in quotes is JSON, which YAML includes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from agentool_otel.semconv import agent_tool, agentool, core
from agentool_otel.semconv.table import (
    ATTRIBUTES,
    EVENTS,
    GENERATIONS,
    OURS,
    PREFIXES,
    Attribute,
)

__all__ = ["registry"]

_TYPES = {"s": "string", "s[]": "string[]", "i": "int", "d": "double", "b": "boolean"}
_OF_STEPS = "agentool.step."
_HEAD = """\
# Names that agentool_otel writes beside the conventions. Put this file into the folder of the
# registry that a live check reads.
groups:
"""
_GROUP = """\
  - id: registry.{id}
    type: attribute_group
    display_name: {id}
    brief: {brief}
    attributes:"""
_OF_AGENTOOL = "Data of the agentool spec's documents that the conventions have no name for."
_OF_AGENT_TOOL = "Data of Agent Tool 0.2.0 about a call that the conventions have no name for."
_EVENT = "event name: "
_REFERENCED = (core.USER_ID,)
"""Attributes that spans have and the GenAI conventions do not reference: the registry of those
imports from the general one, which declares them, only what somebody references."""
_GENERAL = """\
  - id: attributes.agentool.general
    type: attribute_group
    brief: Attributes of the general conventions that the GenAI conventions do not reference.
    attributes:"""


def registry() -> str:
    """Return the attributes and events of our own as one YAML file of a Weaver registry.

    Among them are the names that stand for what an older generation has no word for.
    """
    groups = (
        _group("agentool", _OF_AGENTOOL, agentool.MEANING),
        _totals(),
        _absent(),
        _group("agenttool", _OF_AGENT_TOOL, agent_tool.MEANING),
        _general(),
        _events({**agentool.MEANING, **agent_tool.MEANING}),
    )
    return _HEAD + "".join(f"{line}\n" for group in groups for line in group)


def _group(group_id: str, brief: str, meanings: Mapping[str, str]) -> Iterator[str]:
    yield _GROUP.format(id=group_id, brief=brief)
    for name, meaning in meanings.items():
        if name in ATTRIBUTES:
            yield from _attribute(name, ATTRIBUTES[name], meaning)


def _totals() -> Iterator[str]:
    for name, description in PREFIXES.items():
        if name.startswith(OURS):
            meaning = "totals that a trace document has in addition to ours"
            yield from _template(name.rstrip("."), description, meaning)


def _absent() -> Iterator[str]:
    for name in sorted(
        frozenset().union(*(generation.absent for generation in GENERATIONS.values()))
    ):
        meaning = f"{name}, in a generation of the conventions that has no such attribute"
        if name in PREFIXES:
            yield from _template(f"{OURS}{name}".rstrip("."), PREFIXES[name], meaning)
        else:
            yield from _attribute(f"{OURS}{name}", ATTRIBUTES[name], meaning)


def _general() -> Iterator[str]:
    yield _GENERAL
    yield from (f"      - ref: {name}" for name in _REFERENCED)


def _events(meanings: Mapping[str, str]) -> Iterator[str]:
    for name, meaning in meanings.items():
        if name in EVENTS:
            yield from _event(name, meaning.removeprefix(_EVENT))


def _attribute(name: str, attribute: Attribute, meaning: str) -> Iterator[str]:
    yield f"      - id: {name}"
    if attribute.type == "e" and attribute.only:
        yield "        type:"
        yield "          members:"
        for value in attribute.only:
            yield f"            - {{id: {value}, value: {value}, stability: development}}"
    else:
        yield f"        type: {_TYPES.get(attribute.type, 'any')}"
    yield "        stability: development"
    yield f"        brief: {json.dumps(meaning)}"
    if attribute.type in ("s", "s[]"):
        yield f"        examples: {json.dumps(['text'] if attribute.type == 's' else [['text']])}"


def _template(name: str, attribute: Attribute, meaning: str) -> Iterator[str]:
    yield f"      - id: {name}"
    yield f"        type: template[{_TYPES.get(attribute.type, 'any')}]"
    yield "        stability: development"
    yield f"        brief: {json.dumps(meaning)}"
    yield '        examples: ["text"]'


def _event(name: str, meaning: str) -> Iterator[str]:
    yield f"  - id: event.{name}"
    yield "    type: event"
    yield f"    name: {name}"
    yield "    stability: development"
    yield f"    brief: {json.dumps(meaning)}"
    if name == agentool.STEP_EVENT:
        yield "    attributes:"
        yield from (
            f"      - ref: {each}" for each in agentool.MEANING if each.startswith(_OF_STEPS)
        )
