"""A model at an OpenAI-compatible endpoint: calls in a form that it accepts, repeated where that
helps.

Source: openai-python `chat.completions.create` and its errors at 1.40, 2.54 and 3.52. Structured
answers: platform.openai.com/docs/guides/structured-outputs, 2026-08.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from agentool_otel.content.masking.credentials import mask_text
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation.judges.failures import Failure, failure_of, late, refused_form
from agentool_otel.evaluation.judges.questions import JudgeUnavailable, NoVerdict
from agentool_otel.evaluation.judges.usage import JudgeUsage
from agentool_otel.ground.optional import library
from agentool_otel.ground.untrusted_text import count_text
from agentool_otel.ground.urls import credentials_in, without_credentials, without_secrets
from agentool_otel.semconv.marks import MASK

__all__ = ["LONGEST_WAIT_S", "Endpoint"]

LONGEST_WAIT_S = 60.0
"""Longest accepted `Retry-After`, in seconds. A server that wants more gets no further try."""
_FIRST_WAIT_S = 1.0
"""Doubled with each try: six of them outlast a limit of calls in a minute."""
_FORMATS = ("json_schema", "json_object", "text")

sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class _Form(NamedTuple):
    """The parts of a request that some servers and models refuse."""

    format: str = _FORMATS[0]
    temperature: bool = True

    def plainer(self, refused: str) -> _Form | None:
        """Return a form without the refused part; None if there is nothing more to leave out."""
        if self.temperature and refused == "temperature":
            return self._replace(temperature=False)
        if self.format != _FORMATS[-1]:
            return self._replace(format=_FORMATS[_FORMATS.index(self.format) + 1])
        return self._replace(temperature=False) if self.temperature else None


class Endpoint:
    """A model and its endpoint.

    Args:
        model: the model.
        url: the base URL.
        key: the key.
        timeout_s: seconds that one call may take.
        retries: how often a call is tried again.
        max_calls: calls in all, retries included; None for no limit.
        parameters: further parameters of each call.

    Raises:
        MissingDependencyError: `openai` is not installed.
    """

    def __init__(
        self,
        model: str,
        url: str,
        key: str,
        *,
        timeout_s: float,
        retries: int,
        max_calls: int | None,
        parameters: Mapping[str, Any],
    ):
        self._library = library("openai", "a judge that is a model", extra="judge")
        self.model = model
        self.place = without_credentials(url)
        """The base URL, as messages name it."""
        self.parameters = dict(parameters)
        self.usage = JudgeUsage()
        self._url = url
        self._key = key
        self._timeout_s = timeout_s
        self._retries = retries
        self._max_calls = max_calls
        self._form = _Form()
        self._form_is_accepted = False

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Any]:
        """Open a client; its connections are closed on exit. It follows no redirect: the trace is
        for the endpoint that was named."""
        try:
            client = self._library.AsyncOpenAI(
                api_key=self._key,
                base_url=self._url,
                timeout=self._timeout_s,
                max_retries=0,
                http_client=self._library.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        except Exception as error:  # the client refuses a URL in many ways, and quotes it
            reason = self._clean(str(error))
            raise ConfigurationError(f"{self.place} is no URL of a judge: {reason}") from None
        try:
            yield client
        finally:
            await client.close()

    async def text(self, client: Any, messages: list[Any], schema: dict[str, Any]) -> str:
        """Return the text that the model writes, which may be empty.

        Raises:
            NoVerdict: it refuses, or gives no answer; `JudgeUnavailable` where that is no matter of
                this question.
        """
        completion = await self._in_accepted_form(client, messages, schema)
        answered_by = getattr(completion, "model", None)
        model = answered_by if isinstance(answered_by, str) else self.model
        self.usage.add(getattr(completion, "usage", None), model, self._url)
        choices = getattr(completion, "choices", None)
        if not choices:
            return ""
        message, finish = choices[0].message, choices[0].finish_reason
        if refusal := getattr(message, "refusal", None):
            raise NoVerdict(f"the judge refuses: {self._clean(str(refusal))}")
        if finish == "content_filter":
            raise NoVerdict("the judge refuses: its content filter stopped the answer")
        if finish == "length":
            raise NoVerdict("the judge's answer was cut off at its limit of tokens")
        return message.content if isinstance(message.content, str) else ""

    async def _in_accepted_form(
        self, client: Any, messages: list[Any], schema: dict[str, Any]
    ) -> Any:
        """Call the model with the richest response format that the endpoint accepts, and keep that
        format for later calls.
        """
        form = self._form
        while True:
            try:
                completion = await self._call_with_retries(
                    client, self._request(form, messages, schema)
                )
            except self._library.APIStatusError as error:
                refused = refused_form(error)
                if refused == "unknown" and self._form_is_accepted:
                    refused = None  # what others were asked in is not what is wrong with this
                plainer = form.plainer(refused) if refused is not None else None
                if plainer is None:
                    raise self._failure(error).error() from error
                form = plainer
            else:
                self._form, self._form_is_accepted = form, True
                return completion

    def _request(self, form: _Form, messages: list[Any], schema: dict[str, Any]) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "messages": messages}
        if form.temperature:
            request["temperature"] = 0
        if form.format == "json_schema":
            named = {"name": schema.get("title", "answer"), "schema": schema, "strict": True}
            request["response_format"] = {"type": form.format, "json_schema": named}
        elif form.format == "json_object":
            request["response_format"] = {"type": form.format}
        return request | self.parameters

    async def _call_with_retries(self, client: Any, request: dict[str, Any]) -> Any:
        """Call the model, and retry where that may help.

        Raises:
            NoVerdict: it gave no answer.
            APIStatusError: it does not take the form of the request.
        """
        tries = 0
        while True:
            self._count_call()
            try:
                # The client's own timeout starts anew with each byte.
                call = client.chat.completions.create(**request)
                return await asyncio.wait_for(call, self._timeout_s)
            except (asyncio.TimeoutError, self._library.APITimeoutError):
                self.usage.timeouts += 1
                failure = late(self.place, self._timeout_s)
            except Exception as error:  # whatever a client or what is put under it may raise
                if refused_form(error) is not None:
                    raise
                failure = self._failure(error)
            if tries >= min(failure.retries, self._retries):
                raise failure.error()
            wait_s = _wait_s(tries) if failure.wait_s is None else failure.wait_s
            if wait_s > LONGEST_WAIT_S:
                reason = f"{failure.reason}, and asks to wait {wait_s:,.0f} s"
                raise failure._replace(reason=reason).error()
            await sleep(wait_s)
            tries += 1

    def _count_call(self) -> None:
        """Count a call before it is made.

        Raises:
            JudgeUnavailable: there have been as many as there may be.
        """
        if self._max_calls is not None and self.usage.calls >= self._max_calls:
            reason = f"the limit of {count_text(self._max_calls, 'call')} of the judge is reached"
            hint = "hint: --judge-max-calls, in Python max_calls, sets it"
            raise JudgeUnavailable(f"{reason}; {hint}", for_good=True)
        self.usage.calls += 1
        self.usage.changed()

    def _failure(self, error: Exception) -> Failure:
        return failure_of(error, self.model, self.place, self._clean)

    def _clean(self, text: str) -> str:
        """Return the text of a server without credentials."""
        text = without_secrets(text, credentials_in(self._url))
        if len(self._key) > 8:  # a server may repeat it; a placeholder is no secret
            text = text.replace(self._key, MASK)
        return mask_text(text)


def _wait_s(attempt: int) -> float:
    """Return the seconds to wait: twice as long each time, with jitter."""
    return float(_FIRST_WAIT_S * 2**attempt * random.uniform(0.75, 1.25))
