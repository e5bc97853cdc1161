"""The collector's normaliser, written from its source: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SCOPE = "opentelemetry.instrumentation.langchain"
SPANS = [
    span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.input.messages": '{"inputs": {"at": 1}, "input_str": "x"}',
            "gen_ai.output.messages": '{"outputs": "found"}',
        },
        scope=SCOPE,
    ),
    span(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": '{"inputs": {}}'},
        scope=SCOPE,
    ),
]


def test_a_functions_input_among_the_messages_is_its_arguments() -> None:
    assert spelled(*SPANS) == text("""
        normaliser: tool look arguments={"at":1} result="found"
        normaliser: unclassified
    """)
    assert coverage(SPANS) == 0.83
