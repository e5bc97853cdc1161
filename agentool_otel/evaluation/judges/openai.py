"""A model behind an OpenAI-compatible endpoint, asked through the official client.

Source: openai-python `chat.completions.create` and its errors at 1.40, 2.54 and 3.52. Structured
answers: platform.openai.com/docs/guides/structured-outputs, 2026-08.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agentool_otel._urls import without_credentials
from agentool_otel.errors import ConfigurationError, MissingDependencyError
from agentool_otel.evaluation.judges.answers import UnreadableAnswer, read, read_text
from agentool_otel.evaluation.judges.cache import Cache, default_folder
from agentool_otel.evaluation.judges.failures import Failure, failure_of, refused_form
from agentool_otel.evaluation.judges.questions import (
    Answer,
    JudgeUnavailable,
    NoVerdict,
    Question,
)
from agentool_otel.evaluation.judges.suppressing import unrecorded
from agentool_otel.evaluation.judges.usage import JudgeUsage

__all__ = ["OpenAIJudge"]

_URL = "https://api.openai.com/v1"
_NO_KEY = "none"
"""What servers on one's own machine are given; the client does not go without."""
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 60.0
"""Seconds that a server can make us wait. One that asks for more is asked nothing more."""
_FORMATS = ("json_schema", "json_object", "text")
_UNREACHABLE = 5
"""Questions in a row without an answer, after which no more is asked."""

sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class _Form(NamedTuple):
    """What of a request not every server and model takes."""

    format: str = _FORMATS[0]
    temperature: bool = True

    def plainer(self, refused: str) -> _Form | None:
        """Return a form without what was refused; None where nothing is left to leave out."""
        if self.temperature and refused == "temperature":
            return self._replace(temperature=False)
        if self.format != _FORMATS[-1]:
            return self._replace(format=_FORMATS[_FORMATS.index(self.format) + 1])
        return self._replace(temperature=False) if self.temperature else None


class OpenAIJudge:
    """A judge that is a model: `evaluate(cases, traces, judge=OpenAIJudge("gpt-4o-mini"))`.

    It is asked for a JSON object by schema at temperature 0. Where a server or a model refuses the
    schema, or the temperature, it is asked without, from then on. What is asked is recorded by no
    instrumentation.

    Args:
        model: the model.
        base_url: the endpoint; by default `OPENAI_BASE_URL`, else OpenAI's.
        api_key: the key; by default `OPENAI_API_KEY`. An endpoint that was named needs none.
        cache: where answers are kept, for the next time that the same is asked. True: the folder
            `judge` in `.agentool` (`AGENTOOL_DIR`); None or False: nowhere. What judges write about
            traces is content: the files are readable by their owner only, and nobody deletes them.
        concurrency: questions at a time. The first one goes alone.
        timeout_s: seconds that one call may take.
        retries: how often a call is tried again after 429, 5xx, a timeout or a lost connection.
        max_chars: characters of a trace that go into a question; what is left out of a longer one
            is said to the model and in the reason.
        parameters: further parameters of each call, such as `seed` or `max_completion_tokens`.

    Raises:
        MissingDependencyError: `openai` is not installed.
        ConfigurationError: there is neither a key nor an endpoint.
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
        retries: int = 3,
        max_chars: int = 100_000,
        parameters: Mapping[str, Any] | None = None,
    ):
        self._library = _library()
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._key = api_key or os.environ.get("OPENAI_API_KEY") or (base_url and _NO_KEY)
        if self._key is None:
            raise ConfigurationError(
                "no key for the judge; hint: set OPENAI_API_KEY, or name the base URL of a server"
                " that needs none"
            )
        self.model = model
        self._url = base_url or _URL
        self.place = without_credentials(self._url)
        """The endpoint, as messages name it."""
        self.concurrency = concurrency
        self.timeout_s = timeout_s
        self.retries = retries
        self.max_chars = max_chars
        self.deadline_s = 2 * (retries + 1) * (timeout_s + _LONGEST_WAIT_S) * len(_FORMATS)
        """Seconds after which a question has been answered or given up, in any case."""
        self.usage = JudgeUsage()
        """What it has used so far."""
        self.cache_folder = _folder(cache)
        """Where answers are kept; None where they are not."""
        self._cache = Cache(self.cache_folder) if self.cache_folder is not None else None
        self._parameters = dict(parameters or {})
        self._form = _Form()
        self._form_taken = False

    async def __call__(self, question: Question) -> Answer:
        """Ask one question.

        Raises:
            NoVerdict: there is no answer; the message says why.
        """
        async with self.session() as ask:
            return await ask(question)

    def session(self) -> AbstractAsyncContextManager[Callable[[Question], Awaitable[Answer]]]:
        """Return a context in which many questions can be asked over the same connections."""
        return self._session()

    @asynccontextmanager
    async def _session(self) -> AsyncGenerator[Callable[[Question], Awaitable[Answer]]]:
        client = self._library.AsyncOpenAI(
            api_key=self._key, base_url=self._url, timeout=self.timeout_s, max_retries=0
        )
        try:
            yield _Session(self, client).ask
        finally:
            await client.close()

    # ------------------------------------------------------------------------- one question

    def kept(self, question: Question) -> Answer | None:
        """Return the answer that is on disk already; None where there is none."""
        if self._cache is None:
            return None
        found = self._cache.get(self._cache_key(question))
        if found is None:
            return None
        try:
            answer = read(found, question)
        except NoVerdict:  # damaged, or written by somebody else
            return None
        self.usage.kept += 1
        return answer

    def keep(self, question: Question, answer: Answer) -> None:
        """Keep an answer that tells."""
        if self._cache is not None and (answer.passed, answer.score, answer.claims) != (None,) * 3:
            self._cache.put(self._cache_key(question), msgspec.to_builtins(answer))

    def _cache_key(self, question: Question) -> list[Any]:
        asked = [question.instructions, question.text, question.schema]
        return ["1", self.place, self.model, self._parameters, asked]

    async def answer(self, client: Any, question: Question) -> Answer:
        """Call the model until it answers, once more where its answer cannot be read.

        Raises:
            NoVerdict: there is no answer.
        """
        messages = [
            {"role": "system", "content": question.instructions},
            {"role": "user", "content": question.text},
        ]
        text = await self._text(client, messages, question)
        try:
            return read_text(text, question)
        except UnreadableAnswer as error:
            again = f"An earlier answer could not be read: {error}. Answer in the form asked for."
            messages.append({"role": "user", "content": again})
        text = await self._text(client, messages, question)
        try:
            return read_text(text, question)
        except UnreadableAnswer as error:
            raise NoVerdict(f"the judge's answer could not be read, twice: {error}") from None

    async def _text(self, client: Any, messages: list[Any], question: Question) -> str:
        completion = await self._completed(client, messages, question)
        model = getattr(completion, "model", None)
        self.usage.add(
            getattr(completion, "usage", None), model if isinstance(model, str) else self.model,
            self._url,
        )  # fmt: skip
        choices = getattr(completion, "choices", None)
        if not choices:
            return ""
        message, finish = choices[0].message, choices[0].finish_reason
        if refusal := getattr(message, "refusal", None):
            raise NoVerdict(f"the judge refuses: {refusal}")
        if finish == "content_filter":
            raise NoVerdict("the judge refuses: its content filter stopped the answer")
        return message.content if isinstance(message.content, str) else ""

    # ------------------------------------------------------------------------- its calls

    async def _completed(self, client: Any, messages: list[Any], question: Question) -> Any:
        """Call the model in the richest form that it takes, which is remembered."""
        form = self._form
        while True:
            try:
                made = await self._tried(client, self._request(form, messages, question))
            except self._library.APIStatusError as error:
                refused = refused_form(error)
                if refused == "unknown" and self._form_taken:
                    refused = None  # what others were asked in is not what is wrong with this
                plainer = form.plainer(refused) if refused is not None else None
                if plainer is None:
                    raise self._failure(error).error() from error
                form = plainer
            else:
                self._form, self._form_taken = form, True
                return made

    def _request(self, form: _Form, messages: list[Any], question: Question) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "messages": messages}
        if form.temperature:
            request["temperature"] = 0
        if form.format == "json_schema":
            named = {"name": question.schema["title"], "schema": question.schema, "strict": True}
            request["response_format"] = {"type": form.format, "json_schema": named}
        elif form.format == "json_object":
            request["response_format"] = {"type": form.format}
        return request | self._parameters

    async def _tried(self, client: Any, request: dict[str, Any]) -> Any:
        """Call the model, and again where that may help.

        Raises:
            NoVerdict: it gave no answer.
            APIStatusError: it does not take the form of the request.
        """
        for attempt in range(self.retries + 1):
            try:
                # The client's own timeout starts anew with each byte.
                call = client.chat.completions.create(**request)
                return await asyncio.wait_for(call, self.timeout_s)
            except (asyncio.TimeoutError, self._library.APITimeoutError):
                failure = Failure(
                    f"{self.place} gave no answer in {self.timeout_s:g} s", again=True
                )
            except Exception as error:  # whatever a client or what is put under it may raise
                if refused_form(error) is not None:
                    raise
                failure = self._failure(error)
            if not failure.again:
                break
            wait_s = _wait_s(attempt) if failure.wait_s is None else failure.wait_s
            if wait_s > _LONGEST_WAIT_S:
                failure = failure._replace(reason=f"{failure.reason} (and to wait {wait_s:,.0f} s)")
                break
            if attempt < self.retries:
                await sleep(wait_s)
        raise failure.error()

    def _failure(self, error: Exception) -> Failure:
        failure = failure_of(error, self.model, self.place)
        if self._key is not None and len(self._key) > len(_NO_KEY):  # a server may repeat it
            return failure._replace(reason=failure.reason.replace(self._key, "[masked]"))
        return failure


class _Session:
    """Questions over one client. It stops asking where no answer can be hoped for."""

    def __init__(self, judge: OpenAIJudge, client: Any):
        self._judge = judge
        self._client = client
        self._first = asyncio.Lock()
        self._tried = False
        self._unanswered = 0
        self._given_up: str | None = None

    async def ask(self, question: Question) -> Answer:
        """Ask a question, the first one alone: what it learns of the server holds for all.

        Raises:
            NoVerdict: there is no answer; the message says why.
        """
        answer = self._judge.kept(question)
        if answer is not None:
            return answer
        if self._tried:
            return await self._asked(question)
        async with self._first:
            try:
                return await self._asked(question)
            finally:
                self._tried = True

    async def _asked(self, question: Question) -> Answer:
        if self._given_up is not None:
            raise JudgeUnavailable(self._given_up, for_good=True)
        try:
            with unrecorded():
                answer = await self._judge.answer(self._client, question)
        except JudgeUnavailable as error:
            self._unanswered += 1
            if error.for_good:
                self._given_up = str(error)
            elif self._unanswered >= _UNREACHABLE:
                self._given_up = f"{error}; no more was asked after {_UNREACHABLE} in a row"
            raise
        self._unanswered = 0
        self._judge.keep(question, answer)
        return answer


def _wait_s(attempt: int) -> float:
    """Return seconds to wait: twice as long each time, by chance a little more or less."""
    return float(_FIRST_WAIT_S * 2**attempt * random.uniform(0.75, 1.25))


def _folder(cache: str | os.PathLike[str] | bool | None) -> Path | None:
    if cache is None or cache is False:
        return None
    return default_folder() if cache is True else Path(cache)


def _library() -> Any:
    try:
        return import_module("openai")
    except ImportError:
        raise MissingDependencyError(
            "a judge that is a model needs openai, which is not installed"
            "; hint: pip install 'agentool-otel[judge]'"
        ) from None
