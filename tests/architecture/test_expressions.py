"""Expressions over texts of users, models and traces: none backtracks more in longer texts.

Each is tried at the beginning of texts that are made of its own letters, repeated, and cannot match
in the end; its steps are counted (`tests.regex_work`).
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import agentool_otel
from agentool_otel.dialects.gen_ai import dialect
from agentool_otel.ground import lazy_re
from agentool_otel.ground.lazy_re import LazyPattern
from agentool_otel.integrations.gemini_cli import dialect as gemini_cli
from agentool_otel.integrations.mastra.dialect import spans as mastra_dialect
from agentool_otel.reading.sources.files import node_inspect
from tests.regex_work import CountedPattern, Steps, letters, shortest

SIZE = 60
"""Characters of a repetition, and then twice as many: the engine that counts goes by recursion."""


def expressions() -> dict[str, re.Pattern[str]]:
    """All that the package's modules hold, by their place."""
    patterns: dict[str, re.Pattern[str]] = {}
    for info in pkgutil.walk_packages(agentool_otel.__path__, "agentool_otel."):
        try:
            module = import_module(info.name)
        except ImportError:  # an extra that is not installed
            continue
        for name, value in vars(module).items():
            for number, each in enumerate(inside(value)):
                patterns.setdefault(f"{info.name}.{name}[{number}]", each)
    return {name: each for each, name in {each: name for name, each in patterns.items()}.items()}


def inside(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, LazyPattern):
        value = value.compile()
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth and isinstance(value, (dict, list, tuple)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from inside(inner, depth - 1)


ALL = expressions()


def assert_linear(pattern: re.Pattern[str], how: str, before: str, unit: str, end: str) -> None:
    taken: list[int] = []
    for times in (1, 2):
        steps = Steps()
        text = f"{before}{unit * (times * (SIZE // len(unit) + 1))}{end}"
        getattr(CountedPattern(pattern, steps), how)(text)
        taken.append(steps.taken)
    assert taken[1] < 2.6 * taken[0] + 200, (pattern.pattern, before, unit, taken)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_no_expression_goes_back_again_and_again(name: str) -> None:
    pattern = ALL[name]
    own = letters(pattern)[:12]
    first = shortest(pattern)
    units = {*own, *" a1'\n", first or "a", *(a + b for a in own[:4] for b in own[:4])}
    for before in {
        first[:end] for end in (0, 1, 2, 3, len(first) // 2, len(first) - 1, len(first))
    }:
        for unit in sorted(units):
            assert_linear(pattern, "match", before, unit, "\0")


@pytest.mark.parametrize(
    ("pattern", "how", "before", "unit", "end"),
    [
        (gemini_cli._CUT, "search", "", " ", "x"),
        (dialect._HANDOFF, "fullmatch", "handoff from a", " to ", "\n"),
        (mastra_dialect._NAME, "match", "", "'a", "x"),
    ],
)
def test_nor_do_these_as_they_are_used(
    pattern: re.Pattern[str], how: str, before: str, unit: str, end: str
) -> None:
    assert_linear(pattern, how, before, unit, end)


@pytest.mark.parametrize("unit", ["<Buffer ", "Symbol( ", "[Object] "])
def test_items_left_out_of_a_printed_list_are_not_searched_for(unit: str) -> None:
    taken: list[int] = []
    for times in (20, 40):
        steps = Steps()
        pattern = CountedPattern(node_inspect._LEFT_OUT, steps)
        for number in range(times):
            pattern.match(unit * times, number * len(unit))
        taken.append(steps.taken)
    assert taken[1] < 2.6 * taken[0]


def test_an_expression_is_compiled_when_it_is_first_used() -> None:
    mistaken = lazy_re.compile("(")  # no error yet
    with pytest.raises(re.error):
        mistaken.search("")


@pytest.mark.parametrize("name", ["search", "match", "fullmatch", "finditer", "sub", "groupindex"])
def test_a_lazy_expression_is_the_same_as_a_compiled_one(name: str) -> None:
    """And holds the bound method from its first use on."""
    lazy, compiled = lazy_re.compile(r"(?P<a>b+)", re.IGNORECASE), re.compile(r"(?P<a>b+)", re.I)
    assert getattr(lazy, name) == getattr(compiled, name)
    assert name in vars(lazy)
