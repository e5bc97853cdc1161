"""ATIF that we write is read back as the same run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.atif import from_atif
from tests.reading.formats.written import call, convert, result, thought, trace
from tests.strategies import objects

TEXT = st.text(min_size=1, max_size=8)


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """Runs as ATIF can say them: each answer of the model thinks once, calls, and is answered."""
    steps: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(0, 3))):
        steps.append(thought(draw(TEXT)))
        ids = [f"call_{turn}_{n}" for n in range(draw(st.integers(1, 3)))]
        steps += [call(each, draw(TEXT), draw(objects)) for each in ids]
        steps += [result(each, draw(TEXT)) for each in ids]
    return trace(*steps, agent_id="a", session_id="s", input=draw(TEXT), output=draw(TEXT))


@given(document=runs())
def test_a_run_comes_back_from_its_trajectory(document: dict[str, Any]) -> None:
    back = from_atif(convert("atif", document).value).to_dict()
    assert [back[name] for name in document] == list(document.values())


@pytest.mark.parametrize(
    "members", [{"error": "boom"}, {"error": {"code": 3}}, {"error": "boom", "output": "half"}]
)
def test_the_error_of_a_tool_comes_back(members: dict[str, Any]) -> None:
    answer = {"type": "tool_result", "tool_result": {"call_id": "c", **members}}
    back = from_atif(convert("atif", trace(call("c", "search", {}), answer)).value)
    assert back.to_dict()["steps"][1]["tool_result"] == {"call_id": "c", **members}
