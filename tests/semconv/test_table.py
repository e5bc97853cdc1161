"""The table against itself, against the constants, and against OpenTelemetry's published names."""

from __future__ import annotations

import importlib
import itertools
import subprocess
import sys
import warnings
from types import ModuleType
from typing import Any

import pytest

from agentool_otel.semconv import agent_tool, agentool, core, gen_ai, mcp, openai
from agentool_otel.semconv.table import (
    AT_START,
    ATTRIBUTES,
    CONTENT,
    EVENTS,
    GENERATIONS,
    METRICS,
    PREFIXES,
    RENAMES,
    RESERVED,
    SHAPES,
    SPAN_TYPES,
    STRUCTURAL,
    SpanType,
)

jsonschema: Any = pytest.importorskip("jsonschema")  # ships no types

VALUES = ("OP_", "METHOD_TOOLS_", "METHOD_PROMPTS_", "METHOD_RESOURCES_", "ERROR_TYPE_")
"""Constants with these prefixes are values of an attribute, not names of one."""


def constants(module: ModuleType) -> dict[str, str]:
    return {k: v for k, v in vars(module).items() if k.isupper() and isinstance(v, str)}


def attribute_constants(module: ModuleType) -> set[str]:
    not_names = (*VALUES, "METRIC_", "EVENT_", "BASELINE", "EXCEPTION_EVENT", "STEP_EVENT")
    names = {v for k, v in constants(module).items() if not k.startswith(not_names)}
    return names - PREFIXES.keys() - {agentool.STEPS_SPAN}


@pytest.mark.parametrize("module", [agent_tool, agentool, core, gen_ai, mcp, openai])
def test_every_attribute_constant_is_in_the_table(module: ModuleType) -> None:
    assert attribute_constants(module) - ATTRIBUTES.keys() == set()


def test_every_attribute_in_the_table_is_a_constant() -> None:
    modules = (agent_tool, agentool, core, gen_ai, mcp, openai)
    assert ATTRIBUTES.keys() - set().union(*map(attribute_constants, modules)) == set()


@pytest.mark.parametrize(
    ("module", "prefix"),
    [(agent_tool, "agenttool."), (gen_ai, "gen_ai."), (agentool, "agentool.")],
)
def test_a_constant_is_called_what_its_attribute_is_called(module: ModuleType, prefix: str) -> None:
    irregular = {
        *("INTERRUPTED", "COST_USD", "MEANING", "STEP_EVENT", "STEPS_SPAN"),
        *("PROMPT_VARIABLE_PREFIX", "METRICS_PREFIX"),
    }
    for name, value in constants(module).items():
        if value.startswith(prefix) and not name.startswith(("METRIC_", "EVENT_")):
            spelled = value.removeprefix(prefix).replace(".", "_").upper()
            assert name == spelled or name in irregular


def test_each_of_our_own_names_has_a_meaning() -> None:
    ours = {v for v in constants(agentool).values() if v != agentool.METRICS_PREFIX}
    assert agentool.MEANING.keys() == ours
    assert all(agentool.MEANING.values())


@pytest.mark.parametrize(
    ("module", "prefix"), [(agent_tool, "agenttool."), (agentool, "agentool.")]
)
def test_our_meanings_mark_exactly_the_content(module: Any, prefix: str) -> None:
    marked = {name for name, meaning in module.MEANING.items() if "(content)" in meaning}
    assert marked == {name for name in CONTENT if name.startswith(prefix)}


@pytest.mark.parametrize("span_type", SPAN_TYPES, ids=lambda item: item.id)
def test_a_span_type_names_only_attributes_of_the_table(span_type: SpanType) -> None:
    sets = (
        *(span_type.required, span_type.conditional, span_type.recommended),
        *(span_type.opt_in, span_type.must_not, span_type.name_keys),
    )
    assert set().union(*sets) - ATTRIBUTES.keys() == set()


@pytest.mark.parametrize("span_type", SPAN_TYPES, ids=lambda item: item.id)
def test_a_span_type_has_each_attribute_at_one_level(span_type: SpanType) -> None:
    levels = [
        *(*span_type.required, *span_type.conditional, *span_type.recommended),
        *(*span_type.opt_in, *span_type.must_not),
    ]
    assert len(levels) == len(set(levels))


@pytest.mark.parametrize("span_type", SPAN_TYPES, ids=lambda item: item.id)
def test_content_is_opt_in_or_forbidden_everywhere(span_type: SpanType) -> None:
    wanted = span_type.required | span_type.conditional | span_type.recommended
    assert CONTENT & wanted <= {gen_ai.REQUEST_STOP_SEQUENCES}, "content with us alone"
    assert span_type.opt_in <= CONTENT


def test_every_operation_has_a_span_type() -> None:
    span_types = {operation for span_type in SPAN_TYPES for operation in span_type.operations}
    assert span_types == set(ATTRIBUTES[gen_ai.OPERATION_NAME].members)


def test_only_the_kind_decides_between_two_types_of_one_operation() -> None:
    pairs = [
        (op, kind)
        for span_type in SPAN_TYPES
        for op in span_type.operations or ("mcp",)
        for kind in span_type.kinds
    ]
    assert len(pairs) == len(set(pairs))


def test_a_rename_leads_to_a_name_of_the_table() -> None:
    assert {rename.new for rename in RENAMES.values()} <= ATTRIBUTES.keys()
    assert set(STRUCTURAL.values()) <= ATTRIBUTES.keys()


def test_an_old_name_is_not_a_current_one() -> None:
    assert ATTRIBUTES.keys().isdisjoint(RENAMES.keys() | STRUCTURAL.keys())


def test_renamed_values_of_enums_are_current_members() -> None:
    for rename in RENAMES.values():
        assert set(rename.values.values()) <= set(ATTRIBUTES[rename.new].members)


OLDER = {name: generation for name, generation in GENERATIONS.items() if name != gen_ai.BASELINE}


@pytest.mark.parametrize("name", OLDER)
def test_older_generations_are_read_back_by_their_renames(name: str) -> None:
    contextual = {gen_ai.RETRIEVAL_TOP_K}  # its old name means something else on other spans
    generation = OLDER[name]
    for new, old in generation.names.items():
        if new not in contextual:
            assert RENAMES[old].new == new
    for new, values in generation.values.items():
        for new_value, old_value in values.items():
            assert RENAMES[generation.names[new]].values[old_value] == new_value


@pytest.mark.parametrize("name", OLDER)
def test_a_name_is_either_older_or_absent_in_a_generation(name: str) -> None:
    generation = OLDER[name]
    assert generation.names.keys() <= ATTRIBUTES.keys()
    assert generation.absent <= ATTRIBUTES.keys() | PREFIXES.keys()
    assert generation.names.keys().isdisjoint(generation.absent)


def test_the_baseline_comes_first_and_lacks_nothing() -> None:
    assert next(iter(GENERATIONS)) == gen_ai.BASELINE
    baseline = GENERATIONS[gen_ai.BASELINE]
    assert [*baseline.names, *baseline.values, *baseline.absent] == []
    assert all(old == new for old, new in baseline.metrics.items())


def published(module: str) -> dict[str, str]:
    """The constants of what core still publishes: 1.41, marked as moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return constants(importlib.import_module(f"opentelemetry.semconv._incubating.{module}"))


def test_the_metrics_of_1_41_are_those_that_were_published() -> None:
    theirs = {*published("metrics.gen_ai_metrics").values()}
    theirs |= {*published("metrics.mcp_metrics").values()}
    assert {*GENERATIONS["1.41"].metrics.values()} == {item for item in theirs if "." in item}


@pytest.mark.parametrize("prefix", ["gen_ai", "mcp", "openai"])
def test_1_41_has_the_attributes_that_were_published_and_no_others(prefix: str) -> None:
    generation = GENERATIONS["1.41"]
    theirs = {*published(f"attributes.{prefix}_attributes").values()}
    ours = {name for name, attribute in ATTRIBUTES.items() if attribute.mark in ("A", "B")}
    written = {generation.names.get(name, name) for name in ours - generation.absent}
    assert {name for name in written if name.startswith(f"{prefix}.")} <= theirs


def test_no_generation_has_an_attribute_that_later_ones_lack() -> None:
    names = [generation.absent for generation in GENERATIONS.values()]
    renamed = {new for item in OLDER.values() for new in item.names}
    for later, earlier in itertools.pairwise(names):
        assert later - renamed <= earlier


def test_every_metric_constant_is_described() -> None:
    named = {v for m in (gen_ai, mcp) for k, v in constants(m).items() if k.startswith("METRIC_")}
    assert METRICS.keys() == named
    assert all(metric.description.endswith(".") for metric in METRICS.values())
    for generation in GENERATIONS.values():
        assert generation.metrics.keys() <= METRICS.keys()


def test_metrics_carry_attributes_of_the_table_and_no_content() -> None:
    for metric in METRICS.values():
        assert metric.attributes.keys() <= ATTRIBUTES.keys() - CONTENT


def test_buckets_rise_and_only_histograms_have_them() -> None:
    for metric in METRICS.values():
        assert list(metric.buckets) == sorted(set(metric.buckets))
        assert bool(metric.buckets) == (metric.instrument == "histogram")


def test_complex_attributes_have_a_json_schema() -> None:
    complex_ones = {
        n
        for n, attribute in ATTRIBUTES.items()
        if attribute.type == "any" and n.startswith("gen_ai")
    }
    assert SHAPES.keys() == complex_ones
    for shape in SHAPES.values():
        jsonschema.Draft202012Validator.check_schema(shape)


def test_events_and_start_attributes_are_names_of_ours() -> None:
    assert all(name.startswith(RESERVED) for name in EVENTS)
    assert (AT_START | CONTENT) - ATTRIBUTES.keys() == set()
    assert CONTENT.isdisjoint(AT_START)


@pytest.mark.parametrize("prefix", ["gen_ai", "mcp", "openai"])
def test_every_name_opentelemetry_published_is_current_or_renamed(prefix: str) -> None:
    """Core's names are from 1.41 and marked as moved; all of them must be known to us."""
    result = published(f"attributes.{prefix}_attributes").values()
    theirs = {value for value in result if value.startswith(f"{prefix}.")}
    assert theirs
    assert theirs - ATTRIBUTES.keys() - RENAMES.keys() - STRUCTURAL.keys() == set()


def test_importing_the_names_loads_nothing_else() -> None:
    code = (
        "import sys, agentool_otel; before = set(sys.modules)\n"
        "import agentool_otel.semconv.gen_ai; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded <= {"agentool_otel.semconv", "agentool_otel.semconv.gen_ai"}
