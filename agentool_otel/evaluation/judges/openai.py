"""A judge that is a model, called through the official client."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation.judges.answers import UnreadableAnswer, read, read_text
from agentool_otel.evaluation.judges.cache import Cache, default_folder
from agentool_otel.evaluation.judges.endpoint import LONGEST_WAIT_S, Endpoint
from agentool_otel.evaluation.judges.questions import (
    Answer,
    JudgeUnavailable,
    NoVerdict,
    Question,
)
from agentool_otel.evaluation.judges.suppressing import suppress_recording
from agentool_otel.evaluation.judges.usage import JudgeUsage
from agentool_otel.ground import environment
from agentool_otel.ground.untrusted_text import logger

__all__ = ["OpenAIJudge"]

_log = logger(__name__)

_URL = "https://api.openai.com/v1"
_NO_KEY = "none"
"""Key for servers that need none; the client insists on one."""
_AGAIN = "An earlier answer was not in the requested form. Answer with that JSON object alone."
_FORM_OF_KEYS = 1
"""Goes up when what is kept under a key of the cache changes."""
_UNREACHABLE = 5
"""Number of questions in a row without an answer after which questions stop."""

_NEVER = (
    "it has never answered, and no more questions were sent; hint: --judge-timeout, in Python "
    "timeout_s, waits longer"
)

_Ask = Callable[[Question], Awaitable[Answer]]


class OpenAIJudge:
    """A judge that is a model: `evaluate(cases, traces, judge=OpenAIJudge("gpt-4o-mini"))`.

    The model is asked for a JSON object by schema at temperature 0. Where a server or a model
    refuses the schema, or the temperature, later calls omit it. Where the key is refused, the model
    is unknown, the endpoint redirects, the first question gets no response at all or five in a row
    get no answer, an evaluation stops calling it. Credentials in questions and answers are masked.
    No instrumentation records these calls.

    Args:
        model: the name of the model.
        base_url: the endpoint; by default `OPENAI_BASE_URL`, else OpenAI's.
        api_key: the key; by default `OPENAI_API_KEY`. An explicit endpoint may need none.
        cache: the folder of cached answers. True: the folder `judge` in `.agentool`
            (`AGENTOOL_DIR`); None or False: no cache. Answers about traces are content: the files
            are readable by their owner only, and are never deleted.
        concurrency: the number of concurrent questions. The first one goes alone.
        timeout_s: the time limit of one call, in seconds. A call that times out is not repeated.
        retries: the number of retries after 429, or if the server requests a wait; after another
            5xx no more than three, after a failed connection no more than two.
        max_calls: the limit of calls, retries included, after which questions stop; None for no
            limit. An answer in the cache takes no call.
        max_chars: the number of characters of a trace in a question; the model and the reason get a
            note about omitted parts.
        parameters: further parameters of each call, such as `seed` or `max_completion_tokens`.

    Raises:
        MissingDependencyError: `openai` is not installed.
        ConfigurationError: there is neither a key nor an endpoint, or a number is out of range.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        cache: str | os.PathLike[str] | bool | None = True,
        concurrency: int = 4,
        timeout_s: float = 60.0,
        retries: int = 6,
        max_calls: int | None = None,
        max_chars: int = 100_000,
        parameters: Mapping[str, Any] | None = None,
    ):
        url = base_url or environment.value(environment.OPENAI_BASE_URL)
        key = api_key or environment.value(environment.OPENAI_API_KEY) or (url and _NO_KEY)
        if not key:
            raise ConfigurationError(
                f"no key for the judge; hint: set {environment.OPENAI_API_KEY}, or name the base "
                "URL of a server that needs none"
            )
        if not 0 < timeout_s < math.inf:
            raise ConfigurationError(f"timeout_s is a number of seconds, not {timeout_s!r}")
        if concurrency < 1 or (max_calls is not None and max_calls < 1):
            raise ConfigurationError("concurrency and max_calls are 1 or more")
        self.model = model
        self.concurrency = concurrency
        self.timeout_s = timeout_s
        self.max_calls = max_calls
        self.max_chars = max_chars
        self.deadline_s = 6 * (retries + 1) * (timeout_s + LONGEST_WAIT_S)
        """Seconds in which a question is answered or given up in any case: it has two tries of an
        answer that can be read, in three forms."""
        self.cache_folder = _folder(cache)
        """Folder of cached answers; None without a cache."""
        self._cache = Cache(self.cache_folder) if self.cache_folder is not None else None
        self._endpoint = Endpoint(
            model,
            url or _URL,
            key,
            timeout_s=timeout_s,
            retries=retries,
            max_calls=max_calls,
            parameters=parameters or {},
        )

    @property
    def usage(self) -> JudgeUsage:
        """Return the tokens and calls used so far."""
        return self._endpoint.usage

    @property
    def place(self) -> str:
        """The endpoint, without credentials."""
        return self._endpoint.place

    async def __call__(self, question: Question) -> Answer:
        """Answer one question.

        Raises:
            NoVerdict: there is no answer; the message has the reason.
        """
        async with self.open_session() as ask:
            return await ask(question)

    def open_session(self) -> AbstractAsyncContextManager[_Ask]:
        """Return a context for many questions over the same connections."""
        return self._session()

    @asynccontextmanager
    async def _session(self) -> AsyncGenerator[_Ask]:
        async with self._endpoint.connected() as client:
            yield _Session(self, client).ask

    def cached(self, question: Question) -> Answer | None:
        """Return the cached answer, None if there is none."""
        cached = None if self._cache is None else self._cache.get(self._cache_key(question))
        if cached is None:
            return None
        try:
            answer = read(cached, question)
        except NoVerdict:  # damaged, or written by somebody else
            return None
        self.usage.kept += 1
        return answer

    def keep(self, question: Question, answer: Answer) -> None:
        """Cache an answer, unless the judge could not decide."""
        tells = (answer.passed, answer.score, answer.claims) != (None, None, None)
        if self._cache is not None and tells:
            self._cache.put(self._cache_key(question), msgspec.to_builtins(answer))

    async def answer(self, client: Any, question: Question) -> Answer:
        """Call the model, and once more if its answer cannot be read.

        Raises:
            NoVerdict: there is no answer.
        """
        messages = [
            {"role": "system", "content": question.instructions},
            {"role": "user", "content": question.text},
        ]
        text = await self._endpoint.text(client, messages, question.schema)
        try:
            return read_text(text, question)
        except UnreadableAnswer:  # what it was is not repeated: it may quote the trace
            messages.append({"role": "user", "content": _AGAIN})
        text = await self._endpoint.text(client, messages, question.schema)
        try:
            return read_text(text, question)
        except UnreadableAnswer as error:
            raise NoVerdict(f"the judge's answer could not be read, twice: {error}") from None

    def _cache_key(self, question: Question) -> list[Any]:
        question_parts = [question.instructions, question.text, question.schema]
        at = self._endpoint
        return [_FORM_OF_KEYS, at.place, at.model, at.parameters, question_parts]


class _Session:
    """Questions over one client. It gives up when no answer can be expected: soon where the judge
    has not answered anything."""

    def __init__(self, judge: OpenAIJudge, client: Any):
        self._judge = judge
        self._client = client
        self._first = asyncio.Lock()
        self._tried = False
        self._unanswered = 0
        self._answered = False
        self._gave_up: str | None = None

    async def ask(self, question: Question) -> Answer:
        """Answer a question. The first one goes alone: its lessons about the server apply
        to all.

        Raises:
            NoVerdict: there is no answer; the message has the reason.
        """
        answer = self._judge.cached(question)
        if answer is not None:
            return answer
        usage = self._judge.usage
        usage.waiting += 1
        usage.changed()
        try:
            return await self._ask_in_turn(question)
        finally:
            usage.waiting -= 1
            usage.changed()

    async def _ask_in_turn(self, question: Question) -> Answer:
        if not self._tried:
            async with self._first:
                if not self._tried:
                    try:
                        return await self._ask_model(question)
                    finally:
                        self._tried = True
        return await self._ask_model(question)

    async def _ask_model(self, question: Question) -> Answer:
        if self._gave_up is not None:
            raise JudgeUnavailable(self._gave_up, for_good=True)
        try:
            with suppress_recording():
                answer = await self._judge.answer(self._client, question)
        except JudgeUnavailable as error:
            self._unanswered += 1
            if error.for_good:
                self._give_up(str(error))
            elif error.silent and not self._answered:
                self._give_up(f"{error}; {_NEVER}")
            elif self._unanswered >= _UNREACHABLE:
                self._give_up(f"{error}; no more questions were sent after {_UNREACHABLE} in a row")
            raise
        self._unanswered = 0
        self._answered = True
        self._judge.keep(question, answer)
        return answer

    def _give_up(self, reason: str) -> None:
        if self._gave_up is None:
            self._gave_up = self._judge.usage.gave_up = reason
            _log.warning("judge %s: no more questions are sent: %s", self._judge.model, reason)


def _folder(cache: str | os.PathLike[str] | bool | None) -> Path | None:
    if cache is None or cache is False:
        return None
    return default_folder() if cache is True else Path(cache)
