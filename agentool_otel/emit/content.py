"""The content of calls: whether it is captured, how it becomes text, and which parts are masked.

Arguments, results, messages and memory text are *content*. `Policy.capture` is the one decision
about them; `encode` is the one way they become attribute text. Credential-shaped keys and values
are masked here, before the text reaches a span.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import orjson

from agentool_otel._json import dumps, loads
from agentool_otel.semconv.table import CONTENT

__all__ = [
    "CAPTURE_VARIABLE",
    "MASK",
    "Policy",
    "Redact",
    "encode",
    "jsonable",
    "mask_text",
    "masked",
    "requested",
]

_log = logging.getLogger(__name__)

CAPTURE_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Spec: GenAI conventions; the older generation's `true` and `false` are accepted too."""

MASK = "[masked]"

Redact = Callable[[str, str], "str | None"]
"""A user's hook: attribute name and text in, text out, or None to leave the attribute out."""

_MODES = {
    "SPAN_ONLY": True,
    "SPAN_AND_EVENT": True,
    "TRUE": True,
    "1": True,
    "NO_CONTENT": False,
    "EVENT_ONLY": False,
    "FALSE": False,
    "0": False,
}


def requested(environ: Mapping[str, str]) -> bool | None:
    """Return what the environment says about content on spans, None where it says nothing."""
    text = environ.get(CAPTURE_VARIABLE, "").strip()
    if not text:
        return None
    mode = _MODES.get(text.upper())
    if mode is None:
        _log.warning(
            "%s=%s is not a capture mode: content is not captured; use SPAN_ONLY or NO_CONTENT",
            CAPTURE_VARIABLE,
            text,
        )
        return False
    if text.upper() == "EVENT_ONLY":
        _log.warning(
            "%s=EVENT_ONLY: content goes to span attributes or nowhere; it is not captured",
            CAPTURE_VARIABLE,
        )
    return mode


class Policy(msgspec.Struct, frozen=True):
    """What happens to content in this process."""

    capture: bool = False
    redact: Redact | None = None

    def encoded(self, attribute: str, value: Any) -> str | None:
        """Return a user's value as the text of a content attribute: encoded, masked, redacted.

        None where it is not captured or `redact` leaves it out.
        """
        if not self.capture:
            return None
        text = encode(value)
        if not _plainly_safe(value, text) and _suspicious(text):
            text = _mask_json(text)
        return text if self.redact is None else self.redacted(attribute, text)

    def clean(self, attributes: dict[str, Any]) -> None:
        """Drop, mask or redact the content among attributes, in place.

        A `redact` hook that raises costs the attribute, never the span, and never leaks.
        """
        for key in CONTENT & attributes.keys():
            self.clean_one(attributes, key)

    def clean_one(self, attributes: dict[str, Any], key: str) -> None:
        """The same for one attribute that is there."""
        if not self.capture:
            del attributes[key]
            return
        text = attributes[key]
        if not isinstance(text, str):
            return
        text = attributes[key] = masked(text)
        if self.redact is not None:
            changed = self.redacted(key, text)
            if changed is None:
                del attributes[key]
            else:
                attributes[key] = changed

    def redacted(self, attribute: str, text: str) -> str | None:
        assert self.redact is not None
        try:
            changed = self.redact(attribute, text)
        except Exception:  # the user's hook: whatever it raises, the content must not leave
            _log.warning("redact raised on %s: the attribute is left out", attribute)
            return None
        return changed if isinstance(changed, str) else None


def encode(value: Any) -> str:
    """Return a user's value as JSON text. Never raises, never changes the value.

    What JSON has no form for appears as its text form; what has not even that, as its type.
    """
    try:
        return orjson.dumps(value, default=_default).decode()
    except Exception:  # values of the user: their attributes and iterators can raise anything
        return _encode_odd(value)


def jsonable(value: Any) -> Any:
    """Return a user's value as a plain JSON value, a copy that later changes cannot reach."""
    return loads(encode(value))


def _encode_odd(value: Any) -> str:
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    try:
        return orjson.dumps(value, default=_default, option=options).decode()
    except Exception:
        try:
            return dumps(value)
        except Exception:
            return dumps(_shown(value))


def _default(value: Any) -> Any:
    """JSON form of what orjson does not know; called by orjson, so it must not raise."""
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, tuple):  # a NamedTuple
        return list(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if isinstance(value, Mapping):
        return dict(value)
    for method in ("model_dump", "to_dict"):
        dump = getattr(type(value), method, None)
        if callable(dump):
            try:
                return dump(value)
            except Exception:
                break
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return _shown(value)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        return f"<{type(value).__qualname__} object>"
    if len(text) > 2000:
        text = f"{text[:2000]}... ({len(text)} characters)"
    return text.encode("utf-8", "replace").decode()


# ------------------------------------------------------------------------------------- masking

_SECRET_KEY = re.compile(
    r"(?:^|[_\-.])(?:api[_\-]?key|apikey|access[_\-]?key|secret(?:[_\-]?key)?|private[_\-]?key|"
    r"(?:access|auth|refresh|bearer|id|session|api)[_\-]?token|password|passwd|passphrase|"
    r"client[_\-]?secret|credentials?|authorization|set-cookie|cookie)$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_VALUE = re.compile(
    r"\b(?:sk-(?:[A-Za-z]+-)?[A-Za-z0-9_\-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|"
    r"xox[abprs]-[A-Za-z0-9\-]{10,}|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]+)"
    r"|(?<=[Bb]earer )[A-Za-z0-9_\-.=+/]{8,}"
)


_KEYS = 4096
_WALK = 64
_SCALARS = frozenset({str, int, float, bool, type(None)})
_safe_keys: set[str] = set()
"""Member names seen before that name no credential; bounded by `_KEYS`."""


def _suspicious(text: str) -> bool:
    """A cheap look before the expensive one: nothing is parsed unless it may hold a credential.

    It stands on the path of every traced call. Splitting at the end of member names and looking
    those up costs a fifth of searching the text for every word that names a credential.
    """
    keys = {part[part.rfind('"') + 1 :] for part in text.split('":')}
    if not _safe_keys.issuperset(keys) and _new_secret(keys):
        return True
    return _holds_secret_value(text)


def _plainly_safe(value: Any, text: str) -> bool:
    """The same look at a value of plain lists and dicts, whose member names are looked up where
    they are instead of being cut out of the text; False where the text has to be looked at."""
    pending = [value]
    for _ in range(_WALK):
        if not pending:
            return not _holds_secret_value(text)
        item = pending.pop()
        kind = type(item)
        if kind is dict:
            if not _safe_keys.issuperset(item):
                return False
            for inner in item.values():
                if type(inner) not in _SCALARS:
                    pending.append(inner)
        elif kind is list:
            for inner in item:
                if type(inner) not in _SCALARS:
                    pending.append(inner)
        elif kind not in _SCALARS:
            return False
    return False


def _holds_secret_value(text: str) -> bool:
    return (
        ("-" in text and ("sk-" in text or "xox" in text))
        or ("J" in text and "eyJ" in text)
        or ("K" in text and "AKIA" in text)
        or ("_" in text and "gh" in text and any(f"gh{c}_" in text for c in "pousr"))
        or "earer " in text
    )


def _new_secret(keys: set[str]) -> bool:
    """Look at member names not seen before, and remember the harmless ones."""
    for key in keys - _safe_keys:
        if len(key) <= 64:
            if _names_secret(key):
                return True
            if len(_safe_keys) < _KEYS:
                _safe_keys.add(key)
    return False


def masked(text: str) -> str:
    """Mask the credentials in JSON text; for what is not content but still the user's."""
    return _mask_json(text) if _suspicious(text) else text


def mask_text(text: str) -> str:
    """Mask credential-shaped values in plain text."""
    return _SECRET_VALUE.sub(MASK, text) if _suspicious(text) else text


def _mask_json(text: str) -> str:
    try:
        value = loads(text)
    except ValueError:
        return mask_text(text)
    changed, clean = _masked(value)
    return dumps(clean) if changed else text


def _masked(root: Any) -> tuple[bool, Any]:
    """Mask a JSON value in place, without recursion; tell whether anything changed."""
    changed = False
    holder = [root]
    open_values: list[Any] = [holder]
    while open_values:
        container = open_values.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in list(items):
            if isinstance(key, str) and _names_secret(key) and isinstance(value, (str, int)):
                if value not in ("", None) and not isinstance(value, bool):
                    container[key], changed = MASK, True
            elif isinstance(value, str):
                clean = _SECRET_VALUE.sub(MASK, value)
                if clean != value:
                    container[key], changed = clean, True
            elif isinstance(value, (dict, list)):
                open_values.append(value)
    return changed, holder[0]


def _names_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None
