"""Laminar, written from a reader's source: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "lmnr.span.type": "LLM",
            "lmnr.span.input": '[{"role": "user", "content": "Where?"}]',
            "lmnr.span.output": '[{"role": "assistant", "content": "Here."}]',
            "gen_ai.request.model": "gpt-5",
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.cost": 0.5,
            "lmnr.association.properties.session_id": "s1",
        },
        parent_id="3" * 16,
    ),
    span(
        {
            "lmnr.span.type": "TOOL",
            "lmnr.span.input": '{"at": 1}',
            "lmnr.span.output": '"found"',
        },
        name="look",
        parent_id="3" * 16,
    ),
    span(
        {"lmnr.span.type": "DEFAULT", "lmnr.span.input": '"in"', "lmnr.span.output": '"out"'},
        name="main",
    ),
    span({"lmnr.span.type": "EVALUATOR", "lmnr.span.input": '"in"'}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        laminar: chat model=gpt-5 cost=0.5 session=s1 in=5
          > user: Where?
          < assistant: Here.
        laminar: tool look arguments={"at":1} result="found"
        laminar: workflow main
          > user: in
          < assistant: out
        laminar: unclassified
    """)
    assert coverage(SPANS) == 0.93
