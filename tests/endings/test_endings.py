"""Every way in which a call of a model can end, in every API: span, run and verdicts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.model.operations import Inference
from agentool_otel.providers.openai_chat import ChatReading
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.endings.apis import APIS, Api
from tests.endings.expected import expected, seen
from tests.endings.reading import Mine
from tests.endings.table import cell, cells
from tests.situations.conftest import Stage, stages

REQUESTS: dict[str, Any] = {
    "model": "gpt-5",
    "messages": [{"role": "user", "content": "Hello"}],
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with stages() as result:
        result.set()
        yield result


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("api", "end"),
    [
        pytest.param(api, end, id=f"{api.product} {api.kind}: {end}")
        for api in APIS
        for end in cells(api)
    ],
)
def test_a_call_is_recorded_as_it_ended(stage: Any, api: Api, end: str) -> None:
    if not api.is_installed:
        pytest.skip(f"{api.needs} is not installed")
    result = cell(stage, api, end)
    assert seen(result) == expected(api, end)
    if end == "refused request" or "error" not in str(result.status):
        return
    assert result.no_tool_error is not False


@pytest.fixture
def client(stage: Any) -> Iterator[Any]:
    openai = pytest.importorskip("openai")
    stage.forget()
    with (
        LoopbackModel(Turn(text="one two three four five six")) as model,
        openai.OpenAI(base_url=model.base_url, api_key="none", max_retries=0) as opened,
    ):
        yield opened


def test_a_stream_closed_in_an_except_block_has_no_error_of_an_earlier_exception(
    stage: Any, client: Any
) -> None:
    try:
        raise Mine("before the call")
    except Mine:
        stream = client.chat.completions.create(**REQUESTS, stream=True)
        next(stream)
        stream.close()
    (call,) = stage.recorded.spans()
    assert "error.type" not in call.attributes
    assert call.attributes["agentool.interrupted"] == "closed"


def test_an_exception_is_that_of_the_call_where_a_block_closes_its_stream(
    stage: Any, client: Any
) -> None:
    def read() -> None:
        with contextlib.closing(client.chat.completions.create(**REQUESTS, stream=True)) as stream:
            next(stream)
            raise Mine("while reading")

    with pytest.raises(Mine):
        read()
    (call,) = stage.recorded.spans()
    assert call.attributes["error.type"].endswith("Mine")


def test_an_exception_that_a_program_handles_itself_is_not_that_of_a_stream_it_closes(
    stage: Any, client: Any
) -> None:
    stream = client.chat.completions.create(**REQUESTS, stream=True)
    next(stream)
    try:
        raise Mine("afterwards")
    except Mine:
        stream.close()
    (call,) = stage.recorded.spans()
    assert "error.type" not in call.attributes


def test_a_helper_in_an_except_block_has_no_error_of_the_handled_exception(
    stage: Any, client: Any
) -> None:
    try:
        raise Mine("before the call")
    except Mine:
        with client.chat.completions.stream(**REQUESTS) as stream:
            next(iter(stream))
    (call,) = stage.recorded.spans()
    assert "error.type" not in call.attributes


def test_a_call_is_not_whole_before_all_of_its_choices() -> None:
    reading = ChatReading(Inference(choice_count=2))
    reading.add({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]})
    assert not reading.complete
    reading.add({"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}]})
    assert reading.complete
