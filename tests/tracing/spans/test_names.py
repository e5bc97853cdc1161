"""Names, ids and descriptions are no content, and leave where none does: never with a credential.

Frameworks choose them, and models that request tools; a span's name is made of some.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.semconv.table import CONTENT
from agentool_otel.tracing.spans.step_spans import start_step

SECRET = "sk-proj-" + "Ab3dE7" * 8
GIVEN: dict[type[Operation], dict[str, Any]] = {
    AgentInvocation: {},
    Embeddings: {},
    Inference: {},
    McpRequest: {"side": "client", "method": "tools/call"},
    MemoryOperation: {"operation": "search_memory"},
    Retrieval: {},
    ToolExecution: {"name": "search"},
    WorkflowInvocation: {},
}


def _texts(cls: type[Operation]) -> list[str]:
    """Return the fields of an operation that are a text, or several."""
    return [
        field.name
        for field in msgspec.structs.fields(cls)
        if "str" in str(field.type)
        and field.name != "output"  # messages, which are content
        and field.name not in ("operation", "side", "method")
    ]


FIELDS = [(cls, name) for cls in GIVEN for name in _texts(cls)]


def _held(span: Any) -> str:
    shown = {key: attribute for key, attribute in span.attributes.items() if key not in CONTENT}
    return f"{span.name} {shown}"


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=lambda item: getattr(item, "__name__", item))
@pytest.mark.parametrize("when", ["known at the start", "known at the end"])
def test_no_field_brings_a_credential_out(
    spans: Any, cls: type[Operation], name: str, when: str
) -> None:
    [field] = (field for field in msgspec.structs.fields(cls) if field.name == name)
    value: Any = f"of {SECRET}"
    if "dict" in str(field.type):
        value = {"app.note": value}
    elif "list" in str(field.type):
        value = [value]
    values = {**GIVEN[cls], name: value}
    step = start_step(
        cls(**(values if "start" in when else GIVEN[cls])), description="a", scope="b"
    )
    if "end" in when:
        step.set(**{name: value})
    step.end()
    assert SECRET not in _held(spans.only())
    spans.forget()


def test_the_name_of_a_span_has_an_end(spans: Any) -> None:
    start_step(ToolExecution(name="x" * 1_000_000), description="a", scope="b").end()
    assert len(spans.only().name) < 1_000
    spans.forget()


def test_names_without_credentials_stay_as_they_are(spans: Any) -> None:
    step = start_step(
        ToolExecution(name="get_password", call_id="call_1"), description="a", scope="b"
    )
    step.end()
    assert spans.only().name == "execute_tool get_password"
    assert spans.attributes()["gen_ai.tool.call.id"] == "call_1"


def test_facts_that_are_json_stay_json(spans: Any) -> None:
    facts = json.dumps({"note": f"password={SECRET}", "state": "done"})
    start_step(Unclassified(extra={"app.facts": facts}), description="a", scope="b").end()
    attribute = spans.attributes()["app.facts"]
    assert SECRET not in attribute
    assert json.loads(attribute)["state"] == "done"
    spans.forget()
