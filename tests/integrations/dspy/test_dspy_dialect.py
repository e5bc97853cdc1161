"""DSPy by OpenInference: modules and tools are identified by their methods."""

from __future__ import annotations

from tests.dialects.spelled import span, spelled, text


def test_a_tool_of_dspy_has_its_own_name_and_arguments() -> None:
    record = span(
        {"openinference.span.kind": "TOOL", "input.value": '{"kwargs": {"at": 1}}'},
        name="look.__call__",
        scope="openinference.instrumentation.dspy",
    )
    assert spelled(record) == 'openinference: tool look arguments={"at":1}'


def test_the_input_of_a_dspy_module_is_the_argument_of_forward() -> None:
    record = span(
        {
            "openinference.span.kind": "CHAIN",
            "input.value": '{"input_args": {"question": "Where?"}}',
            "input.mime_type": "application/json",
        },
        name="ReAct.forward",
        scope="openinference.instrumentation.dspy",
    )
    assert spelled(record) == text("""
        openinference: workflow ReAct.forward
          > user: Where?
    """)
