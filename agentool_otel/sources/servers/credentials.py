"""Who we are to a server: said to it, and to nobody else.

User and password of the URL are sent as Basic, `AGENTOOL_TEMPO_TOKEN` as Bearer, and
`AGENTOOL_TEMPO_TENANT` in the header by which the server tells its tenants apart; `JAEGER` in place
of `TEMPO` for Jaeger. They stand in no message, and a server's words are searched for them.
"""

from __future__ import annotations

import base64
import os
from urllib.parse import unquote

from agentool_otel.errors import ConfigurationError

__all__ = ["Credentials"]

_SHORTEST = 4
"""Characters of a secret that are looked for in the words of a server; fewer are in any text."""


class Credentials:
    """What a server asks for, kept out of whatever is shown.

    Args:
        store: as in the names of the variables, such as `TEMPO`.
        userinfo: `user:password` of a URL, percent-encoded; it goes before a token.
        tenant_header: the name of the server's header for a tenant.

    Raises:
        ConfigurationError: a variable holds what no header can.
    """

    def __init__(self, store: str, userinfo: str, tenant_header: str):
        self._secrets: list[str] = []
        self.headers: dict[str, str] = {}
        self.variables = (f"AGENTOOL_{store}_TOKEN", f"AGENTOOL_{store}_TENANT")
        """Names of the environment variables: of the token, and of the tenant."""
        token, tenant = map(_set, self.variables)
        if userinfo:
            user, _, password = userinfo.partition(":")
            plain = f"{unquote(user)}:{unquote(password)}"
            encoded = base64.b64encode(plain.encode()).decode()
            self.headers["authorization"] = f"Basic {encoded}"
            self._secrets += [encoded, password, unquote(password)]
        elif token:
            self.headers["authorization"] = f"Bearer {token}"
            self._secrets.append(token)
        if tenant:
            self.headers[tenant_header] = tenant
            self._secrets.append(tenant)

    def __repr__(self) -> str:
        return "<credentials>"

    def hidden_in(self, text: str) -> str:
        """Return a text without them."""
        for secret in self._secrets:
            if len(secret) >= _SHORTEST:
                text = text.replace(secret, "***")
        return text


def _set(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value.isascii() or not value.isprintable():
        raise ConfigurationError(
            f"{variable} holds characters that no HTTP header can; hint: set it again"
        )
    return value
