"""Redaction markers: what systems write in place of a value, or of a part of one, that they hide.

One table for the readers of spans, the fidelity report, evaluation and judges. A text that is a
marker as a whole stands for a value that nobody sees; a marker inside a text is a gap in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentool_otel.ground import lazy_re as re
from agentool_otel.semconv.marks import MASK, TRUNCATED_TEXT

__all__ = [
    "MARKERS",
    "WHOLE_MARKERS",
    "Marker",
    "cut_end",
    "has_marker",
    "is_marker",
    "visible_parts",
]


class Marker(NamedTuple):
    """A family of markers."""

    pattern: str
    """A regular expression of one marker, in the case that the systems write."""
    hints: tuple[str, ...]
    """Texts of which every marker of the family contains one."""
    examples: tuple[str, ...]
    """Markers of the family, all of them where there are few."""
    source: str


_PERSONAL = (
    *("PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "CRYPTO", "DATE_TIME", "IBAN_CODE"),
    *("IP_ADDRESS", "MAC_ADDRESS", "LOCATION", "NRP", "MEDICAL_LICENSE", "ORGANIZATION"),
    *("US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "US_PASSPORT", "US_SSN", "UK_NHS"),
    *("UK_NINO", "ES_NIF", "ES_NIE", "IT_FISCAL_CODE", "SG_NRIC_FIN", "AU_TFN", "IN_PAN"),
)
_WORDS = ("REDACTED", "Redacted", "redacted")
_HINTS = ("EDACTED", "edacted")
_OURS = (
    Marker(re.escape(MASK), (MASK,), (MASK,), "agentool_otel: a credential"),
    Marker(
        r'\{?"\$(?:truncated|unencodable)"\s*:[^{}]*\}?',
        ('"$truncated"', '"$unencodable"'),
        ('{"$truncated":"bytes","$length":94}',),
        "agentool_otel: JSON that was shortened, kept as text",
    ),
)

MARKERS: tuple[Marker, ...] = (
    *_OURS,
    Marker(
        r"__REDACTED__|__redacted__",
        _HINTS,
        ("__REDACTED__", "__redacted__"),
        "openinference-instrumentation, config.py: REDACTED_VALUE",
    ),
    Marker(
        r"\[(?:REDACTED|Redacted|redacted)(?:[:_ -][\w .:-]{1,60})?\]",
        _HINTS,
        tuple(f"[{word}]" for word in _WORDS),
        "Elastic APM agents, sanitize_field_names; with a name behind a colon, as in"
        " [REDACTED:grafana-cloud-token]: Grafana's agento11y",
    ),
    Marker(
        r"<(?:REDACTED|Redacted|redacted)(?:[:_ -][\w .:-]{1,60})?>",
        _HINTS,
        tuple(f"<{word}>" for word in _WORDS),
        "hooks of users: the form that the examples of several SDKs have",
    ),
    Marker(
        r"(?<![^\W_])REDACTED(?![^\W_])",
        _HINTS,
        ("REDACTED",),
        "OpenTelemetry semantic conventions, url.full and url.query",
    ),
    Marker(
        r"\*{3,}",
        ("***",),
        tuple("*" * length for length in range(3, 65)),
        "opentelemetry-collector-contrib, redaction processor (****); pydantic, SecretStr (ten);"
        " Datadog, Sensitive Data Redaction (****); logs of CI systems (***)",
    ),
    Marker(
        r"\[Scrubbed due to [^\]\n]{1,100}\]",
        ("[Scrubbed due to",),
        ("[Scrubbed due to 'password']",),
        "logfire, scrubbing of sensitive data",
    ),
    Marker(r"\[Filtered\]", ("[Filtered]",), ("[Filtered]",), "Sentry SDKs, data scrubbing"),
    Marker(
        r"<fully masked due to failed mask function>",
        ("<fully masked",),
        ("<fully masked due to failed mask function>",),
        "Langfuse SDKs, a mask function that raised",
    ),
    Marker(r"HIDDEN:non-empty", ("HIDDEN:non-",), ("HIDDEN:non-empty",), "Koog, HiddenString"),
    Marker(
        f"<(?:{'|'.join(_PERSONAL)})>",
        (">",),
        tuple(f"<{kind}>" for kind in _PERSONAL),
        "presidio-anonymizer, operator `replace` without a value: <entity_type>",
    ),
)
"""Every family that is known. A bare word of lower case is ordinary English, and no marker."""

WHOLE_MARKERS = frozenset(text for it in MARKERS if it not in _OURS for text in it.examples)
"""The markers of other systems, as far as they can be listed."""

_FAMILIES = tuple((it.hints, re.compile(it.pattern)) for it in MARKERS)
_any = re.compile("|".join(f"(?:{it.pattern})" for it in MARKERS))
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


def has_marker(text: str) -> bool:
    """Return whether a text has a redaction marker in it, or is one."""
    return any(
        family.search(text) is not None
        for hints, family in _FAMILIES
        if any(hint in text for hint in hints)
    )


def cut_end(text: str) -> str | None:
    """Return what stands in place of the rest of a text; None if nothing does.

    Known are our own ends, those of Gemini CLI and of common loggers, and the replacement character
    of stores that cut in the middle of a character.
    """
    end = text[-_LONGEST_END:]
    if "\ufffd" not in end and "truncated" not in end.lower():
        return None  # nearly always; the search takes ten times as long
    match = _shortened.search(end) or _cut.search(end)
    return None if match is None else match[0]


def visible_parts(text: str) -> list[str]:
    """Return what stands between the gaps of a text, in order; the text alone if it has no gap.

    The first part begins where the text began, and the last one ends where the text ended: either
    is empty where a gap is there instead.
    """
    end = cut_end(text)
    shown = text if end is None else text[: -len(end)]
    parts = [*_between(shown)] if has_marker(shown) else [shown]
    return parts if end is None else [*parts, ""]


def _between(text: str) -> Iterator[str]:
    start = 0
    for gap in _any.finditer(text):
        yield text[start : gap.start()]
        start = gap.end()
    yield text[start:]
