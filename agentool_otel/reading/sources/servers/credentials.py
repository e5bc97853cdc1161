"""The credentials for a server, which are sent to it and never shown.

User and password of the URL are sent as Basic, `AGENTOOL_TEMPO_TOKEN` as Bearer, and
`AGENTOOL_TEMPO_TENANT` in the header by which the server tells its tenants apart; `JAEGER` in place
of `TEMPO` for Jaeger. No message holds them, and they are taken out of what a server answers.
"""

from __future__ import annotations

import base64
from urllib.parse import unquote

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment

__all__ = ["Credentials"]

_SHORTEST = 4
"""Characters of a secret that is looked for in a server's answers; a shorter one is in any text."""


class Credentials:
    """The headers that authenticate us to a server, with a filter that keeps them out of
    messages.

    Args:
        store: the kind of server, as in the names of its variables, such as `Tempo`.
        userinfo: `user:password` of a URL, percent-encoded; it goes before a token.
        tenant_header: the name of the server's header for a tenant.

    Raises:
        ConfigurationError: a variable holds what no header can.
    """

    def __init__(self, store: str, userinfo: str, tenant_header: str):
        self._secrets: list[str] = []
        self.headers: dict[str, str] = {}
        self.variables = (environment.token_variable(store), environment.tenant_variable(store))
        """Names of the environment variables: of the token, and of the tenant."""
        token, tenant = map(_header_value, self.variables)
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


def _header_value(variable: str) -> str:
    value = environment.value(variable)
    if not value.isascii() or not value.isprintable():
        raise ConfigurationError(
            f"{variable} holds characters that no HTTP header can; hint: set it again"
        )
    return value
