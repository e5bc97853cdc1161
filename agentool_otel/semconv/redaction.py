"""Redaction markers that systems write in place of a hidden value, or of a part of one.

One table for the readers of spans, the fidelity report, evaluation and judges. A text that is a
marker as a whole stands for a value that nobody sees; a marker inside a text is a gap in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentool_otel.ground import lazy_re as re
from agentool_otel.semconv.marks import MASK, MEDIA_TEXT, TRUNCATED_TEXT

__all__ = [
    "MARKERS",
    "WHOLE_MARKERS",
    "Marker",
    "cut_end",
    "has_marker",
    "is_marker",
    "visible_parts",
    "without_media",
]


class Marker(NamedTuple):
    """A family of markers."""

    pattern: str
    """A regular expression of one marker, in the case that the systems write."""
    hints: tuple[str, ...]
    """Texts of which every marker of the family contains one."""
    examples: tuple[str, ...]
    """Markers of the family, all of them where there are few."""


_PERSONAL = (
    *("PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "CRYPTO", "DATE_TIME", "IBAN_CODE"),
    *("IP_ADDRESS", "MAC_ADDRESS", "LOCATION", "NRP", "MEDICAL_LICENSE", "ORGANIZATION"),
    *("US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "US_PASSPORT", "US_SSN", "UK_NHS"),
    *("UK_NINO", "ES_NIF", "ES_NIE", "IT_FISCAL_CODE", "SG_NRIC_FIN", "AU_TFN", "IN_PAN"),
)
_ENTITIES = (
    *("ADDRESS", "AGE", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "DRIVER_ID", "EMAIL", "IP_ADDRESS"),
    *("LICENSE_PLATE", "NAME", "PASSWORD", "PHONE", "PIN", "URL", "USERNAME"),
    *("CREDIT_DEBIT_CARD_CVV", "CREDIT_DEBIT_CARD_EXPIRY", "CREDIT_DEBIT_CARD_NUMBER"),
)
_INFO_TYPES = ("CREDIT_CARD_NUMBER", "DATE_OF_BIRTH", "PERSON_NAME", "STREET_ADDRESS", *_PERSONAL)
_WORDS = tuple(
    form(word)
    for word in ("redacted", "masked", "filtered", "removed", "hidden")
    for form in (str.upper, str.capitalize, str.lower)
)
_BRACKETED = "|".join(_WORDS)
_ANGLED = "|".join(_WORDS[:6])
_HINTS = ("EDACTED", "edacted")
_WORD_HINTS = tuple(dict.fromkeys(word[1:] for word in _WORDS))
_OURS = (
    # agentool_otel: a credential
    Marker(re.escape(MASK), (MASK,), (MASK,)),
    # agentool_otel: base64 of an image, a sound, a video or a PDF
    Marker(
        r"\bmedia-[A-Za-z0-9\-]{1,128}-[0-9]{1,15}-bytes-sha256-[0-9a-f]{64}",
        ("-bytes-sha256-",),
        (MEDIA_TEXT.format("image-png", 94, 64 * "0"),),
    ),
    # agentool_otel: JSON that was shortened, kept as text
    Marker(
        r'\{?"\$(?:truncated|unencodable)"\s*:[^{}]*\}?',
        ('"$truncated"', '"$unencodable"'),
        ('{"$truncated":"bytes","$length":94}',),
    ),
)

MARKERS: tuple[Marker, ...] = (
    *_OURS,
    # openinference-instrumentation, config.py: REDACTED_VALUE
    Marker(
        r"__REDACTED__|__redacted__",
        _HINTS,
        ("__REDACTED__", "__redacted__"),
    ),
    # Elastic APM agents, sanitize_field_names; Sentry SDKs, data scrubbing ([Filtered]); with
    # a name behind a colon, as in [REDACTED:grafana-cloud-token]: Grafana's agento11y
    Marker(
        rf"\[(?:[A-Z][A-Z_ ]{{0,40}}[ _])?(?:{_BRACKETED})(?:[:_ -][\w .:-]{{1,60}})?\]",
        _WORD_HINTS,
        tuple(f"[{word}]" for word in _WORDS),
    ),
    # hooks of users: the forms that the examples of several SDKs have
    Marker(
        rf"<(?:{_ANGLED})(?:[:_ -][\w .:-]{{1,60}})?>|\((?:{_ANGLED})\)|\{{\{{(?:{_ANGLED})\}}\}}",
        _WORD_HINTS[:4],
        tuple(form.format(word) for form in ("<{}>", "({})", "{{{{{}}}}}") for word in _WORDS[:6]),
    ),
    # hooks of users: a word in bold
    Marker(
        r"\*{1,3}(?:REDACTED|Redacted|redacted)\*{1,3}",
        _HINTS,
        tuple(f"{stars}{word}{stars}" for stars in ("*", "**", "***") for word in _WORDS[:3]),
    ),
    # OpenTelemetry semantic conventions, url.full and url.query
    Marker(
        r"(?<![^\W_])REDACTED(?![^\W_])",
        _HINTS,
        ("REDACTED",),
    ),
    # opentelemetry-collector-contrib, redaction processor (****); pydantic, SecretStr (ten);
    # Datadog, Sensitive Data Redaction (****); logs of CI systems (***). Not a line of a patch in
    # the form of Codex: *** Update File: a.py
    Marker(
        r"\*{3,}(?! (?:(?:Begin|End) Patch|(?:Add|Delete|Update) File:|Move to:|End of File))",
        ("***",),
        tuple("*" * length for length in range(3, 65)),
    ),
    # logfire, scrubbing of sensitive data
    Marker(
        r"\[Scrubbed due to [^\]\n]{1,100}\]",
        ("[Scrubbed due to",),
        ("[Scrubbed due to 'password']",),
    ),
    # Langfuse SDKs, a mask function that raised
    Marker(
        r"<fully masked due to failed mask function>",
        ("<fully masked",),
        ("<fully masked due to failed mask function>",),
    ),
    # Koog, HiddenString
    Marker(r"HIDDEN:non-empty", ("HIDDEN:non-",), ("HIDDEN:non-empty",)),
    # presidio-anonymizer, operator `replace` without a value: <entity_type>
    Marker(
        f"<(?:{'|'.join(_PERSONAL)})>",
        (">",),
        tuple(f"<{kind}>" for kind in _PERSONAL),
    ),
    # Google Sensitive Data Protection, replaceWithInfoTypeConfig: [INFO_TYPE]
    Marker(
        rf"\[(?:{'|'.join(_INFO_TYPES)})\]",
        ("]",),
        tuple(f"[{kind}]" for kind in _INFO_TYPES),
    ),
    # Amazon Bedrock Guardrails, sensitive information filters that mask: {ENTITY}
    Marker(
        rf"\{{(?:{'|'.join(_ENTITIES)})\}}",
        ("}",),
        tuple(f"{{{kind}}}" for kind in _ENTITIES),
    ),
)
"""Every family that is known. A bare word of lower case is ordinary English, and no marker."""

WHOLE_MARKERS = frozenset(
    text for marker in MARKERS if marker not in _OURS for text in marker.examples
)
"""The markers of other systems, as far as they can be listed."""

_FAMILIES = tuple((marker.hints, re.compile(marker.pattern)) for marker in MARKERS)
_media = re.compile(_OURS[1].pattern)
_any = re.compile("|".join(f"(?:{marker.pattern})" for marker in MARKERS))
_whole = re.compile(rf"\s*(?:{_any.pattern})\s*")
_shortened = re.compile(re.escape(TRUNCATED_TEXT).replace(r"\{\}", r"\d+") + r"\Z")
_cut = re.compile(
    r"(?:\[TRUNCATED: original length \d+\]|\[truncated\]|<truncated>|\.\.\. ?\(truncated\))\s*\Z"
    r"|\ufffd\Z",
    re.IGNORECASE,
)
_LONGEST_END = 60


def is_marker(text: str) -> bool:
    """Return whether a text is a redaction marker and nothing else."""
    return has_marker(text) and _whole.fullmatch(text) is not None


def without_media(text: str) -> str:
    """Return a text without the marks of media in it."""
    return _media.sub("", text) if "-bytes-sha256-" in text else text


def has_marker(text: str) -> bool:
    """Return whether a text has a redaction marker in it, or is one."""
    return any(
        family.search(text) is not None
        for hints, family in _FAMILIES
        if any(hint in text for hint in hints)
    )


def cut_end(text: str) -> str | None:
    """Return the marker at the end of a truncated text; None if there is none.

    Known are our own ends, those of Gemini CLI and of common loggers, and the replacement character
    of stores that cut in the middle of a character.
    """
    end = text[-_LONGEST_END:]
    if "\ufffd" not in end and "truncated" not in end.lower():
        return None  # nearly always; the search takes ten times as long
    match = _shortened.search(end) or _cut.search(end)
    return None if match is None else match[0]


def visible_parts(text: str) -> list[str]:
    """Return the parts between the gaps of a text, in order; the text alone if it has no gap.

    The first part begins where the text began, and the last one ends where the text ended: either
    is empty where a gap is there instead.
    """
    end = cut_end(text)
    shown = text if end is None else text[: -len(end)]
    parts = [*_gaps_between(shown)] if has_marker(shown) else [shown]
    return parts if end is None else [*parts, ""]


def _gaps_between(text: str) -> Iterator[str]:
    start = 0
    for gap in _any.finditer(text):
        yield text[start : gap.start()]
        start = gap.end()
    yield text[start:]
