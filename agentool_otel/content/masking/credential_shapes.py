"""Credentials by their shape, whatever precedes them.

A new kind is a row of `_TABLE`: what it begins with, what follows, and where that is written.
Every expression begins with letters that are looked for as fast as a word is, and is tried at those
places alone. None looks at a character more often than a fixed number of times, however often its
beginning is repeated: what has been looked at in vain is not looked at again. A kind that has no
letters at its beginning is a row of `_ENDINGS`.

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

__all__ = ["find_shapes"]

_ALNUM = r"[A-Za-z0-9]"
_TOKEN = r"[A-Za-z0-9_\-]"
_HEX = r"[A-Fa-f0-9]"
_UUID = r"[A-Fa-f0-9]{8}(?:-[A-Fa-f0-9]{4}){3}-[A-Fa-f0-9]{12}"
_BASE64 = r"[A-Za-z0-9+/=]"
_ENDS = r"(?![A-Za-z0-9_\-+/=])"
"""The end of the word, in base64 as well."""


def _has_long_part(text: str) -> bool:
    """Return whether one part between dashes is long. Names of projects have only short parts."""
    return any(len(part) >= 16 for part in text[3:].split("-"))


def _is_no_word(text: str) -> bool:
    return len(text) >= 20 or not (text.isalpha() and text.islower())


def _is_mixed(text: str) -> bool:
    """Return whether a text has capitals, small letters and digits at random, unlike a name in
    `camelCase`; one without digits has more capitals than such a name."""
    if not looks_random(text):
        return False
    capitals, small = (sum(map(is_such, text)) for is_such in (str.isupper, str.islower))
    if any(map(str.isdigit, text)):
        return capitals > 0 and small > 0
    return min(capitals, small) * 4 > len(text)


def _is_basic(text: str) -> bool:
    """Return whether a text is user and password in base64, even if truncated."""
    try:
        plain = base64.b64decode(text[: len(text) // 4 * 4])
    except ValueError:
        return False
    return b":" in plain and plain.decode("utf-8", "ignore").isprintable()


class _Shape(NamedTuple):
    start: str
    pattern: re.Pattern[str]
    judge: ValueTest | None
    before: re.Pattern[str] | None = None
    """All of the word before the start, which is a part of the credential."""


class _Rows(NamedTuple):
    starts: tuple[str, ...]
    rest: str
    """An expression; of it only the group `secret` is masked if it has that."""
    source: str
    judge: ValueTest | None = None


_TABLE = (
    _Rows(("sk-",), rf"{_TOKEN}{{16,}}", "OpenAI, Anthropic, OpenRouter", _has_long_part),
    # Langfuse.
    _Rows(("sk-lf-",), _UUID, "traces, secret keys of a project"),
    _Rows(
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_live_", "sk_org_test_"),
        rf"{_ALNUM}{{10,}}",
        "Stripe API keys",
    ),
    _Rows(("whsec_",), r"[A-Za-z0-9+/=]{20,}", "Stripe, Standard Webhooks"),
    _Rows(("AKIA", "ASIA"), r"[0-9A-Z]{16}\b", "AWS IAM identifiers"),
    _Rows(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_ALNUM}{{20,}}", "GitHub token formats"),
    _Rows(("github_pat_",), r"\w{20,}", "GitHub token formats"),
    _Rows(
        (
            *("glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "glcbt-", "glimt-", "glagent-"),
            *("glsoat-", "glffct-", "glft-", "GR1348941"),
        ),
        rf"{_TOKEN}{{16,}}",
        "GitLab token prefixes",
    ),
    _Rows(
        ("xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        r"[A-Za-z0-9\-]{10,}",
        "Slack token types",
    ),
    _Rows(("xoxd-",), r"[A-Za-z0-9%+/=\-]{10,}", "Slack cookie"),
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
        rf"{_TOKEN}{{10,}}(?:\.{_TOKEN}{{10,}}\.{_TOKEN}+(?:\.{_TOKEN}+\.{_TOKEN}+)?|(?P<vain>))",
        "JSON Web Token, RFC 7519; JSON Web Encryption, RFC 7516",
    ),
    _Rows(
        ("lsv2_pt_", "lsv2_sk_"),
        rf"{_HEX}{{32}}_{_HEX}{{10}}",
        "traces, API keys",  # LangSmith
    ),
    _Rows(("wandb_v1_",), rf"{_TOKEN}{{40,}}", "Weights & Biases API keys"),
    _Rows(("pcsk_",), rf"{_ALNUM}{{4,8}}_{_ALNUM}{{40,}}", "Pinecone API keys"),
    _Rows(("AQ.Ab",), rf"{_TOKEN}{{30,}}", "Google API keys that are bound to an account"),
    _Rows(("GOCSPX-",), rf"{_TOKEN}{{20,}}", "Google OAuth 2.0 client secrets"),
    _Rows(("1//0",), rf"{_TOKEN}{{40,}}", "Google OAuth 2.0 refresh tokens"),
    _Rows(("ABSK",), rf"{_BASE64}{{100,}}", "Amazon, keys of model APIs; gitleaks"),
    _Rows(("tgp_v1_",), rf"{_TOKEN}{{30,}}", "Together AI API keys"),
    _Rows(("fw_",), rf"{_ALNUM}{{22,}}{_ENDS}", "Fireworks AI API keys", _is_mixed),
    _Rows(("csk-",), rf"{_ALNUM}{{40,}}", "Cerebras API keys"),
    _Rows(("sk_",), rf"{_HEX}{{40,}}{_ENDS}", "ElevenLabs API keys"),
    _Rows(("jina_",), rf"{_ALNUM}{{40,}}", "Jina AI API keys"),
    _Rows(("pa-",), rf"{_TOKEN}{{40,}}", "Voyage AI API keys", looks_random),
    _Rows(("fc-",), rf"{_HEX}{{32}}{_ENDS}", "Firecrawl API keys"),
    _Rows(("as-",), rf"{_ALNUM}{{22}}{_ENDS}", "Modal token secrets", _is_mixed),
    _Rows(("api_org_",), rf"{_ALNUM}{{30,}}", "Hugging Face; gitleaks"),
    _Rows(("dose",), r"[a-f0-9]{32}\b", "Databricks OAuth secrets"),
    _Rows(("sbp_",), rf"{_HEX}{{40}}", "Supabase access tokens"),
    _Rows(("sb_secret_",), rf"{_TOKEN}{{20,}}", "Supabase API keys"),
    _Rows(("vcp_", "vci_", "vca_", "vcr_", "vck_"), rf"{_ALNUM}{{50,}}", "Vercel tokens"),
    _Rows(("nfp_", "nfc_", "nfo_", "nfu_"), rf"{_ALNUM}{{36,}}", "Netlify tokens"),
    _Rows(("HRKU-",), rf"{_TOKEN}{{30,}}", "Heroku; gitleaks heroku-api-key-v2"),
    _Rows(("fm1r_", "fm2_"), rf"{_BASE64}{{100,}}", "Fly.io; gitleaks flyio-access-token"),
    _Rows(("rnd_",), rf"{_ALNUM}{{28,}}{_ENDS}", "Render API keys", _is_mixed),
    _Rows(
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        rf"(?:[a-z0-9_\-]{{2,35}}\.)?{_ALNUM}{{40,}}",
        "Doppler token formats",
    ),
    _Rows(("ops_",), rf"eyJ{_TOKEN}{{60,}}", "1Password service accounts; gitleaks"),
    _Rows(("secret_",), rf"{_ALNUM}{{43}}{_ENDS}", "Notion before 2024", looks_random),
    _Rows(("pat",), rf"{_ALNUM}{{14}}\.[a-f0-9]{{64}}\b", "Airtable; gitleaks"),
    _Rows(("figd_",), rf"{_TOKEN}{{36,}}", "Figma access tokens"),
    _Rows(("PMAK-",), rf"{_HEX}{{24}}-{_HEX}{{34}}", "Postman; gitleaks postman-api-token"),
    _Rows(("NRAK-",), r"[A-Z0-9]{27}", "New Relic; gitleaks new-relic-user-api-key"),
    _Rows(("glsa_",), rf"{_ALNUM}{{32}}_{_HEX}{{8}}", "Grafana service accounts; gitleaks"),
    _Rows(("glc_",), rf"{_BASE64}{{32,}}", "Grafana Cloud; gitleaks"),
    _Rows(("sntrys_", "sntryu_"), r"[\w+/=]{40,}", "error tracking; gitleaks"),
    _Rows(("sqp_", "squ_", "sqa_"), rf"{_HEX}{{40}}", "SonarQube; gitleaks sonar-api-token"),
    _Rows(("AKCp",), rf"{_ALNUM}{{60,}}", "Artifactory; gitleaks artifactory-api-key"),
    _Rows(("oy2",), r"[a-z0-9]{43}\b", "NuGet API keys"),
    _Rows(("rubygems_",), rf"{_HEX}{{48}}", "RubyGems; gitleaks rubygems-api-token"),
    _Rows(("cio",), rf"{_ALNUM}{{32}}{_ENDS}", "crates.io API tokens", _is_mixed),
    _Rows(
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        r"[\w=.\-]{30,}",
        "PlanetScale; gitleaks planetscale-api-token",
    ),
    _Rows(("napi_",), r"[a-z0-9]{60,}", "Neon API keys"),
    _Rows(("mdb_sa_sk_",), rf"{_TOKEN}{{30,}}", "MongoDB Atlas service accounts"),
    _Rows(
        ("EAA",),
        rf"(?<![+/=]EAA)(?:CEdEose0cBA{_ALNUM}{{20,}}|A{_TOKEN}{{60}}{_ENDS}"
        rf"|[BCGM]{_ALNUM}{{100,300}}{_ENDS})",
        "Square and Facebook; gitleaks square-access-token, facebook-page-access-token",
        looks_random,
    ),
    _Rows(
        ("AAAAAAAAAAAAAAAAAAAAA",),
        rf"(?<![+/=]A{{21}})[A-Za-z0-9%]{{70,120}}{_ENDS}",
        "X API v2, bearer tokens",
        looks_random,
    ),
    _Rows(
        ("sl.",), rf"(?:u\.)?{_TOKEN}{{100,}}", "Dropbox; gitleaks dropbox-short-lived-api-token"
    ),
    _Rows(("ATATT3",), r"[\w\-=]{40,}", "Atlassian; gitleaks atlassian-api-token"),
    _Rows(("FLWSECK-", "FLWSECK_TEST-"), rf"{_HEX}{{12,}}-X", "Flutterwave; gitleaks"),
    _Rows(("CFPAT-",), rf"{_TOKEN}{{40,}}", "Contentful personal access tokens"),
    _Rows(("pnu_", "pnb_"), rf"{_ALNUM}{{36}}", "Prefect; gitleaks prefect-api-token"),
    _Rows(("pul-",), rf"{_HEX}{{40}}\b", "Pulumi; gitleaks pulumi-api-token"),
    _Rows(
        ("sgp_",),
        rf"(?:(?:local|{_HEX}{{16}})_)?{_HEX}{{40}}\b",
        "Sourcegraph; gitleaks sourcegraph-access-token",
    ),
    _Rows(
        tuple(f"tskey-{kind}-" for kind in ("auth", "api", "client", "scim", "webhook")),
        rf"{_TOKEN}{{20,}}",
        "Tailscale key prefixes",
    ),
    _Rows(("v1.0-",), rf"{_HEX}{{24}}-{_HEX}{{140,}}", "Cloudflare origin CA; gitleaks"),
    _Rows(("duffel_live_", "duffel_test_"), rf"{_TOKEN}{{40,}}", "Duffel; gitleaks"),
    _Rows(("EZAK", "EZTK"), rf"{_ALNUM}{{54}}\b", "EasyPost; gitleaks easypost-api-token"),
    _Rows(("tfp_",), r"[\w\-.=]{40,}", "Typeform; gitleaks typeform-api-token"),
    _Rows(
        ("access_token$production$", "access_token$sandbox$"),
        r"[a-z0-9]{16}\$[a-f0-9]{32}",
        "PayPal Braintree",
    ),
    _Rows(
        ("access-production-", "access-sandbox-", "access-development-"),
        _UUID,
        "Plaid; gitleaks plaid-api-token",
    ),
    _Rows(
        ("00",),
        rf"(?<![\-+/]00){_TOKEN}{{40}}{_ENDS}",
        "Okta; gitleaks okta-access-token",
        _is_mixed,
    ),
    _Rows(("key-",), rf"(?<![\-.]key-)[a-f0-9]{{32}}{_ENDS}", "Mailgun; gitleaks"),
    _Rows(("re_",), rf"{_ALNUM}{{8}}_{_ALNUM}{{24}}{_ENDS}", "Resend API keys", _is_mixed),
    _Rows(
        ("s.",),
        rf"(?<![.$\-]s\.){_ALNUM}{{24}}(?![\w\-.(\[])",
        "HashiCorp Vault before 1.10; gitleaks vault-service-token",
        _is_mixed,
    ),
)
_ANYWHERE: tuple[tuple[str, str, str, ValueTest | None], ...] = (
    ("earer ", r"(?<=[Bb]earer )(?P<secret>[A-Za-z0-9_\-.=+/~]{8,})", "RFC 6750", _is_no_word),
    ("EARER ", r"(?<=BEARER )(?P<secret>[A-Za-z0-9_\-.=+/~]{8,})", "RFC 6750", _is_no_word),
    ("asic ", r"(?<=[Bb]asic )(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", "RFC 7617", _is_basic),
    (
        "-api-key-",
        r"(?P<secret>[\w\-+/=]{60,})",
        "Amazon, keys of a session; gitleaks",
        looks_random,
    ),
    ("response=", r"\\*\"(?P<secret>[a-f0-9]{32,64})\\*\"", "Digest, RFC 7616", None),
    (":AA", r"(?<=[0-9]{8}:AA)[A-Za-z0-9_\-]{33}", "Telegram bots; detect-secrets", None),
    (
        "Q~",
        r"(?<=[A-Za-z0-9_~.]{3}[0-9]Q~)[A-Za-z0-9_~.\-]{31,34}",
        "Azure AD; gitleaks azure-ad-client-secret",
        None,
    ),
    ("hooks.slack.com/services/", r"(?P<secret>[A-Za-z0-9/]{20,})", "Slack webhooks", None),
    (
        ".office.com/webhook",
        r"(?:b2)?/(?P<secret>[A-Za-z0-9@/\-]{40,})",
        "Teams webhooks; gitleaks",
        None,
    ),
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


_INSIDE = (
    ("JQQJ99", rf"{_ALNUM}{{52}}", rf"{_ALNUM}{{20,}}", "Azure OpenAI; gitleaks"),
    ("AZDO", rf"{_ALNUM}{{76}}", rf"{_ALNUM}{{4}}{_ENDS}", "Azure DevOps access tokens"),
    (".atlasv1.", rf"{_ALNUM}{{14}}", rf"{_TOKEN}{{60,}}", "Terraform; gitleaks"),
    ("-us", r"[a-f0-9]{32}", rf"[0-9]{{1,2}}{_ENDS}", "Mailchimp; gitleaks"),
    (
        ".",
        # An id of digits in base64.
        r"[MNO][DTjz][AEIMQUYcgk][A-Za-z0-9_\-]{19,25}",
        rf"{_TOKEN}{{6}}\.{_TOKEN}{{27,38}}{_ENDS}",
        "Discord bots; gitleaks discord-client-secret",
    ),
)
"""Shapes whose first letters are none: what stands before, as a whole word, and behind."""
_LONGEST_BEFORE = 80
_BEFORE_WORD = re.compile(r"(?:.*(?:[^A-Za-z0-9_\-]|\\[bfnrt]))?", re.DOTALL)
_IDS = ("AKIA", "ASIA")
_BEHIND_AN_ID = _Shape(
    "", re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"), looks_random
)
"""The secret of an AWS key, where its id is in the same text. Source: detect-secrets, `aws`."""

_BEFORE = (
    r"{0}(?:(?<!\w{0})|(?<=\\[bfnrt]{0})|(?<=\\u[0-9A-Fa-f]{{4}}{0})|(?<=%[0-9A-Fa-f]{{2}}{0}))"
)
"""The beginning of a word: not behind another character of one, unless that is an escape's."""


def _shapes() -> Iterator[_Shape]:
    """Yield all shapes. Text before a prefix is checked by looking back: otherwise the pattern
    would be tried at every place.
    """
    for row in _TABLE:
        for start in row.starts:
            before = _BEFORE.format(re.escape(start))
            yield _Shape(start, re.compile(before + row.rest), row.judge)
    for start, pattern, _, judge in _ANYWHERE:
        yield _Shape(start, re.compile(re.escape(start) + pattern), judge)
    for letters, word, rest, _ in _INSIDE:
        yield _Shape(letters, re.compile(re.escape(letters) + rest), None, re.compile(word))


_SHAPES = tuple(_shapes())
"""One that has found `vain` is no credential: a later one cannot begin in it."""
_Shapes = tuple[_Shape, ...]


class _Group(NamedTuple):
    """Shapes that are looked for where a character is in the text, and what the gate finds."""

    sign: str
    gate: re.Pattern[str] | None
    shapes: dict[str, _Shapes]
    """By what the gate finds."""


_NEXT = r"[A-Za-z0-9_\-+/=%.]"


def _behind(sign: str, others: str = "", *starts: str) -> _Group:
    """Return the shapes whose prefix ends in a sign: one search for a single character instead of
    one for each prefix. The gate finds the two characters before the sign.

    Args:
        sign: the sign.
        others: expression for what follows the sign in shapes that have it elsewhere.
        starts: those shapes.
    """
    shapes = [
        shape for shape in _SHAPES if shape.start.endswith(sign) and shape.start not in starts
    ]
    ends = sorted({shape.start[-3:-1] for shape in shapes})
    by_end = {end: tuple(shape for shape in shapes if shape.start[-3:-1] == end) for end in ends}
    itself = re.escape(sign)
    # Without others, what stands before the sign is looked up: that costs less than to compare it.
    before = "|".join(map(re.escape, ends)) if others else ".."
    one = rf"(?={_NEXT}{{10}})(?<=({before}){itself})"
    gate = rf"(?s:{itself}(?={_NEXT}{{3}})(?:{one}|{others or '(?!)'}))"
    return _Group(sign, re.compile(gate), {**by_end, "": _named(*starts)})


def _from(letter: str, others: str = "(?!)", *starts: str) -> _Group:
    """Return the shapes that begin with a letter, and others with that letter inside."""
    shapes = {
        shape.start[1:]: (shape, _BEHIND_AN_ID) if shape.start in _IDS else (shape,)
        for shape in _SHAPES
        if shape.start[0] == letter
        and shape.start not in (*starts, "AZDO", "EZAK", "EZTK")
        and shape.start[-1] not in _SIGNS
    }
    gate = rf"{letter}(?:(?=({'|'.join(map(re.escape, shapes))}))|{others})"
    return _Group(letter, re.compile(gate), {**shapes, "": _named(*starts)})


def _named(*starts: str) -> _Shapes:
    shapes = tuple(shape for shape in _SHAPES if shape.start in starts)
    assert len(shapes) == len(starts)
    return shapes


def _with(sign: str, gate: str, *starts: str) -> _Group:
    return _Group(sign, re.compile(gate) if gate else None, {"": _named(*starts)})


_SIGNS = "-_."
_SCHEME = r"(?:earer|asic|EARER) [A-Za-z0-9_\-.=+/~\\]{8}()"
"""With the backslash that JSON may have before a slash."""
_GROUPS = (
    _behind("-", "us[0-9]", "-us"),
    _behind("_"),
    _behind(
        ".",
        rf"(?={_TOKEN}{{6}})(?:atlasv1\.|(?<=s\.)(?={_ALNUM}{{24}})|{_TOKEN}{{6}}\.{_TOKEN}{{27}}|[a-f0-9]{{64}})",
        *("s.", "pat", ".", ".atlasv1."),
    ),
    _from("A", "(?<=[:E]A)A", ":AA", "EAA"),
    *map(_from, "GS"),
    _with("B", f"B{_SCHEME}", "earer ", "EARER ", "asic "),
    _with("b", f"b{_SCHEME}", "earer ", "asic "),
    _with(
        "=",
        "=(?<=[ye]=)(?:(?<=[?&]key=)|(?<=[?&]code=)|(?<=response=))()",
        *("key=", "code=", "response="),
    ),
    _with("$", r"\$(?=apr1|2[abxy]|[156y]|argon2)()", "$"),
    _with("$", "", "access_token$production$", "access_token$sandbox$"),
    _with("P", "", "Private-Lines:"),
    _with("J", "", "eyJ", "JQQJ99"),
    _with("Z", "", "b3BlbnNzaC1rZXktdjE", "AZDO", "EZAK", "EZTK"),
    _with("~", "", "Q~"),
    _with(
        "/",
        "/(?:services/|(?<=/api/)webhooks/|webhook|(?<=1//)0)()",
        *("hooks.slack.com/services/", "/api/webhooks/", ".office.com/webhook", "1//0"),
    ),
)
_LONG_WORDS = _named("00", "oy2", "dapi", "dose", "cio")
"""Shapes of common letters: only a text with a long word has one."""
_LONG_WORD = b"a" * 32
_IN_WORD = bytes(
    97 if chr(code).isalnum() or chr(code) in "_-" else 32 for code in range(128)
) + bytes(128)


def find_shapes(text: str) -> list[tuple[int, int]]:
    """Return the positions of credentials, by shape and not by name; some may overlap."""
    shapes: list[_Shape] = []
    for sign, gate, by_key in _GROUPS:
        if sign in text:
            for key in ("",) if gate is None else set(gate.findall(text)):
                shapes += by_key.get(key, ())
    if _LONG_WORD in text.encode("utf-8", "surrogatepass").translate(_IN_WORD):
        shapes += _LONG_WORDS
    spans = list(_private_keys(text)) if "V" in text and "-----BEGIN" in text else []
    if "@" in text and "://" in text:
        spans += _in_urls(text)
    for shape in shapes:
        if shape.start in text:
            spans += _spans(shape, text)
    return spans


def _spans(shape: _Shape, text: str) -> Iterator[tuple[int, int]]:
    _, pattern, judge, before = shape
    part = "secret" if "secret" in pattern.groupindex else 0
    for match in pattern.finditer(text):
        begins, ends = match.span(part)
        if before is not None:
            word = _BEFORE_WORD.match(text, max(0, begins - _LONGEST_BEFORE), begins)
            begins, at = begins if word is None else word.end(), begins
            if before.fullmatch(text, begins, at) is None:
                continue
        if match.lastgroup != "vain" and (judge is None or judge(match[part])):
            yield begins, ends


_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


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
