"""The content of calls: whether it is captured, how it becomes text, and which parts are masked.

Arguments, results, messages and memory text are *content*. `Policy.capture` is the one decision
about them; `encode` is the one way they become attribute text. Credential-shaped keys and values
are masked here, before the text reaches a span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
import orjson

from agentool_otel.content.encoding.encoder import (
    MIDDLE,
    as_text,
    encode,
    encode_known,
    is_plain,
    jsonable,
)
from agentool_otel.content.fitting.fitter import NO_CUTS, SIZES, Cut, Sizes, Store, fit
from agentool_otel.content.masking.credentials import (
    HARMLESS,
    MASK,
    mask_name,
    mask_text,
    masked,
)
from agentool_otel.content.media.recognition import LEAST, holds_long_text, may_hold
from agentool_otel.content.media.replacing import MediaKeeper, bytes_as_text
from agentool_otel.ground import environment
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.model.operations import Operation
from agentool_otel.semconv.agentool import CONTENT_REDACTED, FORMS
from agentool_otel.semconv.table import CONTENT

__all__ = [
    "MASK",
    "Places",
    "Policy",
    "Redact",
    "as_text",
    "clean_start",
    "encode",
    "jsonable",
    "label",
    "mask_text",
    "masked",
    "masked_description",
    "note_redacted",
    "places",
    "requested",
    "span_name",
]

_log = logger(__name__)

Redact = Callable[[str, str], "str | None"]
"""A user's hook: attribute name and text in, text out, or None to leave the attribute out."""


class Places(NamedTuple):
    """Destinations of captured content."""

    spans: bool
    events: bool


ON_SPANS = Places(spans=True, events=False)
_MODES: dict[str, Places | None] = {
    "SPAN_ONLY": ON_SPANS,
    "EVENT_ONLY": Places(spans=False, events=True),
    "SPAN_AND_EVENT": Places(spans=True, events=True),
    "NO_CONTENT": None,
    "TRUE": ON_SPANS,
    "1": ON_SPANS,
    "FALSE": None,
    "0": None,
}


def requested(environ: Mapping[str, str]) -> bool | None:
    """Return whether the environment enables the capture of content; None if it is not set."""
    if not environment.is_set(environment.CAPTURE, environ):
        return None
    instead = "content is not captured"
    return environment.usable(environment.CAPTURE, _mode, None, environ, instead) is not None


def _mode(text: str) -> Places | None:
    if text.upper() not in _MODES:
        raise ValueError(
            "is not a capture mode: use SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT or NO_CONTENT"
        )
    return _MODES[text.upper()]


def places(environ: Mapping[str, str]) -> Places:
    """Return the destinations of content that the environment sets: spans by default."""
    return _MODES.get(environment.value(environment.CAPTURE, environ).upper()) or ON_SPANS


def label(value: Any) -> str:
    """Return the name of a thing (a session, a key, an agent) as short text without credentials."""
    plain = value if type(value) is str else jsonable(value)  # a UUID's text, not its JSON
    name = mask_text(as_text(plain))
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


_LONGEST_NAME = 256


def span_name(name: str) -> str:
    """Return the name of a span without credentials, and not longer than anybody reads."""
    clean = mask_name(name)
    return clean if len(clean) <= _LONGEST_SPAN_NAME else f"{clean[:_LONGEST_SPAN_NAME]}…"


_LONGEST_SPAN_NAME = 512


def clean_names(attributes: dict[str, Any]) -> None:
    """Mask the credentials in attributes that are no content, in place: names, ids, descriptions.

    Frameworks, and models that requests tools, put into them what they like.
    """
    for key, value in attributes.items():
        if type(value) is str:
            if value not in HARMLESS and key not in CONTENT:
                attributes[key] = _clean_name(key, value)
        elif type(value) is list and any(
            type(item) is str and item not in HARMLESS for item in value
        ):
            attributes[key] = [mask_name(item) if type(item) is str else item for item in value]


def clean_start(attributes: dict[str, Any]) -> None:
    """Mask the attributes that a span starts with, and take its content off, in place: content is
    cleaned and set by itself.
    """
    if not CONTENT.isdisjoint(attributes):
        for key in CONTENT & attributes.keys():
            del attributes[key]
    clean_names(attributes)


def _clean_name(key: str, value: str) -> str:
    if value.startswith(("{", "[")):
        return masked(value)  # facts, which stay JSON
    # An id does not come again, so that it is not worth remembering.
    return mask_text(value) if key.endswith(".id") else mask_name(value)


def masked_description(text: str | None) -> str | None:
    """Return the description of a tool or an agent without credentials."""
    return None if text is None else mask_text(text)


def note_redacted(attributes: dict[str, Any], names: Iterable[str]) -> None:
    """Note, among the attributes of a span or event, which of them `redact` has changed."""
    before = attributes.get(CONTENT_REDACTED) or ()
    attributes[CONTENT_REDACTED] = sorted({*before, *names})


_WITH_MEDIA = (
    *("input", "output", "system", "arguments", "result", "content", "documents", "records"),
    "results",
)
"""Fields of operations that may have media in them."""


def _may_hold_media(value: Any) -> bool:
    """Return whether the value of an operation's field has a long text. Each model call comes
    through here with its whole history, most of which is parts that are only text.
    """
    if type(value) is not list:
        return holds_long_text(value)
    for message in value:
        parts = message.get("parts") if type(message) is dict else None
        if type(parts) is not list or len(message) > _MEMBERS:
            return holds_long_text(value)
        for part in parts:
            content = part.get("content") if type(part) is dict and len(part) == 2 else None
            if len(content) >= LEAST if type(content) is str else holds_long_text(part):
                return True
    return False


_MEMBERS = 4
"""Members of a message: role, parts, name, finish reason."""


class Policy(msgspec.Struct, frozen=True):
    """Rules for captured content in this process."""

    capture: bool = False
    on_spans: bool = True
    """Whether content is set on spans."""
    in_events: bool = False
    """Whether content is emitted in events of its own."""
    redact: Redact | None = None
    redact_all: bool = False
    """Whether `redact` receives every text that leaves the process, names included."""
    sizes: Sizes = SIZES
    store: Store | None = None
    """Storage for texts that are too large for an attribute."""

    def keep_off(self, attributes: dict[str, Any]) -> None:
        """Take the content off the attributes of a span, in place, if spans are to have none."""
        if not self.on_spans:
            for key in CONTENT & attributes.keys():
                del attributes[key]

    def fit(
        self, attributes: dict[str, Any], before: Mapping[str, Cut] = NO_CUTS
    ) -> Mapping[str, Cut]:
        """Shorten large attributes of a span or event in place; return the cuts, and keep those in
        `before`.
        """
        return fit(attributes, self.sizes, self.store, before)

    def encoded(self, attribute: str, value: Any, redacted: list[str] | None = None) -> str | None:
        """Return a user's value as the text of a content attribute: encoded, masked, redacted.

        None if it is not captured or `redact` leaves it out.

        Args:
            attribute: its name.
            value: the user's value.
            redacted: takes the name if `redact` changes the text or leaves it out.
        """
        if not self.capture:
            return None
        text: str | None = None
        if is_plain(value, MIDDLE):
            with suppress(TypeError):  # lone surrogates, integers above 64 bits
                text = orjson.dumps(value).decode()
        if text is None or (len(text) >= LEAST and may_hold(text)):
            text = self._encoded_slowly(value)
        text = masked(text)
        if self.redact is None:
            return text
        changed = self.redacted(attribute, text)
        if redacted is not None and changed != text:
            redacted.append(attribute)
        return changed if changed is None else MediaKeeper(self.store).text(changed)

    def _encoded_slowly(self, value: Any) -> str:
        """Return the text of a value that is large, not plain JSON, or may have media. Media are
        replaced, unless a hook is to have them.
        """
        keeper, plain = self.media, is_plain(value)
        if keeper is not None and plain and holds_long_text(value):
            value = keeper.value(value)
        text = encode_known(value, plain, keeper=keeper)
        return text if keeper is None else keeper.text(text)

    def without_media(self, operation: Operation) -> Operation:
        """Return an operation with marks in place of the media in its content."""
        changed: dict[str, Any] = {}
        for name in _WITH_MEDIA:
            value = getattr(operation, name, None)
            if value is not None and _may_hold_media(value):
                keeper = self.media
                clean = bytes_as_text(value) if keeper is None else keeper.value(value)
                if clean is not value:
                    changed[name] = clean
        return msgspec.structs.replace(operation, **changed) if changed else operation

    @property
    def media(self) -> MediaKeeper | None:
        """Return what replaces media before they are encoded; None where content is not captured,
        or `redact` is called: it gets whole texts.
        """
        if not self.capture or self.redact is not None:
            return None
        return MediaKeeper(self.store)

    def clean(self, attributes: dict[str, Any]) -> None:
        """Drop, mask or redact the content among attributes, and mask the others, in place.

        A `redact` hook that raises costs the attribute, never the span, and never leaks.
        """
        for key in CONTENT & attributes.keys():
            self.clean_one(attributes, key)
        clean_names(attributes)
        if not self.capture:
            for key in FORMS:
                attributes.pop(key, None)

    def clean_one(self, attributes: dict[str, Any], key: str) -> None:
        """The same for one attribute that is there."""
        if not self.capture:
            del attributes[key]
            return
        value = attributes[key]
        if isinstance(value, list):
            attributes[key] = self._clean_texts(attributes, key, value)
        if not isinstance(value, str):
            return
        if self.redact is None:
            if len(value) >= LEAST:
                value = MediaKeeper(self.store).text(value)
            attributes[key] = masked(value)
            return
        text = attributes[key] = masked(value)
        changed = self.redacted(key, text)
        if changed != text:
            note_redacted(attributes, (key,))
        if changed is None:
            del attributes[key]
        else:
            attributes[key] = MediaKeeper(self.store).text(changed)

    def _clean_texts(self, attributes: dict[str, Any], key: str, texts: list[Any]) -> list[Any]:
        """Mask or redact each text of a list; leave those out that `redact` leaves out."""
        if self.redact is None:
            keeper = MediaKeeper(self.store)
            return [masked(keeper.text(text)) if isinstance(text, str) else text for text in texts]
        clean = [masked(text) if isinstance(text, str) else text for text in texts]
        redacted = [self.redacted(key, text) if isinstance(text, str) else text for text in clean]
        if redacted != clean:
            note_redacted(attributes, (key,))
        return [text for text in redacted if text is not None]

    def redacted(self, attribute: str, text: str) -> str | None:
        assert self.redact is not None
        try:
            changed = self.redact(attribute, text)
        except Exception as error:  # the user's hook: whatever it raises, content must not leave
            let_through(error)
            _log.warning("redact raised on %s: the attribute is left out", attribute)
            return None
        return changed if isinstance(changed, str) else None
