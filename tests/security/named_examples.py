"""Credentials that a name or a command gives away, and ordinary texts that look alike.

They complete `masking_examples` where the audit had few: command lines, lists of arguments,
configuration, cookies, networks, seeds, sentences, other languages, programs.
"""

from __future__ import annotations

import json

from tests.security.masking_examples import BASE64, HEX, URL_SAFE, Example, made

__all__ = ["NAMED", "ORDINARY", "PROGRAMS"]

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
        "first line\npassword:@@",
        "retry with:\n--password @@",
        'PASSWORD = rb"@@"',
        "password = f'@@'",
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
        "dump:\nada:1103:aad3b435b51404eeaad3b435b51404ee:@@:::\n",
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
        "wif: 5@@",
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
        "error: bad secret key: '@@'",
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

ORDINARY: list[str] = [
    # Sentences.
    "my password is wrong",
    "The password is required.",
    "password is case-sensitive",
    "the password is at least 8 characters long",
    "the password is 12 characters",
    "the password is base64-encoded",
    "the passphrase is hashed with SHA-256",
    "Your password is: required",
    "The token is valid for 3600s.",
    "the secret is out",
    "the key is under the mat",
    "api key: see the docs",
    "API key: https://docs.example.com/v2/keys",
    "api key: required, 32 characters",
    "Invalid API key provided",
    "invalid api key: <your key>",
    "invalid api key: none",
    "ssh key: 4096 bits",
    "SSH key: 2048-bit RSA",
    "encryption key: AES-256",
    "private key: /etc/ssl/private/server2.pem",
    "access token: expired 3 days ago",
    "session token: 15 minutes",
    "Public key: ed25519",
    "primary key: 12345, foreign key: 67890",
    "License: MIT. Key: C# minor",
    "Press any key: F5 runs, F9 stops",
    "The community is: growing",
    "community: https://community.example.com/2026",
    "recipe: seed phrase cake, 200 g sugar, 3 eggs",
    "seed phrase: write the words down and keep them",
    "seed: 42",
    "random_seed=1234567890",
    "seed=20261121, temperature=0.7",
    "sunflower seed: 20 g, sesame seed: 5 g, bake at 180C",
    "mnemonic: Every Good Boy Does Fine",
    "mnemonic: mov eax, ebx",
    "recovery phrase: none yet",
    "swift: 5.9, wife: Ada, wifi: on",
    "verifier: passed 12 of 12",
    "the signature is valid",
    "signature: def f(a: int, b2: str) -> None",
    "signature: (self, key1, key2)",
    "Signature: Ada Lovelace, 21/11/2026",
    "unseal progress: 1/3",
    "phrase: the quick brown fox",
    "PSK: phase-shift keying",
    "modulation=QPSK: 4 symbols",
    "user guide: password reset takes 5 minutes",
    "passwords: 12 found, 3 weak",
    "cookies: 24, bake for 12 minutes",
    "session_id=3f2b8c1e-9a4d-4f6b-8e21-7c5d0a9b1e44",
    '{"session_id": "3f2b8c1e-9a4d-4f6b-8e21-7c5d0a9b1e44", "sessionId": "abc123def456"}',
    "key 1: value 1, key 2: value 2",
    "Table 3: key data, 2026",
    "client data: 12 rows",
    "la contrase\u00f1a es incorrecta",
    "contrase\u00f1a: olvidada",
    "mot de passe : oubli\u00e9",
    "mot de passe : obligatoire",
    "senha: incorreta",
    "Passwortrichtlinie: mindestens 12 Zeichen",
    "\u043f\u0430\u0440\u043e\u043b\u044c: \u043d\u0435\u0432\u0435\u0440\u043d\u044b\u0439",
    "\u5bc6\u7801\uff1a\u5fc5\u586b",
    "la parola: ciao",
    # Command lines.
    "docker run -p 8080:80 -d nginx",
    "docker run --name a -p 127.0.0.1:5432:5432/tcp postgres:16",
    "docker login && docker run -p 8080:80 app",
    "docker login -u bob",
    "docker login -u USER -p PASSWORD",
    "docker login -u $USER -p $PASSWORD",
    "echo $TOKEN | docker login --password-stdin",
    'echo "$TOKEN" | docker login -u bob --password-stdin',
    "cat token.txt | gh auth login --with-token",
    "docker login --password-stdin < token.txt",
    "echo hello2026 | tee out.txt",
    "echo done1 | grep -w done1",
    "mkdir -p build/dir1",
    "ssh -p 2222 ada@host1 uptime",
    "scp -P 2222 file1.txt host:/tmp",
    "cp -a src1 dst2",
    "grep -w password1 -r src",
    "grep -a needle42 file.bin",
    "ls -a /var/log2",
    "pip install -p python3.11 x",
    "ps -p 12345 -o comm",
    "cp -p file1 file2; tar -xpf a1.tar",
    "python -u main2.py -w 4workers",
    "git commit -a -m 'Fix 12345'",
    "git log -p file1.py",
    "make -w target1",
    "patch -p1 < fix.patch",
    "perl -pe 's/a1/b2/'",
    "nc -w 5 host1 80",
    "curl -w '%{http_code}' https://example.com/a1",
    "zip -r9 backup1.zip data2",
    "7z x archive1.7z -o/tmp/out2",
    "redis-cli -h cache1 -p 6379 ping",
    "mongosh --port 27017 db1",
    "mysql -p app1",
    "mysql -h db1 -P 3306 -u root",
    "ldapsearch -x -b dc=example1",
    "az login --use-device-code",
    "az vm list -o table2",
    "helm upgrade app1 chart2 -f values3.yaml",
    "tool --key-file /etc/key1.pem --token-url https://x/t1",
    "tool --password-file ./secret1.txt",
    "gcc -pass-exit-codes main1.c",
    "--token-count 4096 --max-tokens 512",
    "Select-String -Pattern key1",
    '{"args": ["-y", "server", "--port", "8080", "--host", "127.0.0.1"]}',
    '{"args": ["--api-key", "${API_KEY}", "--verbose"]}',
    '{"args": ["--api-key", "$API_KEY"]}',
    '{"args": ["--token", "--verbose"]}',
    '{"args": ["docker", "run", "-p", "8080:80"]}',
    '{"command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/x1"]}',
    "['git', 'commit', '-a', '-m', 'message 12']",
    "['mkdir', '-p', 'build1']",
    # Files and networks.
    'variable "region" {\n  default = "eu-central-1"\n}',
    'variable "db_password" {\n  type = string\n  sensitive = true\n}',
    'variable "key_name" { default = "deploy-2026" }',
    '{"kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4", "e": "AQAB"}',
    '{"d": "M10 10 L20 20 Z", "k": "v1", "p": 3}',
    '{"d": "Xk29vTqhunterXk29vTqhunter", "q": "how to bake 12 eggs"}',
    'x = {"d": day1, "k": key2}',
    "client-certificate-data: none",
    "::add-mask::$TOKEN",
    "::add-mask::${{ secrets.TOKEN }}",
    "::set-output name=sum::12345",
    "::notice file=a1.py,line=2::3 problems",
    "##vso[task.setvariable variable=version]1.2.345",
    "snmp-server location rack12",
    "snmp-server community string is required",
    "ntp server 10.0.0.1 key 1",
    "at 12:30:::45",
    "std::vector<int>::iterator it2",
    "PATH: /usr/bin:::/opt/x2",
    "ETag: 8f3ab2c94d5e6f708192a3b4c5d6e7f8",
    '{"name": "colour", "value": "blue42", "args": []}',
    "connect.sid: see express-session 1.18",
]

PROGRAMS: dict[str, list[str]] = {
    "JavaScript": [
        "function(e,t){return e.password===t?1:0}",
        "if(e.password!==t.password)return!1;",
        "const s=n?r.password:o.value,u=e.token==t.token||null;",
        "users.map(password=>hash(password)).filter(token=>token.length>8)",
        "return{password:e.target.value,token:void 0,secret:!0,apiKey:n.apiKey||t}",
        'type:a?"text":"password",autoComplete:"off"',
        "if (password.length >= 8 && password != old) submit();",
        "this.state={password:this.props.password,passphrase:async()=>{}};",
        "export const isPassword = (it) => it.password === undefined;",
        "var password=password||t,passwd=e.passwd&&e.passwd.trim();",
        "const headers = { Authorization: `Bearer ${token}`, cookie: req.headers.cookie };",
        'document.querySelector("input[type=password]").value = user.password;',
        "const { password, apiKey } = process.env; const d = 5, k = d + 1;",
        'case"password":t=e.password;break;case"token":t=e.token',
        "e.apiKey=t.apiKey,e.seed=Math.random(),e.signature=r(e.d,e.k);",
    ],
    "TypeScript": [
        "interface User { password?: string; apiKey: string | null; secret: Promise<string> }",
        "async login(password: string, token?: string): Promise<void> {}",
        "type Credentials = { password: Secret<'password'>; passphrase: SecretStr };",
    ],
    "Python": [
        "if user.password == form.password: return True",
        "assert settings.API_KEY != other.API_KEY",
        "password = request.form['password'] if ok else None",
        "def connect(*, password: bytes | None = None, passphrase: SecretStr): ...",
        "client = Client(api_key=self.config.api_key, password=kwargs.pop('password'))",
        "hash = lambda password: sha256(password.encode()).hexdigest()",
        "if (password := getpass()) == confirm: save(password)",
        "random.seed(42); torch.manual_seed(seed=1234567)",
        "password: Annotated[str, Field(min_length=12)]",
        "token = next(tokens); key = sorted(keys)[0]; d = {'k': 1, 'd': 2}",
        'headers = {"Authorization": f"Bearer {token}", "X-Request-Id": request_id}',
        'headers = {"Authorization": "Bearer " + self.api_key}',
        "headers['Authorization'] = 'Token %s' % token",
        'return {"Authorization": "Bearer {}".format(key)}',
        'auth_header = f"Basic {b64encode(pair)}"; password = f"{user}-{number}"',
        'def login(user, password=None, *, token="", secret: str | None = None) -> str:',
    ],
    "Go": [
        'if password == "" || token != expected { return errInvalid }',
        'password := r.FormValue("password")',
        "func New(password string, token *string) (*Client, error) {",
        'cfg := Config{Password: os.Getenv("DB_PASSWORD"), APIKey: opts.APIKey}',
        'req.Header.Set("Authorization", "Bearer "+token)',
        "password := cfg.Password",
    ],
    "Rust": [
        "pub struct Login { pub password: String, pub token: Option<String> }",
        "fn verify(password: &str, hash: &'a str) -> bool { password == hash }",
        "let password = args.password.unwrap_or_default();",
        "match key { Key::Char('q') => break, _ => {} }",
        "Login { password: password.into(), passphrase: Vec<u8> }",
    ],
    "SQL": [
        "SELECT id FROM users WHERE password = @password AND token = :token",
        "SELECT password = crypt($1, password) FROM users WHERE api_key = ?",
        "UPDATE users SET password = NULL, password_reset = now() WHERE id = 12345",
        "INSERT INTO users (name, password) VALUES (%(name)s, %(password)s)",
    ],
    "shell": [
        'curl -H "Authorization: Bearer $TOKEN" https://api.example.com/items',
        'if [ "$PASSWORD" = "" ]; then exit 1; fi',
        'if [[ "$PASSWORD" == "$CONFIRM" ]]; then echo same; fi',
        "[ -z $TOKEN ] && TOKEN=$(cat token.txt)",
        'export PASSWORD="${PASSWORD}" TOKEN="$(get-token --quiet)"',
        'read -s -p "Password: " PASSWORD',
        "input('Password: ') == input('Repeat the password: ')",
        "case $key in password) shift;; esac",
    ],
    "templates": [
        'password: "{{ vault_password }}"',
        "password={{ password }}&token={% csrf_token %}",
        'password: "${{ secrets.DB_PASSWORD }}"',
        "password = <%= password %>",
        'api_key: "<your key>"',
        '<input type="password" v-model="user.password" :key="item.id">',
    ],
    "PHP, Ruby, Java, C": [
        "if ($user->password === $password) { return $this->token; }",
        "$password = $_POST['password'];",
        "user = User.find_by(password: params[:password], token: @token)",
        "this.password = password; if (password.equals(other)) return;",
        "private String password; public String getPassword() { return password; }",
        "const char *password = NULL; strcmp(password, other) == 0",
    ],
}
"""Programs by their language: a name of a credential, and no credential."""
