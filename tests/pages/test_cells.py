"""The cells themselves: an empty page shows none, a full one all, and floors name missing ones.

What real servers show is judged by `python -m tests.pages`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.pages._table import failures
from tests.pages.cells import CELLS, missing, seen
from tests.pages.sending import PROGRAMS
from tests.pages.shown import Run, Shown, Span

ANSWER = "ES 475 runs every night."


def chat(**more: Any) -> Span:
    answered = Span(
        name="chat gpt-5",
        kind="model",
        model="gpt-5",
        asked=("You write one sentence.",),
        answered=(ANSWER,),
        tokens=142,
        cached_tokens=64,
        reasoning_tokens=16,
        cost_usd=0.1,
        first_token_s=0.1,
    )
    return replace(answered, **more)


def agent(name: str) -> Span:
    return Span(
        name=f"invoke_agent {name}", kind="agent", asked=("?",), answered=(ANSWER,), output=ANSWER
    )


def tool(name: str, value: str = "", gave: str = "", error: str = "") -> Span:
    return Span(name=f"execute_tool {name}", kind="tool", input=value, output=gave, error=error)


def run(program: str, request: str, *spans: Span) -> tuple[Run, ...]:
    return (Run(listed_input=request, session=f"s-{program}", user="ada", spans=spans),)


FULL = Shown(
    {
        "decorated": run(
            "decorated",
            "What is new in tracing?",
            agent("researcher"),
            Span(
                name="search_memory", kind="retriever", input="what ada likes",
                output="ada likes short answers",
            ),
            tool("search", "tracing", "spans for agents"),
            tool("forecast", "Berlin", error="no weather of Berlin within 20 ms"),
            Span(name="upsert_memory", kind="other", input="ada asked for news of tracing"),
            tool("transfer_to_writer", "Write one sentence about spans for agents."),
            agent("writer"),
            chat(),
        ),
        "graph": run(
            "graph",
            "Book me a night train.",
            agent("traveller"),
            chat(),
            Span(
                name="retrieval Handbook", kind="retriever", input="What does a trip need?",
                documents=("A trip needs a ticket.", "Night trains run all year."),
            ),
            tool("look_up", "?", "A trip needs a ticket."),
            tool("book", "ES 475", error="train ES 475 is sold out"),
            tool("reserve", "2", error="there are no 2 seats left"),
        ),
        "client": run("client", "", chat(), chat(error="429 - rate limit reached", tokens=None)),
    }
)  # fmt: skip


def without(program: str, at: int, **less: Any) -> Shown:
    """Everything, but one span of a program shows less."""
    (complete,) = FULL.programs[program]
    spans = [replace(span, **less) if n == at else span for n, span in enumerate(complete.spans)]
    return Shown({**FULL.programs, program: (replace(complete, spans=tuple(spans)),)})


def test_each_of_the_23_cells_has_a_description() -> None:
    assert len(CELLS) == 23
    assert all(cell.__doc__ for cell in CELLS.values())


def test_a_page_with_all_content_shows_every_cell() -> None:
    assert missing(seen(FULL)) == []


@pytest.mark.parametrize(
    "page",
    [
        Shown(),
        Shown({program: (Run(spans=()),) for program in PROGRAMS}),
        Shown(dict.fromkeys(PROGRAMS, ())),
    ],
    ids=["no program", "empty runs", "no run"],
)
def test_a_page_that_shows_nothing_shows_no_cell(page: Shown) -> None:
    assert missing(seen(page)) == list(CELLS)


@pytest.mark.parametrize(
    ("program", "at", "less", "lacking"),
    [
        ("decorated", 7, {"answered": ()}, "messages"),
        ("decorated", 1, {"kind": ""}, "memory"),
        ("decorated", 4, {"input": ""}, "memory"),
        ("decorated", 5, {"input": ""}, "handoff message"),
        ("decorated", 7, {"cached_tokens": None}, "cached tokens"),
        ("graph", 2, {"documents": ("A trip needs a ticket.",)}, "documents"),
        ("graph", 5, {"error": ""}, "error LangGraph handles"),
        ("client", 0, {"cost_usd": None}, "cost"),
    ],
)
def test_one_span_that_shows_less_costs_its_cell(
    program: str, at: int, less: dict[str, Any], lacking: str
) -> None:
    assert missing(seen(without(program, at, **less))) == [lacking]


def test_a_floor_that_is_not_reached_names_the_missing_cells() -> None:
    most = dict.fromkeys(CELLS, True) | {"time to first token": False}
    fewer = most | {"documents": False}
    text = failures({("Phoenix", "beside"): most, ("MLflow", "beside"): fewer})
    assert text == []
    (line,) = failures({("Phoenix", "beside"): fewer})
    assert "21 of 23" in line
    assert line.endswith("missing: time to first token, documents")
