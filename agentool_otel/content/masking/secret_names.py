"""Names of credentials: of members, attributes, variables, headers and parameters."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["WORDS", "ends_as_secret", "has_word", "names_secret"]

_KEYS = (
    r"api|access|account|subscription|private|signing|encryption|master|ssh|"
    r"secret"
)
_TOKENS = (
    r"access|auth|refresh|bearer|id|session|api|security|csrf|xsrf|sas|service|bot|"
    r"github|gitlab|hf|npm|pypi|slack|telegram|vault"
)
_SECRET_NAME = re.compile(
    rf"(?:^|[_\-.\s])(?:(?:{_KEYS})[_\-]?key|(?:{_TOKENS})[_\-]?token|secret(?:[_\-]key[_\-]base)?|"
    r"(?:pg)?password|passwd|passphrase|passcode|client[_\-]?secret|credentials?|"
    r"(?:proxy[_\-])?authorization|set-cookie|cookie)$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

WORDS = (
    *("key", "token", "secret", "password", "passwd", "passphrase", "passcode"),
    *("credential", "authorization", "cookie"),
)
"""One of these is in every name that `names_secret` finds."""
_ENDINGS = (*WORDS, "credentials", "base")
"""What such a name ends in."""
_LONGEST_ENDING = 64
"""Characters at the end of a name that decide: the longest of `_SECRET_NAME` has 21."""


def has_word(text: str) -> bool:
    """Whether one of `WORDS` is in a text: cheap, because any of them will do."""
    lower = text.lower()
    return (
        "key" in lower
        or "pass" in lower
        or "token" in lower
        or "secret" in lower
        or "cookie" in lower
        or "credential" in lower
        or "authorization" in lower
    )


def names_secret(name: str) -> bool:
    """Whether what stands under a name is a credential. JSON inside of JSON leaves a backslash."""
    ending = name.rstrip("\\")[-_LONGEST_ENDING:]
    return ending.rstrip("\n").casefold().endswith(_ENDINGS) and ends_as_secret(ending)


@lru_cache(1024)
def ends_as_secret(ending: str) -> bool:
    """The same of a short name that ends in one of `WORDS`."""
    return _SECRET_NAME.search(_CAMEL.sub("_", ending)) is not None
