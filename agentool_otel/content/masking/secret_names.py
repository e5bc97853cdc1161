"""Names of credentials: of members, attributes, variables, headers and parameters.

A name says how much its value has to look like a credential: nothing where it can be nothing else
(`password`), something where it may be a word (`cookie`), all where it is mostly something else
(`token`).

Sources of the words: gitleaks v8 (MIT), `generic-api-key`; detect-secrets v1.5 (Apache-2.0),
`KeywordDetector`; the names that the vendors in `credential_shapes` give their variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

__all__ = [
    "WORDS",
    "Judge",
    "anything",
    "has_word",
    "is_no_words",
    "judge_of",
    "looks_random",
    "names_secret",
]

Judge = Callable[[str], bool]
"""Whether a value under a name is a credential."""


def anything(value: str) -> bool:
    return True


_NO_WORDS = re.compile(r"[A-Za-z]{16}|[0-9@#$%^*~]")
_DECISIVE = 1024
"""Characters of a value that decide."""
_PATH = re.compile(r"~?\.{0,2}/|[A-Za-z]:\\")


def is_no_words(value: str) -> bool:
    """Whether a value is more than words, and no path."""
    return _NO_WORDS.search(value, 0, _DECISIVE) is not None and _PATH.match(value) is None


_ONE_WORD = re.compile(r"[\w+/=.~\-:%$!|]{16,}\Z")
_CHANGES = re.compile(r"[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]")
_CHARACTERS_A_CHANGE = 8


def looks_random(value: str) -> bool:
    """Whether a value is long, without blanks, and changes between small letters, capitals and
    digits as often as only random characters do."""
    if _ONE_WORD.match(value) is None:
        return False
    decisive = value[:_DECISIVE]
    return len(_CHANGES.findall(decisive)) * _CHARACTERS_A_CHANGE >= len(decisive)


_KEYS = r"api|account|subscription|private|signing|encryption|master|ssh|secret"
_TOKENS = (
    r"access|auth|refresh|bearer|id|session|api|security|csrf|xsrf|sas|service|bot|private|"
    r"github|gitlab|hf|npm|pypi|slack|telegram|vault"
)
_BEGINS = r"(?:^|[_\-.\s])"
_NAMES: tuple[tuple[re.Pattern[str], Judge | None], ...] = (
    (
        re.compile(
            rf"{_BEGINS}(?:(?:{_KEYS})[_\-]?key|(?:{_TOKENS})[_\-]?token|"
            r"[a-z0-9]+[_\-]secret|secret[_\-]key[_\-]base|(?:pg)?password|passwort|passwd|"
            r"passphrase|passcode|clientsecret|(?:proxy[_\-])?authorization)$",
            re.IGNORECASE,
        ),
        anything,
    ),
    (
        re.compile(
            rf"{_BEGINS}(?:access[_\-]?key|secret|credentials?|set-cookie|cookie|pass|pwd)$",
            re.IGNORECASE,
        ),
        is_no_words,
    ),
    # What names a place in data, or the next page of it.
    (
        re.compile(
            rf"{_BEGINS}(?:(?:primary|foreign|sort|partition|cache|public|idempotency|object|s3|"
            r"storage|row|group|dedup|routing|issue|project|index|hash|order|unique)[_\-]?key|"
            r"(?:page|next|continuation|sync|cursor|delta|resume|pagination)[_\-]?token)$",
            re.IGNORECASE,
        ),
        None,
    ),
    (re.compile(r"(?:^|[\-.\s])[A-Z0-9_]+_(?:KEY|TOKEN)$"), is_no_words),
    (
        re.compile(rf"{_BEGINS}(?:\w+[_\-]key|token|auth|sig|signature)$", re.IGNORECASE),
        looks_random,
    ),
)
"""What a name ends in, and the judge of its value; the first counts."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

WORDS = (
    *("key", "token", "secret", "password", "passwort", "passwd", "passphrase", "passcode"),
    *("pass", "pwd", "credential", "authorization", "auth", "cookie", "sig", "signature"),
)
"""One of these is in every name that `names_secret` finds."""
_ENDINGS = (*WORDS, "credentials", "base")
"""What such a name ends in."""
_LONGEST_ENDING = 64
"""Characters at the end of a name that decide: the longest of `_NAMES` has 21."""


def has_word(text: str) -> bool:
    """Whether one of `WORDS` is in a text: cheap, because any of them will do."""
    lower = text.lower()
    return (
        "key" in lower
        or "pass" in lower
        or "token" in lower
        or "secret" in lower
        or "cookie" in lower
        or "auth" in lower
        or "pwd" in lower
        or "credential" in lower
        or "sig" in lower
    )


def names_secret(name: str) -> bool:
    """Whether what stands under a name may be a credential."""
    return judge_of(name) is not None


def judge_of(name: str) -> Judge | None:
    """Return what decides whether a value under a name is a credential, None where none is. JSON
    inside of JSON leaves a backslash."""
    ending = name.rstrip("\\")[-_LONGEST_ENDING:].rstrip("\n")
    return _judge_of(ending) if ending.casefold().endswith(_ENDINGS) else None


@lru_cache(1024)
def _judge_of(ending: str) -> Judge | None:
    for split in (ending, _CAMEL.sub("_", ending)):
        for names, judge in _NAMES:
            if names.search(split) is not None:
                return judge
    return None
