"""The logger provider of a process that has none of its own.

It is the API's interface straight over the pipeline: whoever asks the API for a logger gets one of
these, and until a record is emitted nothing is imported, opened or started for it. Python's
`logging` is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from opentelemetry import _logs
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.tracing.export.log_records import log_record_of
from agentool_otel.tracing.spans.settings import guarded, settings

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

__all__ = ["LoggerProvider", "resource_in_force"]


def resource_in_force() -> Resource:
    """Return the resource of the current provider, which is right after a fork, too."""
    resource: Resource | None = getattr(settings.provider, "resource", None)
    if resource is not None:
        return resource
    from opentelemetry.sdk.resources import Resource

    return Resource.create()


class LoggerProvider(_logs.LoggerProvider):
    """Makes loggers whose records go to `put`.

    An application may set a provider of its own later. From then on the loggers that libraries got
    here, and keep, pass on to that one.

    Args:
        put: takes a record; it must not raise.
        wanted: whether records of a scope go anywhere at present.
        resource: returns the resource of a record; called for each, as a forked child has another.
    """

    def __init__(
        self,
        put: Callable[[LogRecord], None],
        wanted: Callable[[str], bool],
        resource: Callable[[], Resource],
    ):
        self.put = put
        self.wanted = wanted
        self.resource = resource

    def get_logger(
        self,
        name: str,
        version: str | None = None,
        schema_url: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> _logs.Logger:
        return _Logger(self, InstrumentationScope(name, version, schema_url, attributes))


class _Logger(_logs.Logger):
    def __init__(self, provider: LoggerProvider, scope: InstrumentationScope):
        super().__init__(scope.name, scope.version, scope.schema_url, scope.attributes)
        self._provider = provider
        self._scope = scope

    def emit(self, record: _logs.LogRecord | None = None, **values: Any) -> None:
        provider = _logs.get_logger_provider()
        if provider is not self._provider:
            logger: Any = self._of(provider)
            logger.emit(**values) if record is None else logger.emit(record)
            return
        with guarded("taking a log record"):
            if self._provider.wanted(self._scope.name):
                emitted = _logs.LogRecord(**values) if record is None else record
                self._provider.put(log_record_of(emitted, self._scope, self._provider.resource()))

    def enabled(self, **values: Any) -> bool:
        provider = _logs.get_logger_provider()
        if provider is not self._provider:
            return self._of(provider).enabled(**values)
        return self._provider.wanted(self._scope.name)

    def _of(self, provider: _logs.LoggerProvider) -> _logs.Logger:
        scope = self._scope
        return provider.get_logger(scope.name, scope.version, scope.schema_url, scope.attributes)
