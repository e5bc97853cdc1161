"""Every form of every declared name goes away with content off, and no harmless name does.

Spans are masked as they leave a program; the Collector's patterns are held to the same names.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.content.policy import Policy
from agentool_otel.semconv.foreign import NUMBERS, WORDS, holds_content
from agentool_otel.semconv.table import ATTRIBUTES, METRICS, RENAMES
from agentool_otel.tracing.export.masking.spans import Masking
from tests import content_names

CANARY = "Kanarienvogel"
DECLARED = content_names.declared()
HARMLESS = (Path(__file__).parent.parent / "census" / "harmless.txt").read_text("utf-8").split()
NAMES = list(DECLARED.attributes)
BLOCKED = [re.compile(pattern) for pattern in content_names.patterns()]
IGNORED = [re.compile(pattern) for pattern in content_names.ignored()]

segments = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
indices = st.integers(0, 99).map(str)
tails = st.one_of(
    st.just(""),
    indices.map(".{}".format),
    indices.map("[{}]".format),
    st.builds(".{}.{}".format, indices, segments),
    st.builds(".{}.{}.{}".format, indices, segments, indices),
)
NUMBERS_IN = frozenset(NUMBERS)
cases = st.sampled_from([str, str.upper, str.title])


def _left(name: str) -> bool:
    """Return whether an attribute of a foreign span leaves with content off."""
    span = ReadableSpan("work", attributes={name: CANARY})
    return CANARY in str(dict(Masking(Policy(capture=False))(span).attributes or {}))


def _is_masked_by_the_collector(name: str) -> bool:
    ignored = any(pattern.search(name) for pattern in IGNORED)
    return not ignored and any(pattern.search(name) for pattern in BLOCKED)


def _is_kept(name: str) -> bool:
    return any(pattern.search(name) for pattern in IGNORED)


@given(st.sampled_from(NAMES), segments, tails, cases)
def test_every_form_of_a_declared_name_goes_away(
    declared: str, free: str, tail: str, case: type[str]
) -> None:
    name = declared.replace("*", free) + (free if declared.endswith(".") else "") + tail
    if not _is_kept(name):
        assert not _left(case(name))
        assert _is_masked_by_the_collector(case(name))


@given(st.sampled_from([name for name in NAMES if "." in name[:-1]]), segments, segments)
def test_a_member_of_a_declared_name_goes_away(declared: str, free: str, member: str) -> None:
    name = f"{declared.rstrip('.')}.{member}".replace("*", free)
    if not _is_kept(name):
        assert not _left(name)
        assert _is_masked_by_the_collector(name)


@given(st.lists(segments, max_size=3), st.sampled_from(WORDS), tails, cases)
def test_a_name_that_ends_in_a_word_goes_away(
    before: list[str], word: str, tail: str, case: type[str]
) -> None:
    name = ".".join(["acme", *before, word]) + tail
    if NUMBERS_IN.isdisjoint(before) and before[-1:] not in (["error"], ["exception"]):
        assert not _left(case(name))
        assert _is_masked_by_the_collector(case(name))


@given(st.sampled_from(NUMBERS), segments, st.sampled_from(WORDS))
def test_a_number_that_is_named_after_content_stays(number: str, between: str, word: str) -> None:
    for name in (f"acme.{number}.{word}", f"acme.{number}.{between}.{word}"):
        assert _left(name)
        assert not _is_masked_by_the_collector(name)


@pytest.mark.parametrize("prefix", ["", "agentool."])
def test_no_harmless_name_goes_away(prefix: str) -> None:
    start = "gen_ai." if prefix else ""
    names = [prefix + name.replace("*", "any") for name in HARMLESS if name.startswith(start)]
    assert [name for name in names if not _left(name + "x" * name.endswith("."))] == []


def test_the_collector_passes_harmless_names_but_error_messages() -> None:
    names = [name.replace("*", "any") for name in HARMLESS]
    masked = [name for name in names if _is_masked_by_the_collector(name)]
    assert masked == [name for name in names if name.endswith("error.message")]


def test_names_of_the_conventions_without_content_stay() -> None:
    content = {name for name, attribute in ATTRIBUTES.items() if attribute.content}
    older = {old for old, rename in RENAMES.items() if rename.new in content}
    names = {*ATTRIBUTES, *RENAMES, *METRICS} - content - older
    assert [name for name in sorted(names) if holds_content(name)] == []
