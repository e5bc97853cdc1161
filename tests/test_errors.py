"""A message of an error of ours is one clean line, whatever it quotes."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.errors import AgentoolError, CasesError, DecodeError, SourceError
from agentool_otel.ground.untrusted_text import flat

HOSTILE = "\x1b]0;x\x07trace\u202e\r\nERROR fake\u2028\u200b"


def _errors(base: type[AgentoolError] = AgentoolError) -> Iterator[type[AgentoolError]]:
    yield base
    for error in base.__subclasses__():
        yield from _errors(error)


for _module in walk_packages(agentool_otel.__path__, "agentool_otel."):
    if ".evaluation." in _module.name or ".reading." in _module.name:
        import_module(_module.name)
TREE = [error for error in _errors() if error.__module__.startswith("agentool_otel.")]


@pytest.mark.parametrize("error", [it for it in TREE if it not in (DecodeError, CasesError)])
def test_an_error_of_ours_has_a_message_of_one_clean_line(error: type[AgentoolError]) -> None:
    instance = error.__new__(error, HOSTILE)
    AgentoolError.__init__(instance, HOSTILE)
    assert str(instance) == flat(HOSTILE)
    assert str(instance).isprintable()


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_any_text_in_a_decoding_error_stays_on_its_line(path: str, where: str, hint: str) -> None:
    error = DecodeError("a list", HOSTILE, path, where=where, hint=hint)
    (shown,) = traceback.format_exception_only(error)
    assert shown.count("\n") == 1
    assert not {"\x1b", "\u202e", "\r", "\u2028"} & set(shown)
    assert str(error.within(where)) == flat(str(error.within(where)))


def test_problems_of_cases_have_a_clean_line_each() -> None:
    assert str(CasesError([HOSTILE])) == flat(HOSTILE)
    _, first, second = str(CasesError([HOSTILE, "a: wrong"])).splitlines()
    assert (first, second) == (f"  {flat(HOSTILE)}", "  a: wrong")


def test_an_error_that_quotes_another_quotes_it_cleanly() -> None:
    assert str(SourceError(f"no spans: {AgentoolError(HOSTILE)}")) == f"no spans: {flat(HOSTILE)}"


def test_a_plain_message_is_the_same() -> None:
    text = "expected 'a' – got “ä”; hint: pip install 'x[y]'"
    assert str(AgentoolError(text)) == text
