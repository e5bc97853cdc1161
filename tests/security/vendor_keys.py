"""Keys of vendors that their shape alone gives away, and texts that only look alike.

A key is made at run time of a form, so that no file of this repository looks as if it had one. In a
form `{A40}` is 40 letters or digits, `h` lower hex, `H` capitals and digits, `l` small letters and
digits, `u` base64url, `b` base64.
"""

from __future__ import annotations

import random
import re
import string

__all__ = ["LOOK_ALIKES", "VENDOR_KEYS"]

_RANDOM = random.Random("vendors")
_LETTERS = string.ascii_letters + string.digits
_ALPHABETS = {
    "A": _LETTERS,
    "h": "0123456789abcdef",
    "H": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "u": f"{_LETTERS}-_",
    "b": f"{_LETTERS}+/",
}
_UUID = "{h8}-{h4}-4{h3}-a{h3}-{h12}"
_FORMS = {
    "1Password": "ops_eyJ{u250}",
    "Airtable": "pat{A14}.{h64}",
    "Amazon Bedrock": "ABSK{b112}",
    "Amazon Bedrock, short term": "bedrock-api-key-{u200}",
    "Artifactory": "AKCp{A69}",
    "Atlassian": "ATATT3xFfGF0{u180}",
    "Azure DevOps": "{A76}AZDO{A4}",
    "Azure OpenAI": "{A52}JQQJ99B{A25}",
    "Braintree": "access_token$production${l16}${h32}",
    "Cerebras": "csk-{l48}",
    "Cloudflare origin CA": "v1.0-{h24}-{h146}",
    "Contentful": "CFPAT-{u43}",
    "crates.io": "cio{A32}",
    "Databricks OAuth": "dose{h32}",
    "Discord bot": "MTA{A21}.{A6}.{u38}",
    "Doppler": "dp.pt.{A43}",
    "Dropbox": "sl.u.AF{u130}",
    "Duffel": "duffel_live_{u43}",
    "EasyPost": "EZAK{A54}",
    "ElevenLabs": "sk_{h48}",
    "encrypted web token": "eyJhbGciOiJSUzI1NiJ9.eyJ{u90}.{u43}.{u43}.{u43}",
    "Facebook": "EAACEdEose0cBA{A150}",
    "Figma": "figd_{u40}",
    "Firecrawl": "fc-{h32}",
    "Fireworks": "fw_{A24}",
    "Flutterwave": "FLWSECK-{h32}-X",
    "Fly.io": "fm2_{b200}",
    "GitLab CI job": "glcbt-64_{u20}",
    "GitLab OAuth": "gloas-{h64}",
    "GitLab runner": "GR1348941{u20}",
    "Google, bound to an account": "AQ.Ab8RN6{u44}",
    "Google OAuth client": "GOCSPX-{u28}",
    "Google refresh token": "1//0g{u98}",
    "Grafana": "glsa_{A32}_{h8}",
    "Grafana Cloud": "glc_{b72}",
    "Heroku": "HRKU-AA{u58}",
    "Hugging Face organisation": "api_org_{A34}",
    "Jina": "jina_{h32}{A28}",
    "Langfuse": f"sk-lf-{_UUID}",
    "LangSmith": "lsv2_pt_{h32}_{h10}",
    "Mailchimp": "{h32}-us12",
    "Mailgun": "key-{h32}",
    "Microsoft Teams": "https://x.webhook.office.com/webhookb2/"
    f"{_UUID}@{_UUID}/IncomingWebhook/{{h32}}/{_UUID}",
    "Modal": "as-{A22}",
    "MongoDB Atlas": "mdb_sa_sk_{u40}",
    "Neon": "napi_{l64}",
    "Netlify": "nfp_{A36}",
    "New Relic": "NRAK-{H27}",
    "Notion before 2024": "secret_{A43}",
    "NuGet": "oy2{l43}",
    "Okta": "00{u40}",
    "Pinecone": "pcsk_{A6}_{A63}",
    "Plaid": f"access-production-{_UUID}",
    "PlanetScale": "pscale_tkn_{u43}",
    "Postman": "PMAK-{h24}-{h34}",
    "Prefect": "pnu_{A36}",
    "Pulumi": "pul-{h40}",
    "Render": "rnd_{A32}",
    "Resend": "re_{A8}_{A24}",
    "RubyGems": "rubygems_{h48}",
    "Sentry": "sntrys_{b96}_{A43}",
    "Slack cookie": "xoxd-{A120}",
    "SonarQube": "sqp_{h40}",
    "Sourcegraph": "sgp_{h40}",
    "Square": "EAAA{u60}",
    "Stripe organisation": "sk_org_live_{A60}",
    "Supabase": "sbp_{h40}",
    "Supabase secret": "sb_secret_{u22}_{A8}",
    "Tailscale": "tskey-auth-{A12}CNTRL-{A32}",
    "Terraform": "{A14}.atlasv1.{A64}",
    "Together": "tgp_v1_{u43}",
    "Typeform": "tfp_{u59}",
    "Vault before 1.10": "s.{A24}",
    "Vercel": "vcp_{A56}",
    "Voyage": "pa-{u43}",
    "Weights & Biases": "wandb_v1_{u77}",
    "X": "AAAAAAAAAAAAAAAAAAAAA{A80}",
}


def _made(part: re.Match[str]) -> str:
    """Return random characters; those with signs begin and end with a letter or digit."""
    alphabet, length = _ALPHABETS[part[1]], int(part[2])
    if part[1] in "ub":
        return f"x{''.join(_RANDOM.choices(alphabet, k=length - 2))}7"
    return "".join(_RANDOM.choices(alphabet, k=length))


VENDOR_KEYS = {kind: re.sub(r"\{(\w)(\d+)\}", _made, form) for kind, form in sorted(_FORMS.items())}
LOOK_ALIKES = (
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "004bf92f3577b34da6a3ce929d0e0e47364bf92f35",
    "sha256=-00tc-VTkFaHkkFV5bvznuvKUeCD5xfWmS4Rqi1nq8E",
    "s.addEventListenerOnceMoreX(click)",
    "self.s.getElementsByTagNameOfAll",
    "fw_handle_of_a_window_that_is_open",
    "fw_handleOfAWindowThatIsOpen",
    "re_compiled_patternsOfAllTheModules",
    "as-administratorOfTheHouse",
    "pa-rather-long-name-of-a-project-in-a-list-of-many",
    "access-production-database-from-the-office",
    "secret_santa_is_a_game_of_the_month_of_december",
    "cache-key-d41d8cd98f00b204e9800998ecf8427e",
    "key-value-store",
    "en-us12",
    "d41d8cd98f00b204e9800998ecf8427e-us-east-1",
    "pattern.sub",
    "patent0123456789.pdf",
    "cioran",
    "cio" + "a" * 32,
    "dose of 0123456789abcdef",
    "oy2mate",
    "Macintosh.module.function_of_a_module_with_a_name",
    "AZDO",
    "A" * 101,
    "EAA" + "A" * 61,
    "/EAAA" + "x1Y" * 30,
    "1//0",
    "sl.u.short",
    "v1.0-beta-3",
    "sk_buff_allocated_by_the_kernel_of_the_system",
    "napi_create_function_with_the_name_of_a_module",
    "tfp_distributions",
    "nfc_reader_of_the_telephone_at_the_door",
    "rnd_numbersOfTheGeneratorOfTheGame",
    "webhook.office.com/webhookb2/",
    "bedrock-api-key-rotation-is-described-in-the-manual-of-the-operator-of-it",
    "access_token$production$",
    "eyJ.eyJ.x",
)
"""Texts that begin or end as a key does. None is masked."""
