"""`session`, and the labels of a whole run by `run` and `@agent`."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

import agentool_otel
from agentool_otel.loading import rebuild
from agentool_otel.tracing.capture import agent, run, session, tool
from tests.records import records

CONVERSATION, USER = "gen_ai.conversation.id", "user.id"


@tool
def add(a: int, b: int) -> int:
    return a + b


def said(span: Any, *keys: str) -> tuple[Any, ...]:
    return tuple((span.attributes or {}).get(key) for key in keys)


def metadata(spans: Any) -> dict[str, Any]:
    [result] = rebuild(records(spans.finished()))
    texts: dict[str, Any] = result.document.get("metadata", {})
    return texts


def test_a_session_is_a_public_name() -> None:
    assert agentool_otel.session is session


def test_a_session_applies_to_spans_outside_any_run(spans: Any) -> None:
    with session("s1", user_id="u1"):
        add(1, 2)
    assert said(spans.only(), CONVERSATION, USER) == ("s1", "u1")


def test_a_session_can_name_the_user_alone(spans: Any) -> None:
    with session(user_id="u1"):
        add(1, 2)
    assert said(spans.only(), CONVERSATION, USER) == (None, "u1")


def test_sessions_of_tasks_side_by_side_stay_apart(spans: Any) -> None:
    async def request(user: str) -> None:
        async with session(f"of {user}", user_id=user):
            await asyncio.sleep(0)
            add(1, 2)

    async def requests() -> None:
        await asyncio.gather(*(request(user) for user in ("u1", "u2")))

    asyncio.run(requests())
    saids = {said(span, CONVERSATION, USER) for span in spans.finished()}
    assert saids == {("of u1", "u1"), ("of u2", "u2")}


def test_a_session_ends_with_its_block_even_by_an_exception(spans: Any) -> None:
    with pytest.raises(ValueError), session("s1"):
        raise ValueError
    add(1, 2)
    assert said(spans.only(), CONVERSATION) == (None,)


def test_one_session_can_be_entered_again_inside_itself(spans: Any) -> None:
    again = session("s1")
    with again, again:
        pass
    add(1, 2)
    assert said(spans.only(), CONVERSATION) == (None,)


def test_an_id_that_is_not_a_string_is_written_as_one(spans: Any) -> None:
    uuid: Any = UUID("18b50da8-d05d-4646-854e-089c560ce74e")
    number: Any = 7
    with session(uuid, user_id=number):
        add(1, 2)
    assert said(spans.only(), CONVERSATION, USER) == (str(uuid), "7")


def test_labels_of_a_run_are_in_the_metadata_of_its_trace(spans: Any) -> None:
    with run("a", user_id="u1", case_id="c1", tags=["x", "y"], metadata={"build": 7}) as r:
        r.metadata["more"] = True
        add(1, 2)
    expected = {"build": 7, "more": True, "user_id": "u1", "case_id": "c1", "tags": ["x", "y"]}
    assert metadata(spans) == expected


def test_case_and_tags_are_on_the_runs_own_span_alone(spans: Any) -> None:
    with run("a", case_id="c1", tags="one"):
        add(1, 2)
    below, own = spans.finished()
    assert said(own, "agentool.case.id", "agentool.tags") == ("c1", ["one"])
    assert said(below, "agentool.case.id", "agentool.tags") == (None, None)


def test_the_metadata_passed_to_a_run_is_not_changed(spans: Any) -> None:
    values = {"build": 7}
    with run("a", metadata=values) as r:
        r.metadata["more"] = True
    assert values == {"build": 7}


def test_ids_that_become_known_inside_a_run_are_on_its_span(spans: Any) -> None:
    with run("a") as r:
        r.session_id, r.user_id = "s1", "u1"
    assert said(spans.only(), CONVERSATION, USER) == ("s1", "u1")


def test_a_decorated_agent_has_tags_and_metadata(spans: Any) -> None:
    @agent(tags=["x"], metadata={"build": 7})
    def clerk(question: str) -> str:
        return "three"

    with session("s1", user_id="u1"):
        clerk("1+2?")
    assert metadata(spans) == {"build": 7, "user_id": "u1", "tags": ["x"]}


def test_runs_of_a_session_have_its_id_in_their_traces(spans: Any) -> None:
    with session("s1", user_id="u1"):
        for name in "ab":
            with run(name):
                pass
    documents = [item.document for item in rebuild(records(spans.finished()))]
    assert [(item["session_id"], item["metadata"]["user_id"]) for item in documents] == [
        ("s1", "u1")
    ] * 2


def test_invalid_metadata_is_left_out_and_the_run_continues(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentool_otel.tracing.spans.settings import settings

    monkeypatch.setattr(settings, "strict", False)
    wrong: Any = 7
    with run("a", metadata=wrong, tags=wrong) as r:
        r.output = "done"
    assert spans.only().name == "invoke_agent a"
