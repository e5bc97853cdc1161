"""Our own names as a registry that OpenTelemetry Weaver reads, so that a live check knows them.

Spec: `schemas/semconv-syntax.md` of Weaver 0.25. Text in quotes is JSON, which YAML includes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentool_otel.semconv import agentool
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
  - id: registry.agentool
    type: attribute_group
    display_name: agentool
    brief: What the documents of the agentool spec say and the conventions have no word for.
    attributes:
"""


def registry() -> str:
    """Return the attributes and events of `agentool.*` as one YAML file of a Weaver registry.

    Among them are the names that stand for what an older generation has no word for.
    """
    ours = {name: ATTRIBUTES[name] for name in agentool.MEANING if name in ATTRIBUTES}
    lines: list[str] = []
    for name, what in ours.items():
        lines += _attribute(name, what, agentool.MEANING[name])
    for name in sorted(frozenset().union(*(it.absent for it in GENERATIONS.values()))):
        meaning = f"{name}, in a generation of the conventions that has no such attribute"
        if name in PREFIXES:
            lines += _template(f"{OURS}{name}".rstrip("."), PREFIXES[name], meaning)
        else:
            lines += _attribute(f"{OURS}{name}", ATTRIBUTES[name], meaning)
    for event in agentool.MEANING:
        if event in EVENTS:
            lines += _event(event, [name for name in ours if name.startswith(_OF_STEPS)])
    return _HEAD + "\n".join(lines) + "\n"


def _attribute(name: str, what: Attribute, meaning: str) -> Iterator[str]:
    yield f"      - id: {name}"
    if what.type == "e" and what.only:
        yield "        type:"
        yield "          members:"
        for value in what.only:
            yield f"            - {{id: {value}, value: {value}, stability: development}}"
    else:
        yield f"        type: {_TYPES.get(what.type, 'any')}"
    yield "        stability: development"
    yield f"        brief: {json.dumps(meaning)}"
    if what.type in ("s", "s[]"):
        yield f"        examples: {json.dumps(['text'] if what.type == 's' else [['text']])}"


def _template(name: str, what: Attribute, meaning: str) -> Iterator[str]:
    yield f"      - id: {name}"
    yield f"        type: template[{_TYPES.get(what.type, 'any')}]"
    yield "        stability: development"
    yield f"        brief: {json.dumps(meaning)}"
    yield '        examples: ["text"]'


def _event(name: str, attributes: list[str]) -> Iterator[str]:
    yield f"  - id: event.{name}"
    yield "    type: event"
    yield f"    name: {name}"
    yield "    stability: development"
    yield f"    brief: {json.dumps(agentool.MEANING[name].removeprefix('event name: '))}"
    if name == agentool.STEP_EVENT:
        yield "    attributes:"
        yield from (f"      - ref: {each}" for each in attributes)
