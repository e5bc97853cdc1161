"""Cost of a user's object for the caller of `record`, counted and not timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentool_otel.content.encoding import encoder
from agentool_otel.integrations.agent_tool.emitter import AgentToolEmitter


class Opaque:
    """No JSON: a member of this type makes the encoder walk."""


def wide(size: int) -> Any:
    return [Opaque() for _ in range(size)]


def alike(size: int) -> Any:
    return {Opaque(): 1 for _ in range(size)}


def named_by_containers(size: int) -> Any:
    return {(number, *range(60)): 1 for number in range(size)}


def shared(size: int) -> Any:
    value: Any = [Opaque()]
    for _ in range(size.bit_length()):
        value = [value, value]
    return value


@pytest.mark.parametrize("make", [wide, alike, named_by_containers, shared])
def test_the_work_does_not_grow_with_the_object(
    monkeypatch: pytest.MonkeyPatch, spans: Any, make: Callable[[int], Any]
) -> None:
    counted: list[int] = []
    opened = encoder._Walk._scalar_or_members

    def counting(walk: Any, value: Any) -> Any:
        counted[-1] += 1
        return opened(walk, value)

    monkeypatch.setattr(encoder._Walk, "_scalar_or_members", counting)
    for size in (20_000, 80_000):
        counted.append(0)
        emitter = AgentToolEmitter()
        emitter.record({"invocation_id": "i", "tool_id": "t", "input": make(size)})
        emitter.flush()
    assert 0 < counted[0] <= 25_000
    assert counted[1] <= counted[0] + 1_000
    spans.forget()


def test_names_of_keys_that_look_alike_stay_short() -> None:
    text = encoder.encode({Opaque(): 1 for _ in range(2_000)})
    assert len(text) < 2_000 * 200
