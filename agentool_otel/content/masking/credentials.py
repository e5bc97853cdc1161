"""Credentials in texts: how they are recognised and taken out.

Two things give one away: its name, and the shape of the text itself. No expression
is tried at every place of a payload: names of members are cut out of the text and looked up among
those known to be harmless, names before other separators are recognised by a few words
(`assignments.py`, `grammars.py`), shapes by the few characters they begin with
(`credential_shapes.py`).

The text is anybody's, and the time is that of the user's call: whatever it is, it is read a fixed
number of times.

Before any of this, `prefilter` looks at the text once where its engine is installed: most texts
have nothing in them that the search below could mask.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from agentool_otel.content.masking.assignments import assigns, find_assignments
from agentool_otel.content.masking.command_lines import in_arguments
from agentool_otel.content.masking.credential_shapes import find_shapes
from agentool_otel.content.masking.grammars import (
    PRIVATE_MEMBERS,
    find_introduced,
    may_introduce,
)
from agentool_otel.content.masking.prefilter.look import is_loaded, sees
from agentool_otel.content.masking.references import refers
from agentool_otel.content.masking.secret_names import (
    ValueTest,
    anything,
    has_word,
    is_no_words,
    looks_random,
    names_secret,
    value_test,
)
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.semconv.marks import MASK

__all__ = [
    "HARMLESS",
    "MASK",
    "NAMES",
    "distinct",
    "harmless",
    "is_secret_value",
    "mask_any",
    "mask_name",
    "mask_text",
    "masked",
    "masks",
    "names_secret",
    "prepare",
    "value_test",
]

HARMLESS: set[str] = set()
"""Member names seen before that name no credential, and sets of them, as `NAMES` gives them. Less
than 3 MB: `_KNOWN` texts at most, of the longest `_LONGEST_SHAPE` characters."""
_BESIDE = frozenset(("args", "value", "Value"))
"""Members whose value another member may name."""
_KNOWN = 4096
_LONGEST_SHAPE = 512
_LONGEST_NAME = 64

NAMES = "\0".join
"""The names of a mapping's members as one text, read without calling the hash of a user's class."""


class _Count:
    __slots__ = ("masked",)

    def __init__(self) -> None:
        self.masked = 0
        """Values that were masked in this process."""


masks = _Count()


def harmless(members: dict[str, Any]) -> bool:
    """Return whether no member has the name of a credential, or may hold one that another member
    names. Records repeat their shapes: once a shape is found harmless, `NAMES` of one is in
    `HARMLESS`.

    Raises:
        TypeError: if a name is not text.
    """
    shape = NAMES(members)
    if len(shape) > _LARGE:
        return not (has_word(shape) or find_shapes(shape) or "args" in shape or "alue" in shape)
    names = set(shape.split("\0"))
    if not _BESIDE.isdisjoint(names) or (not HARMLESS.issuperset(names) and _new_secret(names)):
        return False
    if len(shape) <= _LONGEST_SHAPE:
        _remember({shape})
    return True


def _new_secret(names: set[str]) -> bool:
    """Check new member names, and remember the harmless ones: those that neither name a credential
    nor contain one.
    """
    new = names - HARMLESS
    together = NAMES(new)
    if has_word(together) and any(names_secret(name) or find_assignments(name) for name in new):
        return True
    if find_shapes(together):
        return True
    _remember({name for name in new if len(name) <= _LONGEST_NAME})
    return False


def _remember(names: set[str]) -> None:
    """Add to `HARMLESS`, or clear it first if it is full. Some payloads have names that are used
    once, such as ids, and those must not displace the others.
    """
    if len(names) > _KNOWN:
        return
    if len(HARMLESS) + len(names) > _KNOWN:
        HARMLESS.clear()
    HARMLESS.update(names)


_LARGE = 16_384
"""Characters from which names are not looked up: a payload of records has many."""


_PREPARING = 'it\'s 1-a_b.c 100, "d e"; --f -g <h> K:$2|~ i=j/A B G S\\n- k: v\nb'
"""A text without a credential in which the first looks of every kind find something to look at."""


def prepare() -> None:
    """Compile the expressions that nearly every text needs, so that no traced call waits for it."""
    _mask_found(_PREPARING)
    names_secret("text_1")


def masked(text: str) -> str:
    """Mask the credentials in JSON text; text that is no JSON is masked as plain text."""
    return _mask_json(text) if sees(text) else text


def mask_text(text: str) -> str:
    """Mask the credentials in plain text: an error's message, a stack trace, a URL."""
    return _mask_found(text) if sees(text) else text


_Search = Callable[[str], list[tuple[int, int]]]
_SEARCHES: tuple[_Search, ...] = (find_shapes, find_assignments, find_introduced)
_MAY_FIND = (find_shapes, assigns, may_introduce)
"""Whether each of them may find something in one of the lines of a text."""


def _mask_found(text: str, searches: tuple[_Search, ...] = _SEARCHES) -> str:
    for search in searches:
        if spans := search(text):
            text = _cut(text, spans)
    return text


def mask_name(name: str) -> str:
    """Mask the credentials in a name: of an attribute, span, event or scope. One that has been
    looked at costs a look-up."""
    if name in HARMLESS:
        return name
    clean = mask_text(name)
    if clean == name and len(name) <= _LONGEST_NAME and not names_secret(name):
        _remember({name})
    return clean


def distinct(name: str, names: Container[str]) -> str:
    """Return a masked name that is not among others: `[masked]`, `[masked] 2` and so on."""
    number = 1
    numbered = name
    while numbered in names:
        number += 1
        numbered = f"{name} {number}"
    return numbered


def mask_any(text: str) -> str:
    """Mask the credentials in a text that may be JSON."""
    return masked(text) if text[:1] in ("{", "[") else mask_text(text)


def _mask_json(text: str, searches: tuple[_Search, ...] = _SEARCHES) -> str:
    """Mask JSON text; in text that is no JSON these searches may find something."""
    try:
        value = loads(text)
    except ValueError:
        return _mask_found(text, searches)
    clean, changed = mask_value(value)
    return dumps(clean) if changed else text


def mask_value(root: Any) -> tuple[Any, bool]:
    """Mask a JSON value in place; return it, and whether anything was masked.

    Strings that are JSON themselves are read as well. Each level of these at least doubles the
    backslashes before a quote, so there are no more of them than the length has binary digits.
    """
    holder = [root]
    containers, texts, changed = _mask_named(holder)
    searches, one = _SEARCHES, len(texts) == 1  # which the prefilter has seen
    # Without a prefilter they are searched together, because most have no credential.
    if not one and not is_loaded():
        together = "\n".join(("", *texts))
        searches = tuple(
            search for search, may in zip(_SEARCHES, _MAY_FIND, strict=True) if may(together)
        )
        if not searches and "\n{" not in together and "\n[" not in together:
            return holder[0], changed
    for container in containers:
        for key, value in _members(container):
            if isinstance(value, str) and (one or sees(value)):
                if value[:1] in ("{", "["):
                    clean = _mask_json(value, searches)
                else:
                    clean = _mask_found(value, searches)
                if clean != value:
                    container[key] = clean
                    changed = True
    return holder[0], changed


def _mask_named(holder: list[Any]) -> tuple[list[Any], list[str], bool]:
    """Mask the names that hold a credential and the values named like one; return all containers,
    all texts, and whether anything was masked."""
    texts: list[str] = []
    before = masks.masked
    containers: list[Any] = [holder]
    for container in containers:  # grows meanwhile
        if isinstance(container, dict):
            if _may_name_secret(container):
                _mask_names(container)
                _mask_members(container)
                if "kty" in container:
                    for name in PRIVATE_MEMBERS:
                        _mask(container, name, looks_random)
                if "args" in container:
                    _mask_arguments(container["args"], container.get("command"))
                if "value" in container or "Value" in container:
                    _mask_value_beside_name(container)
        else:
            if len(container) == 2:
                _mask_pair(container)
            _mask_arguments(container)
        for value in container.values() if isinstance(container, dict) else container:
            if isinstance(value, str):
                texts.append(value)
            elif isinstance(value, (dict, list)):
                containers.append(value)
    return containers, texts, masks.masked > before


def _mask_names(members: dict[Any, Any]) -> None:
    """Mask the names that hold a credential, in place and in order."""
    clean = {name: mask_name(name) if isinstance(name, str) else name for name in members}
    if all(name == after for name, after in clean.items()):
        return
    items = list(members.items())
    members.clear()
    for name, value in items:
        members[distinct(clean[name], members)] = value


def _mask_members(members: dict[Any, Any]) -> None:
    for name, value in members.items():
        judge = value_test(name) if isinstance(name, str) else None
        if judge is None:
            continue
        if isinstance(value, dict):  # a credential with its version or expiry
            _mask(value, "value", judge)
        else:
            _mask(members, name, judge)


_NAMED_BY = ("name", "Name", "key", "Key", "header", "variable")
"""Members that name what the value beside them is: HAR 1.2, `headers`; Kubernetes, `env`; AWS,
tags."""


def _mask_value_beside_name(members: dict[Any, Any]) -> None:
    for by in _NAMED_BY:
        name = members.get(by)
        judge = value_test(name) if isinstance(name, str) else None
        if judge is not None:
            for value in ("value", "Value"):
                _mask(members, value, judge)


def _mask_pair(pair: list[Any]) -> None:
    """Mask the second of two texts of which the first names it."""
    name, value = pair
    if isinstance(name, str) and isinstance(value, str) and is_no_words(value):
        judge = value_test(name)
        if judge is not None and not refers(value, 0, len(value)):
            _mask(pair, 1, judge)


def _mask_arguments(arguments: Any, command: Any = None) -> None:
    """Mask the credentials among the arguments of a command."""
    if not isinstance(arguments, list):
        return
    for at in tuple(in_arguments(arguments, command if isinstance(command, str) else "")):
        _mask(arguments, at, anything)


def _mask(container: Any, at: Any, judge: ValueTest) -> None:
    value = container.get(at) if isinstance(container, dict) else container[at]
    if is_secret_value(value, judge):
        container[at] = MASK
        masks.masked += 1


def _members(container: Any) -> Iterable[tuple[Any, Any]]:
    return container.items() if isinstance(container, dict) else enumerate(container)


def _may_name_secret(members: dict[Any, Any]) -> bool:
    try:
        return NAMES(members) not in HARMLESS and not harmless(members)
    except TypeError:  # a name that is no text
        return True


def is_secret_value(value: Any, judge: ValueTest) -> bool:
    """Return whether the value of a secret name is a credential. A word such as "none" is not, nor
    is an object in which a schema describes the credential.

    Args:
        value: a JSON value.
        judge: that of its name.
    """
    if isinstance(value, str):
        return value not in ("", MASK) and judge(value)
    if isinstance(value, list):
        return _is_bytes(value) or (
            bool(value) and all(isinstance(item, str) and judge(item) for item in value)
        )
    return isinstance(value, int) and not isinstance(value, bool) and judge is anything


_FEWEST_BYTES = 8


def _is_bytes(value: list[Any]) -> bool:
    return len(value) >= _FEWEST_BYTES and all(
        type(item) is int and 0 <= item < 256 for item in value
    )


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """Replace spans of a text, which may overlap, with the mask."""
    pieces: list[str] = []
    end = 0
    for begins, ends in sorted(spans):
        if ends <= end:
            continue
        if begins >= end:
            pieces += text[end:begins], MASK
            masks.masked += 1
        end = ends
    return "".join((*pieces, text[end:]))
