"""The one place that everything passes before it is written or sent.

Spans here, log records in `masking_logs` and metrics in `masking_metrics`, by the same rules.
Our own spans are masked when they are captured, and marked then, by
`tracing.spans.sdk_spans.set_all`;
of them only what others can have added is looked at. Everything else is looked at whole:
attributes, events, status, links, scope, resource. What fails is left out: an attribute alone, the
content of a span that cannot be read, never a batch and never anything unmasked.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from opentelemetry.sdk.trace import Event, ReadableSpan, Span
from opentelemetry.trace import Link, SpanContext, Status, TraceState

from agentool_otel.content.masking.credentials import (
    MASK,
    distinct,
    is_secret_value,
    mask_any,
    mask_name,
    mask_value,
    masks,
    value_test,
)
from agentool_otel.content.media.recognition import holds_long_text
from agentool_otel.content.media.replacing import MediaKeeper
from agentool_otel.content.policy import Policy, encode
from agentool_otel.ground.counters import Counter
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.json_codec import loads
from agentool_otel.semconv import agentool, core
from agentool_otel.semconv.foreign import (
    EVENT_KEEPS,
    holds_content,
    holds_object,
    is_content_event,
)
from agentool_otel.semconv.table import NAMED_BY_US, OURS
from agentool_otel.tracing.spans.sdk_spans import is_marked, own_event_class
from agentool_otel.tracing.spans.settings import settings

__all__ = ["Masking"]

_Attributes = Mapping[str, Any]
_REDACTED = frozenset({core.EXCEPTION_MESSAGE, core.EXCEPTION_STACKTRACE})
_DESCRIPTION = "status.description"
"""The name under which `redact` is given a status description."""
_SPAN_NAME, _EVENT_NAME, _ATTRIBUTE_NAME = "span.name", "event.name", "attribute.name"
_SCOPE, _TRACE_STATE = "scope", "trace_state"
"""The names under which it is given what names something, where it is offered everything."""
_CACHED = 256


class Masking:
    """Gives of each span what may leave: the span itself, or a cleaned copy.

    Args:
        policy: the content policy; by default that of the process, which may change.
    """

    def __init__(self, policy: Policy | None = None):
        self._fixed = policy
        self.passed = Counter()
        """Spans and log records that came by."""
        self.changed = 0
        """Of these, how many had something masked or left out here."""
        self.dropped = 0
        """Attributes left out: content that is not wanted, and what could not be cleaned."""
        self._seen: dict[int, tuple[Any, Any, Any]] = {}
        self._captured_anew_ns = 0

    def distrust_open_spans(self) -> None:
        """Look at every span whole that has started by now, though it was masked at capture: that
        was done by a policy which let more pass than the one that follows."""
        self._captured_anew_ns = time.time_ns()

    @property
    def _policy(self) -> Policy:
        return self._fixed or settings.policy

    def counts(self) -> dict[str, int]:
        """Return how much has passed, and how much of it was changed."""
        return {
            "passed": self.passed.value,
            "changed": self.changed,
            "masked_values": self.masked,
            "dropped_attributes": self.dropped,
        }

    @property
    def masked(self) -> int:
        """Values that were masked in this process, at capture or here."""
        return masks.masked

    def __call__(self, span: ReadableSpan) -> ReadableSpan:
        """Return the span, or a copy without forbidden data."""
        self.passed.add()
        try:
            clean = self._span(span)
        except Exception as error:  # attributes of any library: what cannot be read must not leave
            let_through(error)
            self.dropped += len(span.attributes or ())
            clean = _copy(
                span,
                name=_masked_name(span.name) if not self.offers_all else MASK,
                attributes={},
                events=(),
                links=(),
                status=Status(span.status.status_code),
            )
        self.changed += clean is not span
        return clean

    def _span(self, span: ReadableSpan) -> ReadableSpan:
        changes: dict[str, Any] = {}
        name = self.name(_SPAN_NAME, span.name)
        trusted = (span.start_time or 0) >= self._captured_anew_ns
        marked = trusted and is_marked(span)
        # What a name is made of stands among the attributes too.
        if not marked or name != span.name or self.offers_all:
            attributes = self.attributes(span.attributes, None, True, marked)
            _set(changes, "attributes", span.attributes, attributes)
            _set(changes, "name", span.name, name)
        context = span.get_span_context()
        if context is not None and context.trace_state:
            _set(changes, "context", context, self._context(context))
        if span._events:
            _set(changes, "events", span.events, self._events(span.events, trusted))
        if span.status.description:
            text = self.content(_DESCRIPTION, span.status.description)
            if text != span.status.description:
                changes["status"] = Status(span.status.status_code, text)
        if span.links:
            _set(changes, "links", span.links, self._links(span.links))
        resource = self.shared(span.resource)
        _set(changes, "resource", span.resource, resource)
        scope = self.shared(span.instrumentation_scope)
        _set(changes, "instrumentation_scope", span.instrumentation_scope, scope)
        return _copy(span, **changes) if changes else span

    # ----------------------------------------------------------------------------------- parts

    def attributes(
        self,
        attributes: _Attributes | None,
        keeps: Any = None,
        on_span: bool = False,
        marked: bool = False,
    ) -> _Attributes | None:
        """Return attributes without forbidden data; the same object if there is none.

        Args:
            attributes: whoever set them.
            keeps: the names that stay where content is not wanted, if all others hold it.
            on_span: they stand on a span, and spans may be kept free of content.
            marked: whether their content was masked at capture, and offered to `redact`.
        """
        if not attributes:
            return attributes
        policy = self._policy
        wanted = policy.capture and (policy.on_spans or not on_span)
        keeper = self._keeper
        changed: dict[str, Any] = {}
        dropped: list[str] = []
        names: dict[str, str] = {}
        redacted: list[str] = []
        for key, value in attributes.items():
            is_note = key == agentool.CONTENT_REDACTED and isinstance(value, (list, tuple))
            if is_note:
                redacted += map(str, value)
            try:
                content = holds_content(key) if keeps is None else key not in keeps
                if content and not wanted:
                    dropped.append(key)
                    continue
                allowed = value if wanted else self._without_content_members(key, value)
                clean = _mask_value(key, allowed, keeper)
                offered = not is_note and self._is_offered(key, value, content)
                if offered and not (marked and content):
                    before, clean = clean, self._redact(_baseline_name(key), clean)
                    if clean is not before and clean != before:
                        redacted.append(key)
                if clean is None and value is not None:
                    dropped.append(key)
                    continue
                name = self.name(_ATTRIBUTE_NAME, key)
            except Exception as error:  # fail closed: by itself
                let_through(error)
                dropped.append(key)
                continue
            if clean is not value:
                changed[key] = clean
            if name != key:
                names[key] = name
        if not changed and not dropped and not names:
            return attributes
        self.dropped += len(dropped)
        allowed = {key: value for key, value in attributes.items() if key not in dropped}
        if redacted and on_span:
            changed[agentool.CONTENT_REDACTED] = self._names_of(redacted)
            names[agentool.CONTENT_REDACTED] = self.name(_ATTRIBUTE_NAME, agentool.CONTENT_REDACTED)
        return _rename({**allowed, **changed}, names)

    def _names_of(self, keys: list[str]) -> list[str]:
        """Return the names under which attributes leave, in order and each once."""
        return sorted({self.name(_ATTRIBUTE_NAME, key) for key in keys})

    def _without_content_members(self, key: str, value: Any) -> Any:
        """Return the value of an attribute without the members that hold content; None if it is to
        have such members and cannot be read.
        """
        if not holds_object(key):
            return value
        members = _object_in(value)
        return None if members is None else self.without_content(members, value)

    def without_content(self, members: Mapping[str, Any], value: Any = None) -> Any:
        """Return an object without the members that hold content; `value` if it has none."""
        allowed = {key: member for key, member in members.items() if not holds_content(key)}
        self.dropped += len(members) - len(allowed)
        if len(allowed) == len(members):
            return members if value is None else value
        return allowed if value is None or not isinstance(value, str) else encode(allowed)

    @property
    def offers_all(self) -> bool:
        """Return whether `redact` is called for every text, not only for content."""
        policy = self._policy
        return policy.redact_all and policy.redact is not None

    def _is_offered(self, key: str, value: Any, content: bool) -> bool:
        """Return whether `redact` is called for an attribute: for content and texts of exceptions,
        or for every text.
        """
        return content or key in _REDACTED or (self.offers_all and _has_text(value))

    def name(self, kind: str, name: str) -> str:
        """Return a name without credentials, and changed by `redact` if that is called for
        everything. A name that it leaves out is masked: nothing can be without a name.

        Args:
            kind: the name under which `redact` is given it.
            name: the text.
        """
        clean = _masked_name(name)
        if not self.offers_all:
            return clean
        redacted = self._redact(kind, clean)
        return redacted if isinstance(redacted, str) else MASK

    def _events(self, events: Sequence[Event], trusted: bool) -> Sequence[Event]:
        """Return events without forbidden data.

        Args:
            events: whoever added them.
            trusted: whether the policy in force is the one that our own were captured under.
        """
        own_class = own_event_class() if trusted else None
        if not self.offers_all and set(map(type, events)) == {own_class}:
            return events
        clean = [self._event(event, type(event) is own_class) for event in events]
        if all(after is event for after, event in zip(clean, events, strict=True)):
            return events
        return tuple(clean)

    def _event(self, event: Event, ours: bool) -> Event:
        if ours and not self.offers_all:
            return event
        keeps = EVENT_KEEPS if is_content_event(event.name) else None
        attributes = self.attributes(event.attributes, keeps, True, ours)
        name = self.name(_EVENT_NAME, event.name)
        if attributes is event.attributes and name == event.name:
            return event
        return Event(name, attributes, event.timestamp)

    def _links(self, links: Sequence[Link]) -> Sequence[Link]:
        clean = [self._link(link) for link in links]
        if all(after is link for after, link in zip(clean, links, strict=True)):
            return links
        return tuple(clean)

    def _link(self, link: Link) -> Link:
        attributes = self.attributes(link.attributes, None, True)
        context = self._context(link.context)
        if attributes is link.attributes and context is link.context:
            return link
        return Link(context, attributes)

    def _context(self, context: SpanContext) -> SpanContext:
        """Return a context without credentials in its trace state, which loses masked entries: a
        part of a vendor's entry is of no use.
        """
        state = context.trace_state
        entries = [(key, value) for key, value in state.items() if self._is_clean(f"{key}={value}")]
        if len(entries) == len(state):
            return context
        return SpanContext(
            context.trace_id,
            context.span_id,
            context.is_remote,
            context.trace_flags,
            TraceState(entries),
        )

    def _is_clean(self, entry: str) -> bool:
        return self.name(_TRACE_STATE, entry) == entry

    def shared(self, shared: Any) -> Any:
        """Return a resource or scope; looked at once, as it belongs to thousands of spans."""
        masked = self._seen.get(id(shared))
        if masked is not None and masked[0] is shared and masked[1] is self._policy:
            return masked[2]
        if len(self._seen) >= _CACHED:
            self._seen.clear()
        changes = self._changes_of(shared)
        clean = shared
        if changes:
            clean = copy.copy(shared)
            for field, value in changes.items():
                setattr(clean, field, value)
        self._seen[id(shared)] = (shared, self._policy, clean)
        return clean

    def _changes_of(self, shared: Any) -> dict[str, Any]:
        """Return the fields of a resource or scope that must not leave as they are."""
        changes: dict[str, Any] = {}
        before = getattr(shared, "attributes", None)
        after = self.attributes(before)
        if after is not before:
            changes["_attributes"] = after
        for field in ("_name", "_version", "_schema_url"):
            text = getattr(shared, field, None)
            if isinstance(text, str) and text and (clean := self.name(_SCOPE, text)) != text:
                changes[field] = clean
        return changes

    def content(self, name: str, value: Any) -> Any:
        """Return content outside of attributes without credentials and changed by `redact`; None if
        nothing is left. The same object if nothing changed.
        """
        return self._redact(name, _mask_value("", value, self._keeper))

    @property
    def wants_content(self) -> bool:
        return self._policy.capture

    @property
    def _keeper(self) -> MediaKeeper | None:
        """Return what replaces media before `redact` is called; None where it is: it gets whole
        texts.
        """
        policy = self._policy
        if policy.redact is not None:
            return None
        return MediaKeeper(policy.store if policy.capture else None)

    def _redact(self, name: str, clean: Any) -> Any:
        policy = self._policy
        if policy.redact is None or clean is None:
            return clean
        if isinstance(clean, str):
            text = policy.redacted(name, clean)
            text = None if text is None else MediaKeeper(policy.store).text(text)
            return clean if text == clean else text
        text = policy.redacted(name, encode(clean))
        try:
            return None if text is None else loads(text)
        except ValueError:
            return text


def _baseline_name(key: str) -> str:
    """The name under which `redact` knows an attribute, whichever generation is written."""
    return key.removeprefix(OURS) if key.startswith(NAMED_BY_US) else key


def _mask_value(key: str, value: Any, keeper: MediaKeeper | None) -> Any:
    """Return an attribute's value without media and credentials; the same object if it held
    none.
    """
    judge = value_test(key)
    if judge is not None and is_secret_value(_readable(value), judge):
        masks.masked += 1
        return MASK
    if keeper is not None and holds_long_text(value):
        value = keeper.value(value)
    if isinstance(value, str):
        clean = mask_any(value)
        return value if clean == value else clean
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
        return value if mask_any(text) == text else MASK
    clean, changed = mask_value(_thaw(value))
    return clean if changed else value


def _readable(value: Any) -> Any:
    """Return an attribute's value as JSON has it, bytes as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _thaw(value)


def _object_in(value: Any) -> Mapping[str, Any] | None:
    """Return the object that an attribute holds, as such or as JSON text; None for anything
    else."""
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            return None
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def _has_text(value: Any) -> bool:
    return isinstance(value, str) or (
        value is not None and not isinstance(value, (bool, int, float, bytes))
    )


def _rename(attributes: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return attributes under other names, each under one of its own."""
    if not names:
        return attributes
    renamed: dict[str, Any] = {}
    for key, value in attributes.items():
        renamed[distinct(names.get(key, key), renamed)] = value
    return renamed


def _thaw(value: Any) -> Any:
    """A structured attribute as plain lists and dicts that may be changed."""
    if isinstance(value, Mapping):
        return {key: _thaw(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_thaw(inner) for inner in value]
    return value


def _set(changes: dict[str, Any], name: str, before: Any, after: Any) -> None:
    if after is not before and after != before:
        changes[name] = after


def _masked_name(name: object) -> str:
    """Return a name without credentials; of an object that a program has set instead of a text the
    name of its type."""
    return mask_name(name if isinstance(name, str) else f"<{type(name).__qualname__}>")


def _copy(span: ReadableSpan, **changes: Any) -> ReadableSpan:
    """Return a copy of a span with parts replaced; the counts of dropped items stay.

    An open span is copied as if it had ended: nothing is set on the span itself, which its program
    goes on writing to.
    Source: opentelemetry-sdk 1.30 to 1.45, `Span`, `BoundedAttributes`, `BoundedList`.
    """
    if isinstance(span, Span):
        span = span._readable_span()
    copied = copy.copy(span)
    for name, value in changes.items():
        container = getattr(span, f"_{name}")
        attribute = next((name for name in ("_dict", "_dq") if hasattr(container, name)), None)
        if attribute is not None and container.dropped:
            bounded = copy.copy(container)
            setattr(bounded, attribute, type(getattr(container, attribute))(value))
            value = bounded
        setattr(copied, f"_{name}", value)
    return copied
