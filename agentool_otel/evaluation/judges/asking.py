"""Send questions concurrently, from a thread that ends with the evaluation."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from typing import Any, Protocol

from agentool_otel.content.masking.credentials import mask_text
from agentool_otel.evaluation.judges.answers import read
from agentool_otel.evaluation.judges.questions import Answer, Judge, NoVerdict, Question
from agentool_otel.evaluation.judges.suppressing import suppress_recording
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated

__all__ = ["JudgeAssertion", "JudgePool"]

_CONCURRENCY = 4
_DEADLINE_S = 300.0
_MAX_CHARS = 100_000
_LATE = 5
"""Number of timeouts in a row after which questions stop. One is enough for a judge that has not
answered at all.
"""
_MOMENT_S = 0.05
_GRACE_S = 5.0
"""Seconds that a running callable has to return at the end of the evaluation."""


class JudgeAssertion(Protocol):
    """An assertion that turns an answer into a verdict."""

    def verdict(self, question: Question, answer: Answer) -> Verdict: ...


class JudgePool:
    """Puts questions to a judge. Nothing is started before the first one.

    Args:
        judge: the judge; `Judge` describes its optional attributes.
    """

    def __init__(self, judge: Judge):
        self._judge = judge
        self.model = str(getattr(judge, "model", None) or _name(judge))
        """Name of the judge in results."""
        self.max_chars = int(getattr(judge, "max_chars", _MAX_CHARS))
        self.concurrency = int(getattr(judge, "concurrency", _CONCURRENCY))
        self._deadline_s = float(getattr(judge, "deadline_s", _DEADLINE_S))
        self._late = 0
        self._answered = False
        self._calls: set[threading.Thread] = set()
        self._thread: threading.Thread | None = None

    def ask(self, asker: JudgeAssertion, question: Question) -> Future[Verdict]:
        """Queue a question. The result is always a verdict, never an error."""
        if self._thread is None:
            self._start()
        return asyncio.run_coroutine_threadsafe(self._verdict(asker, question), self._loop)

    def close(self) -> None:
        """Drop unanswered questions. The thread has ended afterwards, and so have those that run a
        callable, unless one does not return within seconds."""
        if self._thread is None:
            return
        atexit.unregister(self.close)
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._over.set)
        until = time.monotonic() + _GRACE_S
        _join_thread(self._thread, None)
        for thread in self._calls:
            _join_thread(thread, max(0.0, until - time.monotonic()))
        self._thread = None

    # ------------------------------------------------------------------------- the thread

    def _start(self) -> None:
        started: Future[None] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(started)), name="agentool-judge", daemon=True
        )
        self._thread.start()
        started.result()
        # Later than that, a thread that is waited for never gets its turn.
        atexit.register(self.close)

    async def _serve(self, started: Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._slots = asyncio.Semaphore(max(1, self.concurrency))
        async with AsyncExitStack() as stack:
            try:
                self._call = await self._open_judge(stack)
            except Exception as error:  # as where a client does not fit the libraries below it
                self._call = _failing(error)
            started.set_result(None)
            await self._over.wait()
            await _cancel_all(asyncio.all_tasks() - {asyncio.current_task()})

    async def _open_judge(self, stack: AsyncExitStack) -> Callable[[Question], Awaitable[Any]]:
        session = getattr(self._judge, "open_session", None)
        if session is not None:
            call: Callable[[Question], Awaitable[Any]] = await stack.enter_async_context(session())
            return call
        called = getattr(self._judge, "__call__", None)  # noqa: B004 - of an object, not a test
        if inspect.iscoroutinefunction(self._judge) or inspect.iscoroutinefunction(called):
            return self._judge
        return self._in_thread

    # ------------------------------------------------------------------------- one question

    async def _verdict(self, asker: JudgeAssertion, question: Question) -> Verdict:
        async with self._slots:
            if self._over.is_set():
                return not_evaluated("nobody waits for it")
            try:
                answer = read(await self._answer(question), question)
                verdict = asker.verdict(question, answer)
            except NoVerdict as error:
                return not_evaluated(mask_text(str(error)))
            except Exception as error:  # a judge may be anybody's, and its crash is no low score
                words = mask_text(str(error)) or type(error).__name__
                return not_evaluated(f"the judge failed: {words}")
        reason = verdict.reason
        if question.shortened is not None and verdict.passed is not None:
            reason = f"{reason} (judged on a shortened trace: {question.shortened})"
        extra = {**verdict.extra, "judge_model": self.model}
        return verdict._replace(reason=reason, extra=extra)

    async def _answer(self, question: Question) -> Any:
        if self._late >= (_LATE if self._answered else 1):
            late = (
                "once, and had never answered"
                if self._late == 1
                else f"{self._late} times in a row"
            )
            raise NoVerdict(f"the judge timed out {late}; no more questions were sent")
        with suppress_recording():
            try:
                value = await asyncio.wait_for(self._call_judge(question), self._deadline_s)
            except asyncio.TimeoutError:
                self._late += 1
                raise NoVerdict(f"the judge gave no answer in {self._deadline_s:g} s") from None
        self._late = 0
        self._answered = True
        return value

    async def _call_judge(self, question: Question) -> Any:
        value = await self._call(question)
        return await value if inspect.isawaitable(value) else value

    async def _in_thread(self, question: Question) -> Any:
        """Call a blocking function in a thread of its own: one that never returns must neither
        delay the next nor keep the process from ending."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[Any, Exception | None]] = loop.create_future()
        context = contextvars.copy_context()

        def settle(value: Any, error: Exception | None) -> None:
            if not done.done():
                done.set_result((value, error))

        def work() -> None:
            value, failed = None, None
            try:
                value = context.run(self._judge, question)
            except Exception as error:
                failed = error
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(settle, value, failed)

        thread = threading.Thread(target=work, name="agentool-judge-call", daemon=True)
        thread.start()
        self._calls = {call for call in self._calls if call.is_alive()} | {thread}
        value, error = await done
        if error is not None:
            raise error
        return value


def _join_thread(thread: threading.Thread, timeout_s: float | None) -> None:
    """Wait for a thread to end, unless it is the current one: the garbage collector may drop an
    unfinished evaluation in any thread."""
    if thread is not threading.current_thread():
        thread.join(timeout_s)


def _failing(error: Exception) -> Callable[[Question], Awaitable[Any]]:
    reason = f"the judge cannot be reached: {mask_text(str(error)) or type(error).__name__}"

    async def fail(question: Question) -> Any:
        raise NoVerdict(reason)

    return fail


async def _cancel_all(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks. Those that are about to connect get the moment that takes: anyio warns of what
    it has not begun (`TaskGroup.start_soon`, seen with 4.16)."""
    if tasks:
        await asyncio.sleep(_MOMENT_S)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _name(judge: Judge) -> str:
    return getattr(judge, "__name__", None) or type(judge).__name__
