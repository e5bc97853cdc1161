"""Credentials by their shape, whatever precedes them.

A new kind is a row of `_TABLE`: what it begins with, what follows, and where that is written.
Every expression begins with letters that are looked for as fast as a word is, and is tried at those
places alone. None looks at a character more often than a fixed number of times, however often its
beginning is repeated: what has been looked at in vain is not looked at again.

Sources, named beside the rows: the vendors' documentation, and which kinds there are from gitleaks
v8 (`config/gitleaks.toml`, MIT) and detect-secrets v1.5 (`detect_secrets/plugins`, Apache-2.0). The
expressions are ours.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import NamedTuple

from agentool_otel.content.masking.secret_names import ValueTest, looks_random
from agentool_otel.ground import lazy_re as re

__all__ = ["find_shapes", "may_hold"]

_ALNUM = r"[A-Za-z0-9]"
_TOKEN = r"[A-Za-z0-9_\-]"
_HEX = r"[A-Fa-f0-9]"


def _has_long_part(text: str) -> bool:
    """Return whether one part between dashes is long. Names of projects have only short parts."""
    return any(len(part) >= 16 for part in text[3:].split("-"))


def _is_no_word(text: str) -> bool:
    return len(text) >= 20 or not (text.isalpha() and text.islower())


def _is_basic(text: str) -> bool:
    """Return whether a text is user and password in base64, even if truncated."""
    try:
        plain = base64.b64decode(text[: len(text) // 4 * 4])
    except ValueError:
        return False
    return b":" in plain and plain.decode("utf-8", "ignore").isprintable()


class _Rows(NamedTuple):
    starts: tuple[str, ...]
    rest: str
    """An expression; of it only the group `secret` is masked if it has that."""
    source: str
    judge: ValueTest | None = None


_TABLE = (
    _Rows(("sk-",), rf"{_TOKEN}{{16,}}", "OpenAI, Anthropic, OpenRouter", _has_long_part),
    _Rows(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), rf"{_ALNUM}{{10,}}", "Stripe API keys"),
    _Rows(("whsec_",), r"[A-Za-z0-9+/=]{20,}", "Stripe, Standard Webhooks"),
    _Rows(("AKIA", "ASIA"), r"[0-9A-Z]{16}\b", "AWS IAM identifiers"),
    _Rows(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_ALNUM}{{20,}}", "GitHub token formats"),
    _Rows(("github_pat_",), r"\w{20,}", "GitHub token formats"),
    _Rows(("glpat-", "gldt-", "glrt-", "glptt-"), rf"{_TOKEN}{{16,}}", "GitLab token prefixes"),
    _Rows(
        ("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        r"[A-Za-z0-9\-]{10,}",
        "Slack token types",
    ),
    _Rows(("AIza",), rf"{_TOKEN}{{30,}}", "Google API keys; gitleaks gcp-api-key"),
    _Rows(("ya29.",), rf"{_TOKEN}{{20,}}", "Google OAuth 2.0; detect-secrets"),
    _Rows(("hf_",), rf"{_ALNUM}{{20,}}", "Hugging Face; gitleaks huggingface-access-token"),
    _Rows(("npm_",), rf"{_ALNUM}{{20,}}", "npm; gitleaks npm-access-token"),
    _Rows(("pypi-",), rf"{_TOKEN}{{20,}}", "PyPI; gitleaks pypi-upload-token"),
    _Rows(("gsk_",), rf"{_ALNUM}{{20,}}", "Groq console"),
    _Rows(("xai-",), rf"{_ALNUM}{{20,}}", "xAI console"),
    _Rows(("r8_",), rf"{_ALNUM}{{20,}}", "Replicate API tokens"),
    _Rows(("pplx-",), rf"{_ALNUM}{{20,}}", "Perplexity; gitleaks perplexity-api-key"),
    _Rows(("tvly-",), rf"{_TOKEN}{{20,}}", "Tavily API"),
    _Rows(("nvapi-",), rf"{_TOKEN}{{20,}}", "NVIDIA API catalog"),
    _Rows(("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_HEX}{{20,}}", "DigitalOcean; gitleaks"),
    _Rows(("dapi",), r"[a-f0-9]{32}(?:-\d)?\b", "Databricks; gitleaks databricks-api-token"),
    _Rows(("hvs.", "hvb.", "hvr."), rf"{_TOKEN}{{20,}}", "HashiCorp Vault tokens"),
    _Rows(("dckr_pat_", "dckr_oat_"), rf"{_TOKEN}{{20,}}", "Docker Hub access tokens"),
    _Rows(("shpat_", "shpca_", "shppa_", "shpss_"), rf"{_HEX}{{20,}}", "Shopify; gitleaks"),
    _Rows(("sq0atp-", "sq0csp-"), rf"{_TOKEN}{{20,}}", "Square; gitleaks square-access-token"),
    _Rows(("lin_api_", "lin_oauth_"), rf"{_ALNUM}{{20,}}", "Linear; gitleaks linear-api-key"),
    _Rows(("ntn_",), rf"{_ALNUM}{{20,}}", "Notion; gitleaks notion-api-token"),
    _Rows(("SG.",), rf"{_TOKEN}{{16,}}\.{_TOKEN}{{16,}}", "SendGrid; detect-secrets"),
    _Rows(("AGE-SECRET-KEY-1",), r"[A-Z0-9]{20,}", "age; gitleaks age-secret-key"),
    _Rows(("SK",), r"[a-f0-9]{32}\b", "Twilio; detect-secrets"),
    _Rows(("b3BlbnNzaC1rZXktdjE",), r"[A-Za-z0-9+/=]+", "openssh-key-v1 in base64, PROTOCOL.key"),
    _Rows(
        ("eyJ",),
        rf"{_TOKEN}{{10,}}(?:\.{_TOKEN}{{10,}}\.{_TOKEN}+|(?P<vain>))",
        "JSON Web Token, RFC 7519",
    ),
)
_ANYWHERE: tuple[tuple[str, str, str, ValueTest | None], ...] = (
    ("earer ", r"(?<=[Bb]earer )(?P<secret>[A-Za-z0-9_\-.=+/~]{8,})", "RFC 6750", _is_no_word),
    ("EARER ", r"(?<=BEARER )(?P<secret>[A-Za-z0-9_\-.=+/~]{8,})", "RFC 6750", _is_no_word),
    ("asic ", r"(?<=[Bb]asic )(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", "RFC 7617", _is_basic),
    ("response=", r"\\*\"(?P<secret>[a-f0-9]{32,64})\\*\"", "Digest, RFC 7616", None),
    (":AA", r"(?<=[0-9]{8}:AA)[A-Za-z0-9_\-]{33}", "Telegram bots; detect-secrets", None),
    (
        "Q~",
        r"(?<=[A-Za-z0-9_~.]{3}[0-9]Q~)[A-Za-z0-9_~.\-]{31,34}",
        "Azure AD; gitleaks azure-ad-client-secret",
        None,
    ),
    ("hooks.slack.com/services/", r"(?P<secret>[A-Za-z0-9/]{20,})", "Slack webhooks", None),
    ("/api/webhooks/", r"[0-9]{5,20}/(?P<secret>[A-Za-z0-9_\-]{20,})", "Discord webhooks", None),
    ("key=", r"(?<=[?&]key=)(?P<secret>[A-Za-z0-9_\-.]{16,})", "Google Maps", looks_random),
    ("code=", r"(?<=[?&]code=)(?P<secret>[A-Za-z0-9_\-./%]{16,})", "RFC 6749, 4.1.2", looks_random),
    ("$", r"(?:apr1|2[abxy]|[156y]|argon2(?:id|i|d))\$[./A-Za-z0-9$=,+\-]{20,}", "crypt(5)", None),
    (
        "Private-Lines:",
        r" ?[0-9]{1,4}(?P<secret>[A-Za-z0-9+/=\s\\]{20,})",
        "PuTTY 0.83 manual, appendix C",
        None,
    ),
)
"""Shapes that are found inside of a word, too."""
_BEHIND_AN_ID: tuple[tuple[str, re.Pattern[str], ValueTest | None], ...] = (
    ("", re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"), looks_random),
)
"""The secret of an AWS key, where its id is in the same text. Source: detect-secrets, `aws`."""

_BEFORE = (
    r"{0}(?:(?<!\w{0})|(?<=\\[bfnrt]{0})|(?<=\\u[0-9A-Fa-f]{{4}}{0})|(?<=%[0-9A-Fa-f]{{2}}{0}))"
)
"""The beginning of a word: not behind another character of one, unless that is an escape's."""


def _shapes() -> Iterator[tuple[str, re.Pattern[str], ValueTest | None]]:
    """Yield prefix, full pattern and test of each shape. Text before a prefix is checked by looking
    back: otherwise the pattern would be tried at every place.
    """
    for row in _TABLE:
        for start in row.starts:
            before = _BEFORE.format(re.escape(start))
            yield start, re.compile(before + row.rest), row.judge
    for start, pattern, _, judge in _ANYWHERE:
        yield start, re.compile(re.escape(start) + pattern), judge


_SHAPES = tuple(_shapes())
"""One that has found `vain` is no credential: a later one cannot begin in it."""


def _gate(sign: str) -> str:
    """Return an expression for the text after the prefixes of a sort, behind the sign that they end
    in: one search for a single character instead of one for each prefix.
    """
    ends = {start[-3:-1] for start, _, _ in _SHAPES if start.endswith(sign)}
    return rf"(?<=(?:{'|'.join(sorted(ends))}){re.escape(sign)}){_TOKEN}{{10}}"


_ENDS_IN_DASH = _gate("-")
_DASHED, _UNDERSCORED, _DOTTED = (
    re.compile(re.escape(character) + _gate(character)) for character in "-_."
)


class _Group(NamedTuple):
    """Shapes that are looked for only where one of them may be."""

    sign: str
    gate: re.Pattern[str] | None
    shapes: tuple[tuple[str, re.Pattern[str], ValueTest | None], ...]

    def may_be_in(self, text: str) -> bool:
        return self.gate is None or (self.sign in text and self.gate.search(text) is not None)


_GROUPS = (
    *(
        _Group(sign, gate, tuple(shape for shape in _SHAPES if shape[0].endswith(sign)))
        for sign, gate in zip("-_.", (_DASHED, _UNDERSCORED, _DOTTED), strict=True)
    ),
    _Group("", None, tuple(shape for shape in _SHAPES if shape[0][-1] not in "-_.")),
)
_SCHEME_IN_CAPITALS = re.compile(r"B(?:earer|EARER|asic) [A-Za-z0-9_\-.=+/~\\]{8}")
_SCHEME = re.compile(r"b(?:earer|asic) [A-Za-z0-9_\-.=+/~\\]{8}")
"""With the backslash that JSON may have before a slash."""
_TWILIO = re.compile(r"SK[a-f0-9]{32}")
_CRYPT = re.compile(r"\$(?:apr1|2[abxy]|[156y]|argon2)")
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_WITH_A = re.compile(r"A(?:KIA|SIA|Iza|A(?<=:AA))")
_IN_QUERY = re.compile(r"=(?:(?<=[?&]key=)|(?<=[?&]code=)|(?<=response=))")
_WITH_DASHES = re.compile(
    rf"-(?:{_ENDS_IN_DASH}|----BEGIN |(?<=AGE-)SECRET-KEY-1|(?<=Private-)Lines:)"
)


def may_hold(text: str) -> bool:
    """Return whether a text contains the prefix of a known shape of credentials.

    A single character is found twenty times as fast as several.
    """
    return (
        ("-" in text and _WITH_DASHES.search(text) is not None)
        or ("_" in text and _UNDERSCORED.search(text) is not None)
        or (("v" in text or "G" in text or "9" in text) and _DOTTED.search(text) is not None)
        or ("J" in text and "eyJ" in text)
        or ("A" in text and _WITH_A.search(text) is not None)
        or ("B" in text and _SCHEME_IN_CAPITALS.search(text) is not None)
        or ("b" in text and _SCHEME.search(text) is not None)
        or ("=" in text and _IN_QUERY.search(text) is not None)
        or ("@" in text and "://" in text)
        or ("K" in text and _TWILIO.search(text) is not None)
        or ("Z" in text and "b3BlbnNzaC1rZXktdjE" in text)
        or ("k" in text and "/" in text and "hooks" in text)
        or ("~" in text and "Q~" in text)
        or ("$" in text and _CRYPT.search(text) is not None)
        or "dapi" in text
    )


def find_shapes(text: str) -> list[tuple[int, int]]:
    """Return the positions of credentials, by shape and not by name; some may overlap."""
    if not may_hold(text):
        return []
    spans = list(_private_keys(text)) if "PRIVATE KEY" in text else []
    if "@" in text and "://" in text:
        spans += _in_urls(text)
    shapes = [shape for group in _GROUPS if group.may_be_in(text) for shape in group.shapes]
    if "AKIA" in text or "ASIA" in text:
        shapes += _BEHIND_AN_ID
    for start, shape, judge in shapes:
        if start in text:
            part = "secret" if "secret" in shape.groupindex else 0
            for match in shape.finditer(text):
                if match.lastgroup != "vain" and (judge is None or judge(match[part])):
                    spans.append(match.span(part))
    return spans


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of keys in PEM and PGP; a truncated one goes to the end of the text.
    Sources: RFC 7468, RFC 9580.
    """
    begins = _KEY_BEGINS.search(text)
    while begins is not None:
        ends = _KEY_ENDS.search(text, begins.end())
        end = len(text) if ends is None else ends.end()
        yield begins.start(), end
        begins = _KEY_BEGINS.search(text, end)


_URLS = re.compile(r"://[^\s\"'\\<>]+")
_AUTHORITY = re.compile(r"[^/?#]*")
_OPEN = re.compile(r"[0-9]*:[0-9]*|[^:]*:(?:password|passwd|pass|pwd|secret|x+|\*+|[<{$\[].*)?")
"""User and password that are none: figures, and words that stand for one."""
_PORT = re.compile(r"(?:\[[^\]]*\]|[^:]*):[0-9]*/|[^:]*/")


def _in_urls(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of user and password in URLs, to the last `@` before the host."""
    for run in _URLS.finditer(text):
        if "@" not in run[0]:
            continue
        end = run.start()
        while (at := text.find("@", end, run.end())) >= 0:
            begins = text.rfind("://", end, at) + 3
            end = text.find("://", at, run.end())
            end = end if end >= 0 else run.end()
            user = _user_of(text[begins:end])
            if user and (looks_random(user) if ":" not in user else _OPEN.fullmatch(user) is None):
                yield begins, begins + len(user)


def _user_of(url: str) -> str:
    authority = _AUTHORITY.match(url)
    if authority is not None and "@" in authority[0]:
        return authority[0].rpartition("@")[0]
    # A slash in a password, which should have been encoded: behind what is no port.
    return url.partition("@")[0] if "@" in url and _PORT.match(url) is None else ""
