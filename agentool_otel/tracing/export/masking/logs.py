"""Log records on their way out: attributes, body, scope, resource.

Where content is not wanted, the records in which libraries keep it (`gen_ai.user.message` and its
kin) are left with their place in the conversation, and the payload of any other event without the
members that hold content. An ordinary log line is text that a program chose to log: it is kept,
without credentials.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from agentool_otel.ground.interruptions import let_through
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.semconv.foreign import EVENT_KEEPS, is_content_event
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.spans.events import Masked

__all__ = ["mask_log"]

_BODY = "body"
"""The name under which `redact` is given what is no attribute."""


def mask_log(masking: Masking, record: LogRecord) -> LogRecord:
    """Return a log record, or a copy without what must not leave."""
    masking.passed.add()
    try:
        clean = _mask_record(masking, record)
    except Exception as error:  # fail closed: what cannot be read must not leave
        let_through(error)
        masking.dropped += len(record.attributes) + 1
        clean = msgspec.structs.replace(record, attributes={}, body=None)
    masking.changed += clean is not record
    return clean


def _mask_record(masking: Masking, record: LogRecord) -> LogRecord:
    name = record.event_name or record.attributes.get("event.name")
    event = name if isinstance(name, str) else ""
    attributes: Mapping[str, Any] | None = record.attributes
    ours = type(attributes) is Masked
    if not ours or masking.offers_all:
        keeps = EVENT_KEEPS if is_content_event(event) else None
        attributes = masking.attributes(attributes, keeps, marked=ours)
    body = _body(masking, event, record.body)
    named = record.event_name and masking.name("event.name", record.event_name)
    severity = record.severity_text and masking.name("severity_text", record.severity_text)
    resource, scope = masking.shared(record.resource), masking.shared(record.scope)
    if (
        body is record.body
        and attributes is record.attributes
        and named == record.event_name
        and severity == record.severity_text
        and resource is record.resource
        and scope is record.scope
    ):
        return record
    return msgspec.structs.replace(
        record,
        attributes=attributes,
        body=body,
        event_name=named,
        severity_text=severity,
        resource=resource,
        scope=scope,
    )


def _body(masking: Masking, event: str, body: Any) -> Any:
    if type(body) is Masked:
        return cast("Any", body)
    if body is not None and event and not masking.wants_content:
        if is_content_event(event):
            masking.dropped += 1
            return None
        if isinstance(body, dict):
            body = masking.without_content(cast("dict[str, Any]", body))
    return masking.content(_BODY, body)
