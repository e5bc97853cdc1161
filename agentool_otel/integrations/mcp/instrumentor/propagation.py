"""Trace context in `params._meta` of a request, under the unprefixed names of the propagators.

The mcp package propagates the context itself from version 2 on; this module does it for version 1.
HTTP headers are unchanged.

Spec: MCP, SEP-414; semantic-conventions-genai, section "context propagation" of MCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import wrapt
from opentelemetry.context import Context, get_current, set_value
from opentelemetry.trace import get_current_span

from agentool_otel.providers.fields import record
from agentool_otel.tracing.capture import context as carriers
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.live import OWNER_KEY
from agentool_otel.tracing.spans.run import RUN_KEY

if TYPE_CHECKING:

    class _Proxy:
        """Types of wrapt's proxy for type checkers."""

        __wrapped__: Any

        def __init__(self, wrapped: Any) -> None: ...

else:
    _Proxy = wrapt.ObjectProxy

__all__ = ["CarryingRequest", "context_of"]


class CarryingRequest(_Proxy):
    """A request of mcp 1 that is sent with the trace context in which it was made.

    The caller's own object stays as it is: the context is added to the copy that is sent, also
    where the request has no `_meta` or no parameters.
    """

    _self_carrier: dict[str, str]

    def __init__(self, wrapped: Any, carrier: dict[str, str]):
        super().__init__(wrapped)
        self._self_carrier = carrier

    def model_dump(self, *args: Any, **kwargs: Any) -> Any:
        data = self.__wrapped__.model_dump(*args, **kwargs)
        if isinstance(data, dict) and self._self_carrier:
            params = dict(data.get("params") or {})
            params["_meta"] = {**(params.get("_meta") or {}), **self._self_carrier}
            return {**cast("dict[str, Any]", data), "params": params}
        return data


def context_of(meta: Mapping[str, Any] | None) -> Context:
    """Return the context in which to handle a request.

    With a remote parent in `_meta`, that span is the parent. Without one, or if it is the current
    span, the current context is returned.

    A server in the client's process may have inherited the context of the code that started it.
    That code need not have sent the request, so its run, conversation, user and agent are removed.
    """
    current = get_current()
    carrier = {key: value for key, value in (record(meta) or {}).items() if type(value) is str}
    if not carrier:
        return current
    remote = carriers.extract(carrier)
    sender = get_current_span(remote).get_span_context()
    if not sender.is_valid:
        return current
    span_context = get_current_span(current).get_span_context()
    if (sender.trace_id, sender.span_id) == (span_context.trace_id, span_context.span_id):
        return current
    context = Context({**current, **remote})
    for key in (RUN_KEY, IDENTITY_KEY, OWNER_KEY):
        context = set_value(key, None, context)
    return context
