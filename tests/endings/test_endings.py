"""Every way in which a call of a model can end, in every API: span, run and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.endings.apis import APIS, Api
from tests.endings.expected import expected, seen
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
