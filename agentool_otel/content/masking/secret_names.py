"""Names of credentials: of members, attributes, variables, headers and parameters.

A name says how much its value has to look like a credential: nothing where it can be nothing else
(`password`), something where it may be a word (`cookie`), all where it is mostly something else
(`token`).

Sources of the words: gitleaks v8 (MIT), `generic-api-key`; detect-secrets v1.5 (Apache-2.0),
`KeywordDetector`; the names that the vendors in `credential_shapes` give their variables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from agentool_otel.ground import lazy_re as re

__all__ = [
    "ANY_SCRIPT",
    "QUALIFIERS",
    "WORDS",
    "ValueTest",
    "anything",
    "has_common_word",
    "has_word",
    "is_mnemonic",
    "is_no_words",
    "looks_random",
    "names_secret",
    "spoken",
    "strict",
    "value_test",
]

ValueTest = Callable[[str], bool]
"""Test of whether a value under a given name is a credential."""


def anything(value: str) -> bool:
    return True


_NO_WORDS = re.compile(r"[A-Za-z]{16}|[0-9@#$%^*~]")
_DECISIVE = 1024
"""Characters of a value that decide."""
_PATH = re.compile(r"~?\.{0,2}/|[A-Za-z]:\\")


def is_no_words(value: str) -> bool:
    """Return whether a value is neither plain words nor a path."""
    return _NO_WORDS.search(value, 0, _DECISIVE) is not None and _PATH.match(value) is None


_UNITS = (
    r"bits?|bytes?|[kmg]b|char(?:acter)?s?|digits?|words?|m?s|sec(?:ond)?s?|min(?:ute)?s?|"
    r"h(?:(?:ou)?rs?)?|d(?:ays?)?|weeks?|months?|years?|st|nd|rd|th|x"
)
_NO_PASSWORD = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]{1,20}://"
    rf"|[0-9.,:/%]{{1,5}}(?:-?(?i:{_UNITS}))?[.,;:!?)]{{0,2}}\Z"
    # An algorithm, a format or a version: SHA-256, base64-encoded, oauth2, v2.1.
    r"|(?i:sha|md|utf|base|rsa|aes|[hrep]s|o?auth|argon|pbkdf|iso|rfc|tls|ssl|ed|ipv|v)"
    r"-?[0-9.]{1,6}(?![A-Za-z0-9])"
    r"|[A-Za-z]?[a-z'\-]{0,40}[*~@#$%^]{0,3}[.,;:!?)]{0,3}\Z"
)


def spoken(value: str) -> bool:
    """Return whether a value that a sentence calls a credential is one, rather than words, a number
    with a unit, a link or the name of an algorithm.
    """
    return is_no_words(value) and _NO_PASSWORD.match(value) is None


_MNEMONIC = re.compile(r"[a-z]{3,8}(?:[\s,]{1,3}[a-z]{3,8}){11,23}\Z")


def is_mnemonic(value: str) -> bool:
    """Return whether a value is the words of a wallet. Source: BIP 39."""
    return _MNEMONIC.match(value[:_DECISIVE]) is not None


_ONE_WORD = re.compile(r"[\w+/=.~\-:%$!|]{16,}\Z")
_CHANGES = re.compile(r"[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]")
_CHARACTERS_A_CHANGE = 8


def looks_random(value: str) -> bool:
    """Return whether a value looks random: long, without blanks, and with frequent changes between
    small letters, capitals and digits.
    """
    if _ONE_WORD.match(value) is None:
        return False
    decisive = value[:_DECISIVE]
    return len(_CHANGES.findall(decisive)) * _CHARACTERS_A_CHANGE >= len(decisive)


def _has_random_part(value: str) -> bool:
    return any(map(looks_random, re.split("[,;]", value[:_DECISIVE])))


def _never(value: str) -> bool:
    return False


_KEYS = (
    r"api|account|subscription|private|signing|encryption|master|ssh|secret|unseal|recovery|"
    r"wpa|pre[_\-]?shared"
)
_TOKENS = (
    r"access|auth|refresh|bearer|id|session|api|security|csrf|xsrf|sas|service|bot|private|"
    r"github|gitlab|hf|npm|pypi|slack|telegram|vault"
)
_BEGINS = r"(?:^|[_\-.\s])"
_NAMES: tuple[tuple[re.Pattern[str], ValueTest | None], ...] = (
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
            rf"{_BEGINS}(?:access[_\-]?key|secret|credentials?|set-cookie|cookie|pass|pwd|psk|"
            r"(?:wallet|[th]?otp|mfa|2fa|hd|bip39)[_\-]?seed|(?:code|oauth)[_\-]?verifier|"
            r"(?:snmp|ro|rw|read|write)[_\-]?community)$",
            re.IGNORECASE,
        ),
        is_no_words,
    ),
    # Session cookies of PHP, Jakarta Servlet, ASP.NET and Express.
    (
        re.compile(
            rf"{_BEGINS}(?:phpsessid|jsessionid(?:sso)?|asp\.net_sessionid|"
            r"connect\.sid)$",
            re.IGNORECASE,
        ),
        is_no_words,
    ),
    (
        re.compile(
            rf"{_BEGINS}(?:contrase[ñn]a|(?:mot[_\-]?)?de[_\-]?passe|palavra-passe|senha|wachtwoord|"
            r"lösenord|salasana|adgangskode|hasło|haslo|heslo|jelszó|parola|şifre|пароль|κωδικός)$",
            re.IGNORECASE,
        ),
        is_no_words,
    ),
    # Scripts without blanks between words.
    (re.compile(r"(?:密码|密碼|口令|パスワード|비밀번호)$"), is_no_words),
    (
        re.compile(
            rf"{_BEGINS}(?:mnemonic|(?:seed|recovery|backup|mnemonic|wallet)[_\-]?phrase)$",
            re.IGNORECASE,
        ),
        is_mnemonic,
    ),
    # The member that makes an object a JSON Web Key, itself public. Source: RFC 7517, 4.1.
    (re.compile(r"^kty$"), _never),
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
    (re.compile(rf"{_BEGINS}(?:\w+[_\-]key|token|auth|wif|hmac)$", re.IGNORECASE), looks_random),
    (re.compile(rf"{_BEGINS}(?:sig|signature)$", re.IGNORECASE), _has_random_part),
)
"""Endings of names, each with the test of its value. The first that matches counts."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

ANY_SCRIPT = (
    *("contraseña", "lösenord", "hasło", "jelszó", "şifre", "пароль", "κωδικός"),
    *("密码", "密碼", "口令", "パスワード", "비밀번호"),
)
"""Words with letters beyond ASCII: no text in ASCII has one."""
WORDS = (
    *("key", "token", "secret", "password", "passwort", "passwd", "passphrase", "passcode"),
    *("pass", "pwd", "credential", "authorization", "auth", "cookie", "sig", "signature"),
    *(
        "key_base",
        "key-base",
        "keybase",
        "psk",
        "phpsessid",
        "jsessionid",
        "asp.net_sessionid",
        "connect.sid",
        "kty",
        "wif",
        "hmac",
    ),
    *("seed", "phrase", "mnemonic", "verifier", "community", "passe", "contrasena", "senha"),
    *("wachtwoord", "salasana", "adgangskode", "haslo", "heslo", "parola", *ANY_SCRIPT),
)
"""One of these is in every name that `names_secret` finds."""
QUALIFIERS = ("data", "value", "b64", "base64", "pem", "hex", "raw", "prod")
"""Endings of a name behind its word: `client-key-data`, `TLS_KEY_PEM`; a number is another one."""
_QUALIFIER = re.compile(rf"[_\-.]?(?:{'|'.join(QUALIFIERS)}|\d{{1,4}})$", re.IGNORECASE)
_ENDINGS = (*WORDS, "credentials", "base", "jsessionidsso")
"""Endings of secret names."""
_QUALIFIED_ENDINGS = (*QUALIFIERS, *"0123456789")
_LONGEST_ENDING = 64
"""Characters at the end of a name that decide: the longest of `_NAMES` has 21."""
_RARE = (
    *("psk", "sessid", "sessionid", "connect.sid", "kty", "wif", "hmac", "seed", "phrase"),
    *("mnemonic", "verifier", "community", "contrasena", "senha", "wachtwoord", "salasana"),
    *("adgangskode", "haslo", "heslo", "parola"),
)


def has_word(text: str) -> bool:
    """Return whether a text contains one of `WORDS`: a cheap first test."""
    lower = text.lower()
    return (
        has_common_word(lower)
        or any(word in lower for word in _RARE)
        or (not lower.isascii() and any(word in lower for word in ANY_SCRIPT))
    )


def has_common_word(text: str) -> bool:
    """The same without words that few names have."""
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
    """Return whether a value of this name may be a credential."""
    return value_test(name) is not None


def value_test(name: str) -> ValueTest | None:
    """Return the test of values under a name; None if the name is not secret. JSON inside of JSON
    leaves a backslash.
    """
    ending = name.rstrip("\\")[-_LONGEST_ENDING:].rstrip("\n")
    folded = ending.casefold()
    if folded.endswith(_ENDINGS):
        return _judge_of(ending)
    return _judge_of_qualified(ending) if folded.endswith(_QUALIFIED_ENDINGS) else None


def strict(judge: ValueTest) -> ValueTest:
    """Return a judge that does not accept any value whatever."""
    return is_no_words if judge is anything else judge


@lru_cache(1024)
def _judge_of(ending: str) -> ValueTest | None:
    for split in (ending, _CAMEL.sub("_", ending)):
        for names, judge in _NAMES:
            if names.search(split) is not None:
                return judge
    return None


@lru_cache(1024)
def _judge_of_qualified(ending: str) -> ValueTest | None:
    name = _QUALIFIER.sub("", ending)
    judge = _judge_of(name) if name.casefold().endswith(_ENDINGS) else None
    return None if judge is None else strict(judge)
