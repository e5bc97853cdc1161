"""Every way in which a call of a model can end, in every API: span, run and verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.endings.apis import APIS, Api
from tests.endings.expected import expected, seen
from tests.endings.reading import Mine
from tests.endings.table import cell, cells
from tests.situations.conftest import Stage, stages


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
        pytest.param(api, end, id=f"{api.name}, {api.kind}: {end}")
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


def test_a_stream_closed_in_an_except_block_has_no_error_of_an_earlier_exception(
    stage: Any,
) -> None:
    openai = pytest.importorskip("openai")
    stage.forget()
    with LoopbackModel(Turn(text="one two three four five six")) as model:
        client = openai.OpenAI(base_url=model.base_url, api_key="none", max_retries=0)
        try:
            raise Mine("before the call")
        except Mine:
            stream = client.chat.completions.create(
                model="gpt-5", messages=[{"role": "user", "content": "Hello"}], stream=True
            )
            next(stream)
            stream.close()
    (call,) = stage.recorded.spans()
    assert "error.type" not in call.attributes
    assert call.attributes["agentool.interrupted"] == "closed"


@pytest.mark.parametrize("kind", ["", "async "])
def test_an_exception_is_that_of_the_call_where_finally_closes_its_stream(
    stage: Any, kind: str
) -> None:
    openai = pytest.importorskip("openai")
    stage.forget()
    requests = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}], "stream": True}

    def read(client: Any) -> None:
        stream = client.chat.completions.create(**requests)
        try:
            next(stream)
            raise Mine("while reading")
        finally:
            stream.close()

    async def read_async(client: Any) -> None:
        stream = await client.chat.completions.create(**requests)
        try:
            await anext(aiter(stream))
            raise Mine("while reading")
        finally:
            await stream.close()

    with LoopbackModel(Turn(text="one two three four five six")) as model:
        made = openai.AsyncOpenAI if kind else openai.OpenAI
        client = made(base_url=model.base_url, api_key="none", max_retries=0)
        with pytest.raises(Mine):
            asyncio.run(read_async(client)) if kind else read(client)
    (call,) = stage.recorded.spans()
    assert call.attributes["error.type"].endswith("Mine")
