"""Credentials that a name or a command gives away, and ordinary texts that look alike.

They complete `masking_examples` where the audit had few: command lines, lists of arguments,
configuration, cookies, networks, seeds, sentences, other languages, programs.
"""

from __future__ import annotations

import json

from tests.security.masking_examples import ALNUM, BASE64, HEX, URL_SAFE, Example, made

__all__ = ["NAMED", "ORDINARY"]

_PASSWORD = "Xk29!vTq_hunter"
_PLAIN = "Xk29vTqhunter"
_KEY = made(32)
_LONG = made(64, URL_SAFE)
_HASH = made(32, HEX)
_DIGEST = made(64, HEX)
_WORDS = "witch collapse practice feed shame open despair creek road again ice least"


def _named(group: str, secret: str, *texts: str) -> list[Example]:
    """Return examples of a group: texts with `@@` in place of the secret, each its own kind."""
    return [Example(group, text, text.replace("@@", secret), (secret,)) for text in texts]


_commands = [
    *_named(
        "short options", _PLAIN,
        "az login --service-principal -u app -p @@ --tenant t",
        "sudo podman login -u bob -p @@ quay.io",
        "helm registry login -u bob -p @@ registry.example.com",
        "oc login https://api:6443 -u dev -p @@",
        "cd /srv && docker login -u bob -p @@ && docker push app",
        "mongodump --host db -u root -p @@ --out /tmp/dump",
        "mongosh 'mongodb://db' -u root -p '@@'",
        "7z a -p@@ -mhe=on backup.7z data/",
        "rar a -hp@@ backup.rar data/",
        "unzip -P @@ backup.zip",
        "zip -r -P @@ backup.zip data",
        "ldapadd -x -D cn=admin -w @@ -f users.ldif",
        "ldapsearch -x -H ldap://dc -w@@ -b dc=example",
        "/usr/bin/redis-cli -h cache -a @@ ping",
        "valkey-cli -a \"@@\" info",
        "sqlcmd -S db -U sa -P @@ -Q 'select 1'",
        "cqlsh db 9042 -u cassandra -p @@",
        "mosquitto_pub -h mq -u dev -P @@ -t a -m b",
        "plink -ssh -pw @@ root@host uptime",
        "ipmitool -I lanplus -H bmc -U admin -P @@ power status",
        "keytool -list -keystore a.jks -storepass @@",
        "mysqldump -uroot -p@@ app > app.sql",
    ),
    *_named(
        "long options", _KEY,
        "Connect-Service -TenantId t -ClientSecret @@",
        "New-Session -Password '@@'",
        "server -token @@ -port 80",
        "fly deploy --access-token @@",
    ),
    *_named(
        "piped in", _PASSWORD,
        "echo @@ | docker login -u bob --password-stdin",
        "echo -n '@@' | podman login --password-stdin quay.io",
        "printf '%s' @@ | helm registry login --password-stdin r",
        "printf \"%s\\n\" \"@@\" | gh auth login --with-token",
        "echo 'root:@@' | chpasswd",
        "echo @@ | sudo -S systemctl restart app",
        "docker login -u bob --password-stdin <<< '@@'",
        "echo @@ | gpg --batch --passphrase-fd 0 -d a.gpg",
    ),
]  # fmt: skip


def _arguments(*arguments: str) -> Example:
    text = json.dumps({"command": arguments[0], "args": arguments[1:]})
    secret = _KEY if _KEY in text else _PLAIN
    return Example("arguments", text, text, (secret,))


_lists = [
    _arguments("npx", "-y", "server", "--api-key", _KEY),
    _arguments("uvx", "mcp-server", "--access-token", _KEY, "--verbose"),
    _arguments("node", "server.js", "--clientSecret", _KEY),
    _arguments("redis-cli", "-h", "cache", "-a", _PLAIN),
    _arguments("docker", "login", "-u", "bob", "-p", _PLAIN),
    _arguments("mysql", "-uroot", f"-p{_PLAIN}", "app"),
    *_named(
        "arguments", _PLAIN,
        "['psql', '-h', 'db', '--password', '@@']",
        "subprocess.run(['docker', 'login', '-u', 'bob', '-p', '@@'], check=True)",
        'spawn("server", ["--db-password", "@@", "--port", "80"])',
        '["redis-cli", "-a", "@@"]',
        '{"mcpServers": {"x": {"command": "npx", "args": ["-y", "x", "--secret-key", "@@"]}}}',
        "CMD [\"server\", \"--password\", \"@@\"]",
        "Command '['mysql', '-p@@', 'app']' returned non-zero exit status 1",
    ),
]  # fmt: skip

_files = [
    *_named(
        "files", made(120, BASE64),
        "users:\n- name: ada\n  user:\n    client-key-data: @@\n",
        "TLS_PRIVATE_KEY_PEM=@@\n",
        "signing_key_base64: @@\n",
        '{"clientKeyData": "@@"}',
    ),
    *_named(
        "files", _PASSWORD,
        "DB_PASSWORD_PROD=@@\n",
        "db_password_1: @@\n",
        "password2 = '@@'\n",
        'variable "db_password" {\n  type    = string\n  default = "@@"\n}\n',
        'variable "api_key" { default = "@@" }',
        "wpa_key_mgmt=WPA-PSK\n  psk=\"@@\"\n",
        "echo ::add-mask::@@\n",
        "##vso[task.setvariable variable=dbPassword;issecret=true]@@\n",
    ),
    *_named(
        "web keys", made(86, URL_SAFE),
        '{"kty": "RSA", "n": "0vx7agoebGcQ", "e": "AQAB", "d": "@@"}',
        '{"keys": [{"crv": "P-256", "d": "@@", "kty": "EC", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV"}]}',
        "loaded {'kty': 'oct', 'k': '@@'} from disk",
        '{"kty":"RSA","dp":"@@","e":"AQAB"}',
    ),
]  # fmt: skip

_networks = [
    *_named(
        "networks", _KEY,
        "GET /index.php HTTP/1.1 PHPSESSID=@@",
        "curl -b JSESSIONID=@@ https://x",
        "connect.sid=s%3A@@",
        "ASP.NET_SessionId=@@; path=/",
        '[{"name": "PHPSESSID", "value": "@@", "domain": "example.com"}]',
        '{"cookies": {"JSESSIONID": "@@"}}',
        'network={ ssid="home" psk="@@" }',
        "snmp-server community @@ RO 10\n",
        "tacacs-server host 10.0.0.1 key 7 @@\n",
        "pre-shared-key ascii-text @@\n",
    ),
    *_named(
        "networks", _HASH,
        "Administrator:500:aad3b435b51404eeaad3b435b51404ee:@@:::",
        f"dump:\nada:1103:{made(32, HEX)}:@@:::\n",
    ),
    *_named(
        "signatures", _DIGEST,
        "X-Hub-Signature-256: sha256=@@",
        "Stripe-Signature: t=1492774577,v1=@@",
        "X-Slack-Signature: v0=@@\n",
        "X-Signature: @@",
        '{"headers": {"x-hub-signature-256": "sha256=@@"}}',
    ),
]  # fmt: skip

_seeds = [
    *_named(
        "seeds", _KEY,
        "Unseal Key 1: @@\nUnseal Key 2: x",
        "TOTP seed: @@",
        "otp_seed=@@",
        '{"mfaSeed": "@@"}',
        f"5{made(10)}wif: 5@@",
        "recovery key: @@",
    ),
    *_named(
        "seeds", _LONG,
        "code_verifier=@@&grant_type=authorization_code",
        '{"code_verifier": "@@"}',
        "oauth_verifier: @@",
    ),
    *_named(
        "seeds", _WORDS,
        '{"mnemonic": "@@"}',
        "seed phrase: @@",
        "Your recovery phrase is: @@\n",
        "MNEMONIC=\"@@\"",
        "wallet_phrase: '@@'",
    ),
]  # fmt: skip

_sentences = [
    *_named(
        "sentences", _KEY,
        "invalid api key: @@",
        "Incorrect API key provided: @@. You can find your key in the settings.",
        "the access token is @@, use it",
        "Private key: @@",
        "error: bad secret key '@@'",
    ),
    *_named(
        "sentences", _PLAIN,
        "my password is @@",
        "Your password is: @@",
        "the wifi password is '@@' at home",
        "ok, the passphrase is @@.",
        "The DB password is @@ and the user is ada",
        "password is @@",
    ),
]  # fmt: skip

_languages = _named(
    "languages", _PLAIN,
    "contraseña: @@", "Contraseña=@@", "la contraseña es: @@", "CONTRASEÑA: @@",
    "mot de passe : @@", "Mot de passe\u00a0: @@", "mot_de_passe=@@", '{"motDePasse": "@@"}',
    "senha: @@", "Senha = @@", "palavra-passe: @@", "wachtwoord: @@", "lösenord: @@",
    "Passwort: @@", "DB_PASSWORT=@@", "hasło: @@", "heslo: @@", "salasana: @@", "parola: @@",
    "пароль: @@", "Пароль: @@", "ПАРОЛЬ=@@", "密码: @@", "数据库密码：@@", "口令：@@",
    "パスワード: @@", "비밀번호: @@", '{"пароль": "@@"}', '{"contraseña": "@@"}',
)  # fmt: skip

NAMED: list[Example] = [
    *_commands, *_lists, *_files, *_networks, *_seeds, *_sentences, *_languages,
]  # fmt: skip
