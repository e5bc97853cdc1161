"""Names of another vocabulary beside ours, on spans that are about to be sent.

It is done by the thread that sends, on the span as it waits in the spool: nothing that is recorded,
kept or counted changes, and the user's call has long returned. What fails costs the names.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from agentool_otel.content.fitting.fitter import PREVIEW, SIZES
from agentool_otel.content.fitting.shortening import shorten
from agentool_otel.dialects.openinference.repeated_names import added_names
from agentool_otel.model.spans import Attributes
from agentool_otel.otlp.protobuf_decoder import decode_resource, decode_span, scope_name
from agentool_otel.otlp.protobuf_encoder import (
    attribute_fields,
    resource_of,
    with_attributes,
    with_resource,
)
from agentool_otel.semconv import core
from agentool_otel.semconv import openinference as oi
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["add_vocabulary"]

_OURS = "agentool_otel"
_UNKNOWN = "unknown_service"
_RESOURCE_ATTRIBUTE = b"\x0a"
_ROOM = 1024
"""Bytes for the names, and what is not text."""


def add_vocabulary(request: bytes, most: int) -> bytes:
    """Return the request of a span with OpenInference's names added, and the name of its project
    on the resource: all spans of a program belong there, whoever made them.

    Args:
        request: made by `encode_span`.
        most: bytes that it may have; if that is not enough it stays as it is.
    """
    # What is nested too deeply to be written anew is nobody's mistake.
    with guarded("adding OpenInference's names"), suppress(ValueError, RecursionError):
        if scope_name(request).startswith(_OURS) and (names := added_names(decode_span(request))):
            extended = with_attributes(request, _fit_names(names, SIZES.span - len(request)))
            request = extended if len(extended) <= most else request
        resource = resource_of(request)
        if (with_project := _add_project(resource)) != resource:
            extended = with_resource(request, with_project)
            return extended if len(extended) <= most else request
    return request


@lru_cache(maxsize=8)
def _add_project(resource: bytes) -> bytes:
    """Return a resource that names its service as its project, unless it names one."""
    attributes = decode_resource(resource)
    service = attributes.get(core.SERVICE_NAME)
    if oi.PROJECT_NAME in attributes or not isinstance(service, str):
        return resource
    if not service or service.startswith(_UNKNOWN):
        return resource
    return resource + attribute_fields(_RESOURCE_ATTRIBUTE, {oi.PROJECT_NAME: service})


def _fit_names(names: Attributes, room: int) -> Attributes:
    """Shorten texts until all fit, in this order: texts that are too long by themselves, documents,
    values.
    """
    texts = {key: value for key, value in names.items() if isinstance(value, str)}
    if sum(map(len, texts.values())) * 4 + _ROOM <= min(room, SIZES.attribute):
        return names
    fitted = {**names, **{key: _short(value, SIZES.attribute) for key, value in texts.items()}}
    if _size(fitted) > room:
        fitted = {k: v for k, v in fitted.items() if not k.startswith(oi.RETRIEVAL_DOCUMENTS)}
    if _size(fitted) > room:
        fitted = {k: _short(v, PREVIEW) if isinstance(v, str) else v for k, v in fitted.items()}
    return fitted


def _short(text: str, most: int) -> str:
    return shorten(text, most) if len(text.encode("utf-8", "replace")) > most else text


def _size(names: Attributes) -> int:
    return sum(
        len(name.encode("utf-8", "replace")) for name in names.values() if isinstance(name, str)
    )
