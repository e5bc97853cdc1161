"""A descriptor number is not an identity: we never write to a file of the program.

A program may close every descriptor it has not opened, as daemons do, and get the same numbers for
its own files.
"""

from __future__ import annotations

import logging
import os
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.content.policy import Policy
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.capture import tool
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.spans.settings import settings as tracing_settings
from tests.security.children import descriptors_below, folder, in_child, needs_fork, users
from tests.tracing.export.receiver import HttpReceiver

__all__ = ["folder"]

pytestmark = needs_fork
HERE = Path(".agentool")
DOWN = "http://127.0.0.1:9"


@tool
def ask(question: str) -> str:
    return f"answer to {question}"


def instrumented(endpoint: str = "") -> tuple[Pipeline, TracerProvider]:
    """Make the pipeline that `instrument()` makes."""
    logging.disable()
    pipeline = Pipeline()
    if endpoint:
        pipeline.send(OtlpTarget.at(endpoint, {}), HERE)
    else:
        pipeline.record(HERE)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    tracing_settings.configure(provider=provider, policy=Policy(capture=True))
    tracing_settings.on_described = pipeline.opened
    tracing_settings.enabled = True
    return pipeline, provider


def close_all() -> None:
    os.closerange(3, 4096)


def replace_ours_by(file: int) -> None:
    """Put a file of the program's own under each number of ours."""
    for number in descriptors_below(HERE):
        os.dup2(file, number)


def recorded() -> list[str]:
    """Return the recorded inputs, of every file there is."""
    source = open_source(HERE)
    spans = {span.span_id: span for span in source.spans()}
    assert source.problems == []
    return sorted(str(span.attributes["gen_ai.tool.call.arguments"]) for span in spans.values())


def questions(count: int) -> list[str]:
    return sorted(f'{{"question":"{number}"}}' for number in range(count))


def ask_all(numbers: range) -> None:
    for number in numbers:
        ask(str(number))


@users
@pytest.mark.parametrize("endpoint", ["", DOWN], ids=["recorded", "spooled"])
def test_a_database_that_gets_our_numbers_stays_whole(
    folder: Path, user: str, endpoint: str
) -> None:
    def program() -> None:
        pipeline, provider = instrumented(endpoint)
        ask("0")
        close_all()
        databases = [sqlite3.connect(f"{number}.db") for number in range(3)]
        for database in databases:
            database.execute("create table kept (value)")
            database.commit()
        ask_all(range(1, 6))
        for database in databases:
            database.execute("insert into kept values (1)")
            database.commit()
            assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        if endpoint:
            assert pipeline.counts()["spooled"] == 6
        else:
            assert recorded() == questions(6)
        provider.shutdown()

    in_child(folder, program, user)


@users
@pytest.mark.parametrize("endpoint", ["", DOWN], ids=["recorded", "spooled"])
def test_a_socket_under_our_numbers_gets_nothing_and_stays_open(
    folder: Path, user: str, endpoint: str
) -> None:
    def program() -> None:
        pipeline, provider = instrumented(endpoint)
        ask("0")
        ours, theirs = socket.socketpair()
        replace_ours_by(ours.fileno())
        ask_all(range(1, 4))
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)
        numbers = [index for index in range(3, 2048) if _is(index, ours)]
        provider.shutdown()
        assert [index for index in range(3, 2048) if _is(index, ours)] == numbers
        assert pipeline.counts()["spooled" if endpoint else "exported"] == 4

    in_child(folder, program, user)


def _is(number: int, item: socket.socket) -> bool:
    try:
        return os.path.samestat(os.fstat(number), os.fstat(item.fileno()))
    except OSError:
        return False


@users
def test_a_shutdown_after_everything_was_closed_raises_nothing(folder: Path, user: str) -> None:
    def program() -> None:
        for endpoint in ("", DOWN):
            pipeline, provider = instrumented(endpoint)
            ask("0")
            close_all()
            provider.shutdown()
            assert pipeline.counts()["dropped"] == 0

    in_child(folder, program, user)


@users
def test_a_daemon_and_its_parent_record_their_own_calls(folder: Path, user: str) -> None:
    """Fork, new session, fork, close everything: as python-daemon does it."""

    def program() -> None:
        _, provider = instrumented()
        ask("0")
        if (child := os.fork()) == 0:
            os.setsid()
            if (grandchild := os.fork()) == 0:
                close_all()
                ask("1")
                provider.shutdown()
                os._exit(0)
            os._exit(os.waitpid(grandchild, 0)[1])
        assert os.waitpid(child, 0)[1] == 0
        ask("2")
        assert recorded() == questions(3)

    in_child(folder, program, user)


@users
def test_a_lock_that_was_lost_with_its_descriptor_is_taken_again(folder: Path, user: str) -> None:
    """Else another process would take this one for dead, and recover the files it writes."""

    def program() -> None:
        from agentool_otel.tracing.export.disk.leftovers import RecoveryReport, remains_in

        instrumented()
        ask("0")
        close_all()
        ask("1")
        assert list(remains_in(HERE, RecoveryReport(HERE))) == []

    in_child(folder, program, user)


def test_a_connection_whose_descriptor_was_reused_is_replaced(folder: Path) -> None:
    with HttpReceiver(keeps=True) as receiver:

        def program() -> None:
            pipeline, provider = instrumented(receiver.endpoint)
            ask("0")
            assert pipeline.force_flush()
            store: Any = pipeline.store
            number = store._sender._route.connection.sock.fileno()
            ours, theirs = socket.socketpair()
            os.dup2(ours.fileno(), number)
            ask("1")
            assert pipeline.force_flush()
            theirs.setblocking(False)
            with pytest.raises(BlockingIOError):
                theirs.recv(1)
            provider.shutdown()
            assert os.path.samestat(os.fstat(number), os.fstat(ours.fileno()))

        in_child(folder, program)
        assert len(receiver.names()) == 2


def close_ours(_: Any) -> None:
    for number in descriptors_below(HERE):
        os.close(number)


def delete_the_journal(_: Any) -> None:
    for file in HERE.glob("*.open"):
        file.unlink()


STEPS: dict[str, Callable[[Any], object]] = {
    "close": close_ours,
    "replace": lambda file: replace_ours_by(file.fileno()),
    "delete": delete_the_journal,
}


@settings(max_examples=15)
@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=6))
def test_closed_descriptors_lose_no_call(steps: list[str]) -> None:
    import tempfile

    def program() -> None:
        _, provider = instrumented()
        with open("theirs", "w+b") as theirs:
            theirs.write(b"theirs")
            theirs.flush()
            for number, step in enumerate(steps):
                ask(str(number))
                STEPS[step](theirs)
            ask(str(len(steps)))
            provider.shutdown()
            assert Path("theirs").read_bytes() == b"theirs"
        assert recorded() == questions(len(steps) + 1)

    with tempfile.TemporaryDirectory() as above:
        result = Path(above) / "work"
        result.mkdir()
        in_child(result, program)
