"""The process-wide settings of the live side: one object, changed only by configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec
from opentelemetry import context as otel_context
from opentelemetry import trace

from agentool_otel.content.policy import Policy, places, requested
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.ground import environment, tracer_provider
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.ground.version import SCOPE
from agentool_otel.tracing.spans.exceptions import signals

if TYPE_CHECKING:
    from opentelemetry._logs import Logger

    from agentool_otel.tracing.spans.own_span import SpanWriter

__all__ = [
    "SCOPE",
    "SUPPRESS_KEY",
    "Settings",
    "contain",
    "guarded",
    "settings",
    "suppressed",
    "suppressing",
]

_log = logger(__name__)

_SUPPRESS_BY_NAME = "suppress_instrumentation"
"""The context key as older instrumentations spell it."""
SUPPRESS_KEY: str = getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", _SUPPRESS_BY_NAME)
"""Source: opentelemetry-api; what `suppress_instrumentation()` sets in the context."""


class Settings:
    """Tracers, dialect and content policy in force.

    Before `configure` the settings are usable: spans go to the global provider, and content is
    captured only if the environment enables it, because the destination is unknown.
    """

    __slots__ = (
        "_loggers",
        "agent",
        "agent_usage",
        "before_first_span",
        "case_id",
        "dialect",
        "enabled",
        "exceptions",
        "handed_down",
        "has_sdk",
        "infer_runs",
        "inherited",
        "last_call",
        "locked",
        "on_described",
        "on_end",
        "policy",
        "repeat_times",
        "strict",
        "tracers",
        "write_through",
        "writer",
    )

    def __init__(self) -> None:
        self.provider = None
        self.dialect = GenAI()
        on_spans, in_events = places(os.environ)
        self.policy = Policy(
            capture=requested(os.environ) is True, on_spans=on_spans, in_events=in_events
        )
        self.write_through = not in_events
        """Whether attributes of a tool call may be set on its span at once, as they are. Not if an
        event needs them too, or if they have other names in the generation.
        """
        self.exceptions = signals(os.environ)
        """Signals that record the exception which ends a span."""
        self.enabled = not environment.sdk_disabled()
        self.inherited: otel_context.Context | None = None
        """The context handed down by a parent process; the parent of spans that have no other."""
        self.on_described: Callable[[int], None] | None = None
        """Called with the id of a span once it holds all that is known before the user's code runs.
        If there is none, nothing is set on a span before its end."""
        self.on_end: Callable[[BaseException | None], None] | None = None
        """Called once nothing that follows is recorded, with the exception that ends the program:
        ends the runs that only their next call would go on with. None before there is any."""
        self.writer: SpanWriter | None = None
        """What writes our own spans the short way; None while all of them take the SDK's."""
        self.repeat_times = environment.copies_wanted()
        """Whether a span repeats its times, kind and parent as attributes. Only our own reader uses
        them, and only where a store rounds or drops values of OTLP: they are in recordings.
        """
        self.agent_usage = environment.agent_usage_wanted()
        """Whether the span of an agent has the tokens of the model calls below. Backends that sum
        over all spans count them twice: by default they are in recordings only.
        """
        self.last_call: trace.SpanContext | None = None
        """The span that began last and can be a step, if that was outside any run."""
        self.case_id = environment.case_id()
        """The evaluation case that the runs of this process are tries of; empty for none."""
        self.strict = environment.strict()
        self.infer_runs = environment.infer_runs()
        """Whether the model calls of a plain loop become a run."""
        self.agent: str | None = environment.agent()
        """Name of the agent of such runs."""
        self.before_first_span: Callable[[], None] | None = None
        """Called before the first span starts, so that it holds nothing of what that needs."""
        self.handed_down: dict[str, str] = {}
        """Variables with which a child process sends its spans where ours go."""
        self.has_sdk = True
        """False once `instrument()` has not found the SDK."""
        self.locked = False
        """Whether `redirected` is active, so that nothing can be configured."""
        self.tracers: dict[str, trace.Tracer] = {}
        """By instrumentation scope, those that `tracer` has made."""
        self._loggers: dict[str, Logger] = {}

    @property
    def provider(self) -> trace.TracerProvider | None:
        """The provider that `instrument()` uses; None before, and where it found no SDK."""
        return tracer_provider.current()

    @provider.setter
    def provider(self, provider: trace.TracerProvider | None) -> None:
        tracer_provider.replace(provider)

    def tracer(self, scope: str = SCOPE) -> trace.Tracer:
        """Return the tracer of an instrumentation scope, by the provider in force."""
        try:
            return self.tracers[scope]
        except KeyError:
            from agentool_otel.ground.version import __version__

            if self.provider is None:
                _notice_no_provider()
            if self.before_first_span is not None:
                first, self.before_first_span = self.before_first_span, None
                first()
            tracer = trace.get_tracer(scope, __version__, self.provider, self.dialect.schema_url)
            self.tracers[scope] = tracer
            return tracer

    def logger(self, scope: str = SCOPE) -> Logger:
        """Return the logger of an instrumentation scope, by the global logger provider."""
        try:
            return self._loggers[scope]
        except KeyError:
            from opentelemetry import _logs

            from agentool_otel.ground.version import __version__

            logger = _logs.get_logger(scope, __version__, None, self.dialect.schema_url)
            self._loggers[scope] = logger
            return logger

    @property
    def tells_messages(self) -> bool:
        """Return whether messages of model calls go into log records of their own."""
        return self.policy.capture and self.dialect.tells_messages

    def starts(self, scope: str) -> bool:
        """True for a scope whose spans are started here, so `on_described` will be called for
        them."""
        return self.on_described is not None and scope in self.tracers

    def end_runs(self, error: BaseException | None = None) -> None:
        """End the runs that wait for a call, because nothing that follows is recorded.

        Args:
            error: the exception that ends the program, if one does.
        """
        end, self.on_end = self.on_end, None
        if end is not None:
            end(error)

    def configure(
        self,
        *,
        provider: trace.TracerProvider | None = None,
        policy: Policy | None = None,
        dialect: GenAI | None = None,
    ) -> None:
        """Replace settings; missing arguments keep theirs. Tracers and loggers are made anew.

        Does nothing where the settings are fixed.
        """
        if self.locked:
            return
        self.writer = None  # made anew once the whole configuration is in force
        if provider is not None:
            self.provider = provider
        if policy is not None:
            self.policy = policy
        if dialect is not None:
            self.dialect = dialect
        self.write_through = self.dialect.is_baseline and not self.policy.in_events
        self.tracers.clear()
        self._loggers.clear()

    def reset(self) -> None:
        """Return to the settings of a fresh process."""
        Settings.__init__(self)

    @contextmanager
    def redirected(self, provider: trace.TracerProvider, policy: Policy) -> Generator[None]:
        """Send all spans to a provider for the time of a block, in the names of today.

        Meanwhile nothing can be configured, and the environment counts for nothing. Afterwards
        everything is as it was.
        """
        before = {name: getattr(self, name) for name in ("provider", *Settings.__slots__)}
        Settings.__init__(self)
        self.configure(provider=provider, policy=policy)
        self.exceptions = signals({})
        self.repeat_times = self.agent_usage = False
        self.enabled = self.locked = True
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


settings = Settings()


def _notice_no_provider() -> None:
    """Log once that nothing takes the spans of this process, if that is so."""
    if not settings.has_sdk:
        return  # `instrument()` has logged why
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        environment.notice(
            "calls are not recorded, because instrument() was not called and no tracer provider is "
            "set; hint: agentool_otel.instrument() at the start of the program, or agentool-otel "
            f"run -- python ...; {environment.QUIET}=on silences this"
        )


_WITHHELD_KEY = otel_context.create_key("agentool-otel-content-withheld")


def withholding_content(context: otel_context.Context) -> otel_context.Context:
    """Return a context in which no content is captured, even where the process captures it."""
    return otel_context.set_value(_WITHHELD_KEY, True, context)


def policy_in(context: otel_context.Context) -> Policy:
    """Return the content policy for a span in a context."""
    policy = settings.policy
    if policy.capture and context.get(_WITHHELD_KEY):
        return msgspec.structs.replace(policy, capture=False)
    return policy


def suppressed(context: otel_context.Context) -> bool:
    """True where the user or another tool switched instrumentation off for this context."""
    return bool(context.get(SUPPRESS_KEY))


def suppressing(context: otel_context.Context) -> otel_context.Context:
    """Return the context with instrumentation switched off, whichever key it looks for."""
    return otel_context.Context({**context, SUPPRESS_KEY: True, _SUPPRESS_BY_NAME: True})


class guarded:
    """Contain our own bugs: log once per place at WARNING and carry on with the user's program.

    What a signal handler of the program raises meanwhile is no bug of ours: the program gets it.
    Under `AGENTOOL_OTEL_STRICT=1` (our tests) the error is raised, so that none passes unseen.
    """

    __slots__ = ("doing",)

    def __init__(self, doing: str):
        self.doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or settings.strict or is_interruption(error):
            return False
        contain(error, self.doing)
        return True


def contain(error: Exception, doing: str) -> None:
    """Do what `guarded` does with an error of ours, where entering a block takes too long.

    Raises:
        Exception: this one, if a signal handler of the program has raised it, or under
            `AGENTOOL_OTEL_STRICT=1`.
    """
    if settings.strict or is_interruption(error):
        raise error
    if doing not in _reported:
        _reported.add(doing)
        _log.warning(
            "agentool_otel failed while %s; your program is not affected, "
            "telemetry of this call may be missing (%s)",
            doing,
            type(error).__name__,
        )
        _log.debug("details", exc_info=error)


_reported: set[str] = set()
