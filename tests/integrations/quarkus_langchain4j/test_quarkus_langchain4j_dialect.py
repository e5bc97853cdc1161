"""Quarkus LangChain4j: operations identified by names of spans, and failures without a status."""

from __future__ import annotations

from tests.dialects.spelled import event, span, spelled, text

SCOPE = "io.quarkus.opentelemetry"
THROWN = event(
    "exception",
    **{"exception.type": "java.lang.IllegalStateException", "exception.message": "no station"},
)


def test_an_ai_service_is_a_run_of_its_class() -> None:
    run = span({}, name="langchain4j.aiservices.Assistant.ask", scope=SCOPE)
    assert spelled(run) == "quarkus_langchain4j: agent agent=Assistant"


def test_a_tool_that_throws_has_failed() -> None:
    tool = span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"at": 1}',
        },
        THROWN,
        name="langchain4j.tools.look",
        scope=SCOPE,
    )
    assert spelled(tool) == text("""
        quarkus_langchain4j: tool look call=c1 error=java.lang.IllegalStateException
            message=no station arguments={"at":1}
    """)


def test_a_model_call() -> None:
    call = span(
        {
            "gen_ai.request.model": "gpt-5",
            "gen_ai.prompt": "Be brief.\nWhere?",
            "gen_ai.completion": "Let me look.",
            "gen_ai.response.finish_reasons": "TOOL_EXECUTION",
            "gen_ai.usage.prompt_tokens": 3,
            "gen_ai.usage.completion_tokens": 2,
        },
        name="completion gpt-5",
        scope=SCOPE,
    )
    assert spelled(call) == text("""
        quarkus_langchain4j: chat model=gpt-5 finish=tool_call in=3 out=2
          > user: Be brief.⏎Where?
          < assistant: Let me look.
    """)


def test_other_spans_of_quarkus_are_left_alone() -> None:
    assert spelled(span({"http.route": "/"}, name="GET /", scope=SCOPE)) == "-: unclassified"
