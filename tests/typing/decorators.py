"""A decorated callable keeps its parameters and its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from typing_extensions import assert_type

import agentool_otel


@agentool_otel.tool
def add(a: int, b: int = 1) -> int:
    return a + b


@agentool_otel.tool(name="add_later", description="Adds, later.")
async def add_later(a: int) -> int:
    return a


@agentool_otel.agent
def ask(question: str) -> str:
    return question


@agentool_otel.agent(name="streamer")
async def stream(question: str) -> AsyncIterator[str]:
    yield question


@agentool_otel.step("reasoning")
def pieces(count: int) -> Iterator[str]:
    yield str(count)


class Library:
    @agentool_otel.tool
    def find(self, title: str) -> list[str]:
        return [title]

    @agentool_otel.tool
    @staticmethod
    def count() -> int:
        return 0


def results() -> None:
    assert_type(add(1), int)
    assert_type(add(1, b=2), int)
    assert_type(ask("?"), str)
    assert_type(stream("?"), AsyncIterator[str])
    assert_type(pieces(1), Iterator[str])
    assert_type(Library().find("Dune"), list[str])


async def awaited_results() -> None:
    assert_type(await add_later(1), int)
    async for piece in stream("?"):
        assert_type(piece, str)


def parameters() -> None:
    add("1")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    add(1, c=2)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    ask()  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def is_callable() -> Callable[[str], str]:
    return ask


def is_awaitable() -> Awaitable[int]:
    return add_later(1)
