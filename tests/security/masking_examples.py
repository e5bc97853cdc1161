"""Examples of texts that masking has to change, or to leave alone.

Credentials are made at run time of a beginning and random characters, so that no file of this
repository looks as if it had one. Groups and kinds are those of a security audit; no text stems
from a rule, so that rules cannot be written to fit.
"""

from __future__ import annotations

import base64
import json
import random
import string
from typing import NamedTuple

__all__ = ["CREDENTIALS", "HARMLESS", "IN_CLEAR", "Example", "leaks", "made", "pem"]

_RANDOM = random.Random("masking")
ALNUM = string.ascii_letters + string.digits
URL_SAFE = f"{ALNUM}-_"
HEX = "0123456789abcdef"
BASE64 = f"{ALNUM}+/"


class Example(NamedTuple):
    """A text with a credential in it."""

    group: str
    kind: str
    text: str
    secrets: tuple[str, ...]
    """Secrets of which no part of eight characters may remain."""


def made(length: int, alphabet: str = ALNUM) -> str:
    """Return random characters, the same in every run; the ends are letters or digits."""
    ends = [item for item in alphabet if item.isalnum()]
    choices = _RANDOM.choices(alphabet, k=length - 2)
    return "".join((_RANDOM.choice(ends), *choices, _RANDOM.choice(ends)))


def leaks(example: Example, text: str) -> bool:
    """Return whether a secret, or a part of it, is in a text."""
    return any(
        secret[at : at + 8] in text
        for secret in example.secrets
        for at in range(max(1, len(secret) - 7))
    )


def pem(kind: str, lines: int) -> tuple[str, str]:
    """Return a key in PEM, and the secret part of it."""
    body = "\n".join(made(64, BASE64) for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----", body


def _starting(start: str, length: int, alphabet: str = ALNUM) -> str:
    return start + made(length, alphabet)


_VENDORS = {
    "npm": _starting("npm_", 36),
    "PyPI": _starting("pypi-AgEIcHlwaS5vcmc", 60, URL_SAFE),
    "Groq": _starting("gsk_", 52),
    "xAI": _starting("xai-", 80),
    "Replicate": _starting("r8_", 37),
    "Perplexity": _starting("pplx-", 48),
    "DigitalOcean": _starting("dop_v1_", 64, HEX),
    "Databricks": _starting("dapi", 32, HEX),
    "HashiCorp Vault": _starting("hvs.", 92, URL_SAFE),
    "Docker Hub": _starting("dckr_pat_", 27, URL_SAFE),
    "Shopify": _starting("shpat_", 32, HEX),
    "Square": _starting("sq0atp-", 22, URL_SAFE),
    "Linear": _starting("lin_api_", 40),
    "Notion": _starting("ntn_", 46),
    "Stripe webhook": _starting("whsec_", 32),
    "SendGrid": f"SG.{made(22, URL_SAFE)}.{made(43, URL_SAFE)}",
    "Slack app": f"xapp-1-{made(11, string.ascii_uppercase)}-{made(13, string.digits)}-{made(64)}",
    "Google OAuth": _starting("ya29.a0A", 120, URL_SAFE),
    "age": _starting("AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "Twilio": _starting("SK", 32, HEX),
    "Telegram bot": f"AA{made(33, URL_SAFE)}",
    "Azure AD": f"{made(3)}8Q~{made(34, URL_SAFE + '.')}",
    "AWS secret by itself": f"{made(17)}/K7{made(20)}",
    "AWS secret beside its id": f"{made(18)}+w9{made(19)}",
    "OpenAI": _starting("sk-proj-", 120, URL_SAFE),
    "Anthropic": _starting("sk-ant-api03-", 93, URL_SAFE),
    "AWS access key": _starting("AKIA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "Google API": _starting("AIzaSy", 33, URL_SAFE),
    "GitHub": _starting("ghp_", 36),
    "GitHub fine-grained": f"github_pat_{made(22)}_{made(59)}",
    "GitLab": _starting("glpat-", 20, URL_SAFE),
    "Slack bot": f"xoxb-{made(12, string.digits)}-{made(12, string.digits)}-{made(24)}",
    "Stripe": _starting("sk_live_", 24),
    "Hugging Face": _starting("hf_", 34),
}  # fmt: skip
_AROUND = (
    "failed with {} (401)",
    "{}",
    'curl "https://api/x" {}\n',
    "use {}, please",
    "key\n{}\nend",
)
_BESIDE = {
    "AWS secret beside its id": f"{_VENDORS['AWS access key']},{{}}\n",
    "Telegram bot": f"https://api.telegram.org/bot{made(10, '123456789')}:{{}}/getMe",
}
_by_vendor = [
    Example(
        "vendor prefixes", kind, _BESIDE.get(kind, _AROUND[number % 5]).format(secret), (secret,)
    )
    for number, (kind, secret) in enumerate(_VENDORS.items())
]

_PASSWORD = "Xk29!vTq_hunter"


def _group(name: str, *kinds: tuple[str, str, str]) -> list[Example]:
    """Examples of a group, each a kind, a text with `{}` for the secret, and that."""
    return [
        Example(name, kind, text.replace("{}", secret), (secret,)) for kind, text, secret in kinds
    ]


_urls = _group(
    "URLs",
    ("Slack webhook", "POST https://hooks.slack.com/services/{} -> 200",
     f"T0{made(9, string.ascii_uppercase)}/B0{made(9, string.ascii_uppercase)}/{made(24)}"),
    ("Discord webhook", "https://discord.com/api/webhooks/1122334455667788990/{}",
     made(68, URL_SAFE)),
    ("user without password", "git clone https://{}@git.example.com/team/repo.git", made(40)),
    ("@ in the password", "postgres://ada:{}@db.example.com:5432/app", "p@ss29!vTq"),
    ("/ in the password", "redis://:{}@cache:6379/0", "p/q29vTqxK/9"),
    ("SAS", "https://acc.blob.core.windows.net/c/f?sv=2022-11-02&sig={}&se=2026", f"{made(42)}%3D"),
    ("AWS signature", "https://b.s3.amazonaws.com/k?X-Amz-Expires=3600&X-Amz-Signature={}",
     made(64, HEX)),
    ("key=", "GET https://maps.example.com/json?address=Ghent&key={}", made(39, URL_SAFE)),
    ("code=", "GET /callback?state=1&code={} HTTP/1.1", f"4/0{made(60, URL_SAFE)}"),
    ("password%3D", "https://x/login?next=%2Fa%3Fpassword%3D{}%26b%3D1", "Xk29vTqhunter"),
    ("user and password", "https://ada:{}@example.com/x", "Xk29!vTq"),
    ("password alone", "redis://:{}@cache:6379", "Xk29vTqx"),
    ("api_key", "https://api.example.com/v1?api_key={}&page=2", made(24)),
    ("access_token", "https://graph.example.com/me?access_token={}", made(40)),
    ("password=", "https://example.com/login?user=ada&password={}", _PASSWORD),
    ("otpauth", "otpauth://totp/Example:ada?secret={}&issuer=Example", made(32, "ABCDEFGH234567")),
)  # fmt: skip

_commands = _group(
    "command lines",
    ("--password x", "mongosh --host db --username ada --password {} app", _PASSWORD),
    ("--password=x", "mysqldump --user=ada --password={} app > dump.sql", _PASSWORD),
    ("--api-key x", "tool run --api-key {} --verbose", made(24)),
    ("--token=x", "gh-runner ./config.sh --url https://x --token={}", made(29)),
    ("--token x", "helm login --token {} --insecure", made(29)),
    ("curl -u", "curl -s -u ada:{} https://example.com/api", _PASSWORD),
    ("curl --user", "curl --user 'ada:{}' https://example.com/api", "Xk29 vTq hunter"),
    ("mysql -p", "mysql -h db -uada -p{} app", "Xk29vTqhunter"),
    ("sshpass", "sshpass -p {} ssh ada@host uptime", _PASSWORD),
    ("quoted", 'docker login --username ada --password "{}" registry.example.com',
     "Xk29 vTq, hunter"),
)  # fmt: skip

_files = _group(
    ".env, INI, ODBC",
    ("DB_PASS", "DB_HOST=db\nDB_PASS={}\nDB_PORT=5432", _PASSWORD),
    ("DB_PWD", "DB_PWD={}\nDEBUG=1", _PASSWORD),
    ("PWD of ODBC", "Driver={SQL Server};Server=db;UID=sa;PWD={};Encrypt=yes", _PASSWORD),
    ("pass =", "[smtp]\nuser = ada\npass = {}\n", _PASSWORD),
    ("OPENAI_KEY", "export OPENAI_KEY={}", made(32)),
    ("STRIPE_KEY", "STRIPE_KEY='{}'", made(32)),
    ("TOKEN=", "TOKEN={}\n", made(40)),
    ("JENKINS_TOKEN", "JENKINS_TOKEN={} make deploy", made(34, HEX)),
    ("TOML secret", '[auth]\nsecret = "{}"\n', made(32)),
    ("INI at the beginning", "password={}\nuser=ada", _PASSWORD),
    ("password behind a line", "user=ada\npassword={}", _PASSWORD),
    ("api_key behind a tab", "a\tb\n\tapi_key = {}", made(32)),
    ("DB_PASSWORD", "DB_PASSWORD={}", _PASSWORD),
    ("SECRET_KEY", "SECRET_KEY = '{}'", "django-insecure-" + made(40, f"{ALNUM}$%^*+-_")),
    ("MY_APP_SECRET", "MY_APP_SECRET={}\r\nX=1", made(32)),
    ("AccountKey", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
     made(86, BASE64) + "=="),
    ("JDBC", "jdbc:postgresql://db/app?user=ada&password={}&ssl=true", _PASSWORD),
    ("ADO", 'Data Source=db;User ID=sa;Password="{}";Pooling=true', "Xk29;vTq;hunter"),
)  # fmt: skip

_NAMED = made(28)
_gcp = pem("PRIVATE KEY", 2)
_json = [
    Example("JSON", kind, json.dumps(value) if not isinstance(value, str) else value, secrets)
    for kind, value, secrets in (
        ("pwd", {"user": "ada", "pwd": _PASSWORD}, (_PASSWORD,)),
        ("pass", {"user": "ada", "pass": _PASSWORD}, (_PASSWORD,)),
        ("token", {"token": _NAMED, "n": 1}, (_NAMED,)),
        ("name and value", {"env": [{"name": "DB_PASSWORD", "value": _PASSWORD}]}, (_PASSWORD,)),
        ("key and value", [{"key": "api_key", "value": _NAMED}], (_NAMED,)),
        ("pairs in lists", {"headers": [["X-Api-Key", _NAMED], ["Accept", "*/*"]]}, (_NAMED,)),
        ("in an object", {"secret": {"value": _NAMED, "version": 3}}, (_NAMED,)),
        ("list of bytes", {"secret_key": list(b"0123456789abcdef")}, ("48, 49, 50, 51, 52",)),
        ("escape in a name", f'{{"pass\\u0077ord": "{_PASSWORD}"}}', (_PASSWORD,)),
        ("escape in a value", f'{{"note": "\\u0073k-proj-{_NAMED}"}}', (_NAMED,)),
        ("docker auth", {"auths": {"https://index.docker.io/v1/": {"auth": base64.b64encode(
            f"ada:{_PASSWORD}".encode()).decode()}}},
         (base64.b64encode(f"ada:{_PASSWORD}".encode()).decode(),)),
        ("password", {"db": {"password": _PASSWORD}}, (_PASSWORD,)),
        ("apikey", {"apikey": _NAMED}, (_NAMED,)),
        ("x-api-key", {"headers": {"x-api-key": _NAMED}}, (_NAMED,)),
        ("three deep", {"a": json.dumps({"b": json.dumps({"password": _PASSWORD})})}, (_PASSWORD,)),
        ("four deep", {"a": json.dumps({"b": json.dumps({"c": json.dumps(
            {"note": f"x\npassword: {_PASSWORD}"})})})}, (_PASSWORD,)),
        ("GCP key file", {"type": "service_account", "private_key": _gcp[0]}, (_gcp[1],)),
        ("a member name", {f"sk-proj-{_NAMED}": 1}, (_NAMED,)),
    )
]  # fmt: skip

_documents = _group(
    "YAML, XML, HTML, SQL, tables",
    ("YAML block", "db:\n  password: |\n    {}\n  port: 1", _PASSWORD),
    ("YAML folded", "password: >-\n  {}\nport: 1", _PASSWORD),
    ("next line", "password:\n  {}\nport: 1", _PASSWORD),
    ("XML element", "<server><username>ada</username><password>{}</password></server>",
     "Xk29 vTq hunter"),
    ("XML attribute", '<add key="ApiKey" value="{}"/>', made(32)),
    ("HTML input", '<input type="password" name="pw" value="{}">', _PASSWORD),
    ("HTML hidden", '<input type="hidden" name="csrf_token" value="{}">', made(40)),
    ("SQL password", "CREATE ROLE ada WITH LOGIN PASSWORD '{}';", _PASSWORD),
    ("SQL identified", "CREATE USER 'ada'@'%' IDENTIFIED BY '{}';", _PASSWORD),
    ("Oracle identified", "ALTER USER ada IDENTIFIED BY {};", "Xk29vTqhunter"),
    ("table row", "| user | ada |\n| password | {} |\n", _PASSWORD),
    ("table column", "| user | password |\n|---|---|\n| ada | {} |\n", _PASSWORD),
    ("CSV", "user,password,role\nada,{},admin\n", _PASSWORD),
    ("TSV", "id\tapi_key\n1\t{}\n", made(32)),
    ("netrc", "machine api.example.com login ada password {}\n", _PASSWORD),
    ("netrc in lines", "machine api.example.com\n  login ada\n  password {}\n", _PASSWORD),
    ("pgpass", "db.example.com:5432:app:ada:{}\n", "Xk29!vTqhunter"),
    ("htpasswd", "ada:$apr1${}\nbob:x", f"{made(8)}${made(22)}"),
    ("bcrypt", "ada:$2y$10${}\n", made(53)),
    ("kubeconfig", "users:\n- name: ada\n  user:\n    token: {}\n", made(64)),
    ("YAML quoted", "db:\n  password: '{}'\n", "Xk29 vTq hunter"),
    ("YAML at the beginning", "password: {}\nport: 1", _PASSWORD),
    ("Kubernetes env", "- name: DB_PASSWORD\n  value: {}\n", _PASSWORD),
    ("indented", "db:\n  password: {}\n", _PASSWORD),
)  # fmt: skip

_headers = _group(
    "headers",
    ("BEARER", "AUTHORIZED BY BEARER {}", made(40)),
    ("basic", "got basic {} from client", base64.b64encode(b"ada:Xk29!vTqhunter9").decode()),
    ("Digest", 'Digest username="ada", realm="x", nonce="1", uri="/", response="{}"',
     made(32, HEX)),
    ("AWS4", "AWS4-HMAC-SHA256 Credential=x/20261121/eu/s3/aws4_request, SignedHeaders=host, "
     "Signature={}", made(64, HEX)),
    ("cookie behind a quoted one", 'Cookie: theme="dark"; sid={}\nHost: x', made(32)),
    ("PRIVATE-TOKEN", "curl -H 'PRIVATE-TOKEN: {}' https://gitlab.example.com", made(20)),
    ("Bearer", "Authorization: Bearer {}\r\nHost: x", made(40)),
    ("Basic", "Authorization: Basic {}\n", base64.b64encode(b"ada:Xk29!vTqhunter").decode()),
    ("Token", "authorization: Token {}", made(40, HEX)),
    ("X-API-Key", "X-API-Key: {}\n", made(32)),
    ("Cookie", "Cookie: sid={}; theme=dark", made(32)),
    ("Set-Cookie", "Set-Cookie: session={}; Path=/; HttpOnly", made(32)),
    ("web token", "got {}", f"eyJ{made(20)}.eyJ{made(40)}.{made(43, URL_SAFE)}"),
    ("behind a line", "Host: x\nauthorization: ApiKey {}\nAccept: */*", made(32)),
)  # fmt: skip


def _whole(kind: str, text: str, secret: str) -> Example:
    return Example("keys", kind, text, (secret,))


def _pem(kind: str, name: str, lines: int) -> Example:
    text, body = pem(name, lines)
    return _whole(kind, f"key:\n{text}\nend", body)


_pgp = "\n".join(made(64, BASE64) for _ in range(20))
_ppk = "\n".join(made(64, BASE64) for _ in range(8))
_one_line = made(240, BASE64)
_ec = pem("EC PRIVATE KEY", 4)
_keys = [
    _pem("PEM above 8 KB", "RSA PRIVATE KEY", 200),
    _whole("PGP", f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{_pgp}\n=ab1C\n"
           "-----END PGP PRIVATE KEY BLOCK-----", _pgp),
    _whole("PPK", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ada\n"
           f"Public-Lines: 2\nAAAA\nBBBB\nPrivate-Lines: 8\n{_ppk}\nPrivate-MAC: {'0' * 64}", _ppk),
    _whole("one-line OpenSSH", f"key: b3BlbnNzaC1rZXktdjEAAAAA{_one_line} ada@host", _one_line),
    _pem("PEM", "PRIVATE KEY", 26),
    _pem("OpenSSH", "OPENSSH PRIVATE KEY", 30),
    _pem("encrypted", "ENCRYPTED PRIVATE KEY", 20),
    _whole("PEM in repr", repr(_ec[0]), _ec[1].splitlines()[2]),
]  # fmt: skip

_values = _group(
    "values",
    ("comma", "password={}\n", "ab,Xk29vTqREST"),
    ("semicolon", "password={}\n", "ab;Xk29vTqREST"),
    ("quote", "password={}\n", 'ab"Xk29vTqREST'),
    ("in parentheses", "password=({})\n", "Xk29vTqREST"),
    ("in angle brackets", "password=<{}>\n", "Xk29vTqREST"),
    ("parenthesis inside", "password={}\n", "ab(Xk29vTqREST"),
    ("default of a variable", "password=${DB_PASSWORD:-{}}\n", "Xk29vTqREST"),
    ("None-x", "password={}\n", "None-Xk29vTqREST"),
    ("quoted above 1,024", 'password="{}"\n', "correct horse 29 " * 80 + "end"),
    ("short quoted", "password='{}'\n", "ab1"),
    ("plain", "password={}\n", "hunter2"),
    ("ampersand", "password={}\n", "ab&Xk29vTqREST"),
    ("bracket inside", "password={}\n", "ab]Xk29vTqREST"),
    ("backslash inside", "password={}\n", "ab\\Xk29vTqREST"),
)  # fmt: skip

_SAID = "Xk29vTqhunter"
_encoded = _group(
    "encodings, words",
    ("base64 of a credential", "see {}", base64.b64encode(f"password={_SAID}".encode()).decode()),
    ("hex of a credential", "see {}", f"password={_SAID}".encode().hex()),
    ("zero-width character inside", "pass\u200bword={}", _SAID),
    ("the password is x", "the password is {}", _SAID),
    ("Passwort", "Passwort: {}", _SAID),
    ("homoglyph", "p\u0430ssword={}", _SAID),
    ("short by design", "password={}", "abc"),
)

CREDENTIALS: list[Example] = [
    *_by_vendor, *_urls, *_commands, *_files, *_json, *_documents, *_headers, *_keys, *_values,
    *_encoded,
]  # fmt: skip

IN_CLEAR = {
    "AWS secret by itself",
    "base64 of a credential",
    "hex of a credential",
    "zero-width character inside",
    "homoglyph",
    "short by design",
}
"""Kinds that pass, as SECURITY.md declares."""

HARMLESS: list[str] = [
    # The audit's.
    "Basic understanding of the matter is enough",
    "Basic internationalization is built in",
    "see sk-learn-contrib-projects on GitHub",
    '{"credentials":"include"}',
    'fetch(url, {credentials: "same-origin"})',
    '{"cookie":"chocolate"}',
    "A cookie: sweet=tasty",
    "Cookie: Recipe=chocolate chip",
    "Set-Cookie: name=value",
    '{"secret":"The butler did it"}',
    "credentials: missing",
    "forgot password: click here",
    "AccessKey = ctrl+s",
    "time://10:20@noon",
    "postgres://user:password@localhost",
    # Programs.
    "def login(password: str, api_key: Optional[str] = None) -> None:",
    "api_key=os.environ['OPENAI_API_KEY']",
    "password = getpass.getpass('Password: ')",
    "interface Login { password: string; token: string }",
    "OPENAI_API_KEY=${OPENAI_API_KEY} PASSWORD=$PASSWORD",
    "const token = await auth.getToken(user)",
    "token = tokenizer.next_token()",
    "if key == 'enter': return",
    "for key, value in items.items():",
    'sort_key = "created_at"',
    "PRIMARY_KEY = 'user_id'",
    "self.api_key = api_key",
    "password: z.string().min(8)",
    "ALTER TABLE t ADD PRIMARY KEY (id), ADD FOREIGN KEY (a) REFERENCES b (id)",
    '<label for="password">Password</label><input type="password" name="password" value="">',
    "import secrets; secrets.token_hex(16)",
    "task-force, disk-usage, risk-assessment-committee",
    "assert response.headers['set-cookie'] is None",
    # Data.
    '{"next_page_token": null, "total_tokens": 4096, "tokens": [1, 2, 3]}',
    '{"usage": {"prompt_tokens": 12, "completion_tokens": 40}, "finish_reason": "stop"}',
    '{"key": "title", "value": "A winter in Ghent"}',
    '{"name": "temperature", "value": 21.5}',
    '{"token": "the", "logprob": -0.31}',
    '{"keys": ["a", "b"], "primary_key": "id", "foreign_key": "user_id"}',
    '{"id": "3f2b8c1e-9a4d-4f6b-8e21-7c5d0a9b1e44", "sha": "'
    '9fceb02d0ae598e95dc970b74767f19372d61af8"}',
    '{"properties": {"api_key": {"type": "string", "description": "your key"}}}',
    '{"code": 404, "error": "not found", "auth": "required"}',
    '{"pass": true, "passes": 12, "passed": 3}',
    'etag: W/"0815-17d1f0a1b2c"\ncontent-length: 4096',
    "cache_key=user:12345:profile",
    "s3_key=uploads/2026/11/21/annual-report-final.pdf",
    "partition_key: 2026-11-21",
    # Words and logs.
    "token budget: 4000 used, max_tokens=4096",
    "the password: is it there?",
    "api_key: <your key>",
    "--password <password>  the password of the server",
    "--token TOKEN   authentication token (default: none)",
    "Key: C major, tempo: 120",
    "monkey: banana, keyboard=qwerty, author: Ada",
    "the secret: patience",
    "Passwords must have at least 8 characters and one digit.",
    "| key | value |\n|---|---|\n| colour | blue |\n",
    "country,code\nBelgium,BE\nFrance,FR\n",
    "12:30:00 INFO main.py:5432: started",
    "https://example.com/articles/2026/11/basic-authentication-explained?page=2&code=BE",
    "mkdir -p build && cp -r src build && ls -la",
    "https://medium.com/@ada/how-to-keep-secrets-b1946ac92492",
]
assert len(HARMLESS) == 62
