"""Credentials in texts: how they are told and taken out.

Two things give one away: the name it stands under, and the shape of the text itself. Nothing runs
an expression over a whole payload: names of members are cut out of the text and looked up among
those known to be harmless, names before other separators are told by a few words
(`_assignments.py`), shapes are looked for by the few characters they begin with.
"""

from __future__ import annotations

import re
from typing import Any

from agentool_otel._json import dumps, loads
from agentool_otel.emit._assignments import assigned, assigns, assigns_in_json
from agentool_otel.emit._secret_names import has_word, names_secret
from agentool_otel.semconv.marks import MASK

__all__ = [
    "HARMLESS",
    "MASK",
    "NAMES",
    "harmless",
    "holds_secret",
    "mask_any",
    "mask_text",
    "masked",
    "masks",
    "names_secret",
    "suspicious",
]

HARMLESS: set[str] = set()
"""Member names seen before that name no credential, and sets of them, as `NAMES` gives them. Less
than 3 MB: `_KNOWN` texts at most, of the longest `_LONGEST_SHAPE` characters."""
_KNOWN = 4096
_LONGEST_SHAPE = 512
_LONGEST_NAME = 64

NAMES = "\0".join
"""The names of a mapping's members as one text, read without calling the hash of a user's class."""

_TOKEN = r"[A-Za-z0-9_\-]"
_SHAPES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("sk-",), rf"\bsk-{_TOKEN}{{16,}}"),
    (("sk_live_", "sk_test_", "rk_live_"), r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    (("AKIA", "ASIA"), r"\bA[KS]IA[0-9A-Z]{16}\b"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    (("github_pat_",), r"\bgithub_pat_\w{20,}"),
    (("glpat-",), rf"\bglpat-{_TOKEN}{{16,}}"),
    (("xox",), r"\bxox[abeprs]-[A-Za-z0-9\-]{10,}"),
    (("AIza",), rf"\bAIza{_TOKEN}{{30,}}"),
    (("hf_",), r"\bhf_[A-Za-z0-9]{20,}"),
    (("eyJ",), rf"\beyJ{_TOKEN}{{10,}}\.{_TOKEN}{{10,}}\.{_TOKEN}+"),
    (("earer ",), r"(?<=[Bb]earer )[A-Za-z0-9_\-.=+/~]{8,}"),
    (("Basic ",), r"(?<=Basic )[A-Za-z0-9+/]{12,}={0,2}"),
    (("://",), r"(?<=://)[^\s/:@\"'\\]*:[^\s/@\"'\\]+(?=@)"),
    (
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    ),
)
"""What a shape begins with, and the whole of it."""
_STARTS = tuple((start, re.compile(shape)) for starts, shape in _SHAPES for start in starts)
_BEFORE = len("-----BEGIN ENCRYPTED ")
_LONGEST = 8192
"""Characters in which a credential is expected to end."""


class _Count:
    __slots__ = ("masked",)

    def __init__(self) -> None:
        self.masked = 0
        """Values that were masked in this process."""


masks = _Count()


def harmless(members: dict[str, Any]) -> bool:
    """Whether no member has a name that says credential. Records come in shapes: once found
    harmless, `NAMES` of one is in `HARMLESS`.

    Raises:
        TypeError: if a name is no text.
    """
    shape = NAMES(members)
    if len(shape) > _LARGE:
        return not has_word(shape)
    names = set(shape.split("\0"))
    if not HARMLESS.issuperset(names) and _new_secret(names):
        return False
    if len(shape) <= _LONGEST_SHAPE:
        _remember({shape})
    return True


def suspicious(text: str) -> bool:
    """A cheap look at JSON text before the expensive one: may it hold a credential?

    It stands on the path of every traced call. Splitting at the end of member names and looking
    those up costs a fifth of searching the text for every word that names a credential.
    """
    if len(text) > _LARGE and not has_word(text):
        return holds_secret_value(text)
    before = text.split('":')
    before.pop()  # behind the last one is no name: that part of a payload is new every time
    names = {part[part.rfind('"') + 1 :] for part in before}
    if not HARMLESS.issuperset(names) and _new_secret(names):
        return True
    return holds_secret_value(text) or assigns_in_json(text, ours=False)


def holds_secret(text: str) -> bool:
    """The same of JSON text of ours whose own member names are known to be harmless."""
    return holds_secret_value(text) or assigns_in_json(text, ours=True)


def holds_secret_value(text: str) -> bool:
    """Whether a text has the beginning of something of the shape of a credential.

    A single character is found twenty times as fast as several.
    """
    return (
        ("-" in text and _holds_dashed(text))
        or ("J" in text and "eyJ" in text)
        or ("A" in text and ("AKIA" in text or "ASIA" in text or "AIza" in text))
        or ("_" in text and _holds_underscored(text))
        or ("b" in text and "bearer " in text)
        or ("B" in text and ("Bearer " in text or "Basic " in text))
        or ("@" in text and "://" in text)
    )


def _holds_dashed(text: str) -> bool:
    return "sk-" in text or "xox" in text or "glpat-" in text or "PRIVATE KEY-----" in text


def _holds_underscored(text: str) -> bool:
    return (
        "hf_" in text
        or "_live_" in text
        or "_test_" in text
        or "_pat_" in text
        or ("gh" in text and any(f"gh{c}_" in text for c in "pousr"))
    )


def _new_secret(names: set[str]) -> bool:
    """Look at member names not seen before, and remember the harmless ones."""
    new = names - HARMLESS
    if has_word(NAMES(new)):
        for name in new:
            if len(name) <= _LONGEST_NAME and names_secret(name):
                return True
    _remember({name for name in new if len(name) <= _LONGEST_NAME})
    return False


def _remember(names: set[str]) -> None:
    """Add to `HARMLESS`; where that is full, forget the rest. Some payloads have member names that
    never come again, such as ids, and those must not keep out the ones that do."""
    if len(names) > _KNOWN:
        return
    if len(HARMLESS) + len(names) > _KNOWN:
        HARMLESS.clear()
    HARMLESS.update(names)


_LARGE = 16_384
"""Characters from which it is looked for the words first: a payload of records has many names."""


def masked(text: str) -> str:
    """Mask the credentials in JSON text."""
    return mask_json(text) if suspicious(text) else text


def mask_text(text: str) -> str:
    """Mask the credentials in plain text: an error's message, a stack trace, a URL."""
    if holds_secret_value(text):
        text = _without_values(text)
    return _cut(text, assigned(text)) if assigns(text) else text


def mask_any(text: str) -> str:
    """Mask the credentials in a text that may be JSON."""
    return masked(text) if text[:1] in ("{", "[") else mask_text(text)


def mask_json(text: str) -> str:
    """Mask JSON text that is suspicious; what is not JSON after all as the plain text it is."""
    try:
        value = loads(text)
    except ValueError:
        return mask_text(text)
    before = masks.masked
    clean = mask_value(value)
    return dumps(clean) if masks.masked != before else text


def mask_value(root: Any) -> Any:
    """Mask a JSON value in place, without recursion, and return it."""
    holder = [root]
    pending: list[Any] = [holder]
    while pending:
        container = pending.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in list(items):
            if isinstance(key, str) and names_secret(key) and _can_be_secret(value):
                container[key] = MASK
                masks.masked += 1
            elif isinstance(value, str):
                if value[:1] in ("{", "[") and suspicious(value):
                    container[key] = mask_json(value)
                else:
                    clean = mask_text(value)
                    if clean != value:
                        container[key] = clean
            elif isinstance(value, (dict, list)):
                pending.append(value)
    return holder[0]


def _can_be_secret(value: Any) -> bool:
    """Not what says that there is none, and not the objects in which schemas describe one."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str) for item in value)
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value not in ("", MASK)


def _without_values(text: str) -> str:
    """Take out everything of the shape of a credential, looking only where one may begin."""
    found: list[tuple[int, int]] = []
    for start, shape in _STARTS:
        at = text.find(start)
        while at >= 0:
            match = shape.search(text, max(0, at - _BEFORE), at + _LONGEST)
            if match is not None:
                found.append(match.span())
                at = max(at, match.end() - 1)
            at = text.find(start, at + 1)
    return _cut(text, found)


def _cut(text: str, found: list[tuple[int, int]]) -> str:
    """Put the mask where something was found."""
    if not found:
        return text
    pieces: list[str] = []
    end = 0
    for begins, ends in sorted(found):
        if ends <= end:
            continue
        if begins >= end:
            pieces += text[end:begins], MASK
            masks.masked += 1
        end = ends
    return "".join((*pieces, text[end:]))
