"""How an inferred run ends: with its answer, an error, the program, or because nobody goes on."""

from __future__ import annotations

from typing import Any

import pytest

import agentool_otel
from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import LoopbackModel, Turn, call
from agentool_otel.tracing.loops import ends, open_loops
from agentool_otel.tracing.loops.open_loops import open_loops as loops
from agentool_otel.tracing.spans.settings import settings
from tests.records import records
from tests.tracing.loops.plain_programs import (
    ROUND,
    TOOLS,
    Program,
    roots,
    sessions,
    trees,
    wanted,
)


@pytest.fixture
def program(client: Any, model: LoopbackModel) -> Program:
    """A program whose model has requested a tool."""
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    model.push(call("search", q="a"))
    program.send(program.step())
    return program


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by which loops are idle."""
    now = [1000.0]
    for module in ("open_loops", "loop"):
        monkeypatch.setattr(f"agentool_otel.tracing.loops.{module}.monotonic", lambda: now[0])
    return now


def end_idle() -> None:
    for loop in loops.idle():
        ends.end_left(loop, "idle")


def test_a_failed_call_that_is_made_again_is_no_failed_run(
    program: Program, spans: Any, model: LoopbackModel
) -> None:
    openai = pytest.importorskip("openai")
    model.push(Turn(status=500), Turn(status=429), "Done.")
    for _ in range(2):
        with pytest.raises(openai.APIStatusError):
            program.step()
    program.step()
    assert trees(spans) == ["invoke_agent[chat, search, chat, chat, chat]"]
    assert roots(spans)[0]["agentool.status"] == "success"
    [trace] = rebuild(records(spans.finished()))
    assert trace.trace.status == "success"


def test_a_failed_first_call_that_is_made_again(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    openai = pytest.importorskip("openai")
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    model.push(Turn(status=500), "Done.")
    with pytest.raises(openai.APIStatusError):
        program.step()
    program.step()
    assert trees(spans) == ["invoke_agent[chat, chat]"]
    assert roots(spans)[0]["agentool.status"] == "success"


def test_a_failed_call_that_nobody_makes_again_is_a_failed_run(
    clock: list[float], program: Program, spans: Any, model: LoopbackModel
) -> None:
    openai = pytest.importorskip("openai")
    model.push(Turn(status=500))
    with pytest.raises(openai.APIStatusError):
        program.step()
    clock[0] += open_loops.RETRY_S - 1
    end_idle()
    assert not roots(spans)
    clock[0] += 2
    end_idle()
    (root,) = roots(spans)
    assert root["agentool.status"] == "error"
    assert root["error.type"] == "openai.InternalServerError"
    assert "agentool.interrupted" not in root


def test_the_same_call_after_the_time_for_retries_is_another_run(
    clock: list[float], program: Program, spans: Any, model: LoopbackModel
) -> None:
    openai = pytest.importorskip("openai")
    model.push(Turn(status=500), "Done.")
    with pytest.raises(openai.APIStatusError):
        program.step()
    clock[0] += open_loops.RETRY_S + 1
    end_idle()
    program.step()
    assert [root["agentool.status"] for root in roots(spans)] == ["error", "success"]
    assert len(sessions(spans)) == 1


def test_an_exception_that_ends_the_program_is_the_failure(program: Program, spans: Any) -> None:
    settings.end_runs(ValueError("wrong"))
    (root,) = roots(spans)
    assert (root["agentool.status"], root["error.type"]) == ("error", "ValueError")


def test_of_two_runs_the_one_whose_call_raised_has_the_failure(
    program: Program, client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(status=500), call("search", q="z"))
    with pytest.raises(Exception, match="injected") as raised:
        program.step()
    other = Program(client)
    other.messages.append({"role": "user", "content": "Another"})
    other.step()
    settings.end_runs(raised.value)
    assert [root["agentool.status"] for root in roots(spans)] == ["error", "in_progress"]


def leave(stream: Any, error: type[BaseException]) -> None:
    with stream:
        for _ in stream:
            raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_ends_the_run_at_once(
    program: Program, spans: Any, model: LoopbackModel, error: type[BaseException]
) -> None:
    model.push(Turn(text="a long answer that is interrupted"))
    stream = program.client.chat.completions.create(
        model="m", messages=program.messages, tools=TOOLS, stream=True
    )
    with pytest.raises(error):
        leave(stream, error)
    (root,) = roots(spans)
    assert root["error.type"] == error.__name__
    assert not len(loops)


def test_a_stream_that_is_closed_early_leaves_the_run_in_progress(
    program: Program, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(text="a long answer that nobody reads to its end"))
    stream = program.client.chat.completions.create(
        model="m", messages=program.messages, tools=TOOLS, stream=True
    )
    next(iter(stream))
    stream.close()
    (root,) = roots(spans)
    assert (root["agentool.status"], root["agentool.interrupted"]) == ("in_progress", "closed")


def test_a_run_at_its_limit_of_turns_is_in_progress(program: Program, spans: Any) -> None:
    settings.end_runs()
    (root,) = roots(spans)
    assert (root["agentool.status"], root["agentool.interrupted"]) == ("in_progress", "exit")
    [trace] = rebuild(records(spans.finished()))
    assert trace.trace.status == "in_progress"


def test_a_root_ends_when_its_last_call_does(
    program: Program, spans: Any, model: LoopbackModel
) -> None:
    model.push("Done.")
    program.step()
    times = {span.name: span.end_time for span in spans.finished()}
    assert times["invoke_agent"] == times["chat m"]


def test_an_idle_loop_ends_and_its_session_goes_on(
    clock: list[float], program: Program, spans: Any, model: LoopbackModel
) -> None:
    clock[0] += open_loops.IDLE_S + 1
    end_idle()
    assert roots(spans)[0]["agentool.interrupted"] == "idle"
    model.push("Done.")
    program.step()
    assert trees(spans) == ["invoke_agent[chat]", "invoke_agent[chat]"]
    assert len(sessions(spans)) == 1


def test_a_loop_with_a_tool_under_way_is_not_idle(
    client: Any, spans: Any, model: LoopbackModel, clock: list[float]
) -> None:
    @agentool_otel.tool
    def search(q: str) -> str:
        clock[0] += 10 * open_loops.IDLE_S
        end_idle()
        return "found"

    model.push(call("search", q="a"), "Done.")
    Program(client, {"search": search}).ask("Q")
    assert trees(spans) == ["invoke_agent[chat, search, chat]"]


def test_a_pause_is_no_answer(spans: Any) -> None:
    messages: list[Any] = [{"role": "user", "content": "Q"}]
    with agentool_otel.model_call("m", messages=messages, tools=TOOLS, provider="own") as reported:
        reported.output("So far.", finish_reason="pause_turn")
    messages.append({"role": "assistant", "content": "So far."})
    with agentool_otel.model_call("m", messages=messages, tools=TOOLS, provider="own") as reported:
        reported.output("Done.", finish_reason="stop")
    assert trees(spans) == ["invoke_agent[chat, chat]"]


def test_nothing_of_an_ended_loop_stays(client: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(*ROUND, "Done.")
    Program(client).ask("Q")
    assert not len(loops)
    assert not loops._waiting


def test_of_too_many_loops_the_oldest_end(
    client: Any, spans: Any, model: LoopbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_loops, "_MOST_OPEN", 5)
    for number in range(8):
        model.push(Turn(tool_calls=(wanted("search", str(number)),)))
        program = Program(client)
        program.messages.append({"role": "user", "content": f"Q{number}"})
        program.step()
    assert len(loops) == 5
    assert len(loops._waiting) == 5 * 3  # the request, the response and the answer
    assert [root["agentool.interrupted"] for root in roots(spans)] == ["dropped"] * 3


def test_the_memory_of_sessions_is_bounded(
    client: Any, spans: Any, model: LoopbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_loops, "_MOST_LINKS", 10)
    for number in range(20):
        model.push(f"Answer {number}.")
        Program(client).ask(f"Q{number}")
    assert len(loops._sessions) == 10


@pytest.mark.parametrize(
    ("stop", "status"),
    [("refusal", "refusal"), ("content_filter", "refusal"), ("length", "success")],
)
def test_the_status_of_a_run_is_that_of_its_answer(
    program: Program, spans: Any, model: LoopbackModel, stop: Any, status: str
) -> None:
    model.push(Turn(text="I cannot", stop=stop))
    program.step()
    [run] = rebuild(records(spans.finished()))
    assert run.trace.status == status


def test_a_call_of_a_signal_handler_or_finalizer_does_not_wait_for_itself(
    program: Program, spans: Any, model: LoopbackModel
) -> None:
    """It may run in the middle of any call, in the same thread."""
    model.push("Done.")
    for lock in (loops._lock, ends._lock):
        with lock:
            assert lock.acquire(blocking=False)
            lock.release()
    with loops._lock, ends._lock:
        program.step()
    assert trees(spans) == ["invoke_agent[chat, search, chat]"]
