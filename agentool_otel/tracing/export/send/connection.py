"""A connection to a receiver: over TLS, and through the proxy that the environment names.

Proxies and certificate authorities are those of `requests`, and so of the official exporter:
`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, and `REQUESTS_CA_BUNDLE` where OpenTelemetry's
own variables say nothing.
"""

from __future__ import annotations

import base64
import os
import ssl
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export.send.deadline import TimedConnection, TimedTlsConnection

__all__ = ["Route", "Tls", "basic", "connect", "files_usable", "split"]

_FILES = ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY")


class Tls:
    """Trusted authorities and our certificate, from `OTEL_EXPORTER_OTLP_*CERTIFICATE` and `*_KEY`.

    Args:
        signal: whose variables apply; None: no certificate, and the system's authorities.

    Raises:
        ConfigurationError: one of these files cannot be read or used.
    """

    def __init__(self, signal: Signal | None):
        self._authority, self._certificate, self._key = (
            otlp_settings.value(file, signal) if signal else "" for file in _FILES
        )
        self._context: ssl.SSLContext | None = None
        if self._authority or self._certificate:
            try:
                self._context = self._make_context()
            except OSError as error:
                raise ConfigurationError(
                    f"{error}: {otlp_settings.variable('CERTIFICATE')}, _CLIENT_CERTIFICATE and "
                    "_CLIENT_KEY name PEM files"
                ) from error

    @property
    def context(self) -> ssl.SSLContext:
        """For `http.client`; made once, since it reads hundreds of certificates.

        Raises:
            OSError: the bundle that is configured for `requests` cannot be used.
        """
        if self._context is None:
            self._context = self._make_context()
        return self._context

    def grpc_credentials(self, grpc: Any) -> Any:
        """The same for gRPC, which reads `GRPC_DEFAULT_SSL_ROOTS_FILE_PATH` by itself."""
        files = [_read(path) for path in (self._authority, self._key, self._certificate)]
        return grpc.ssl_channel_credentials(*files)

    def _make_context(self) -> ssl.SSLContext:
        authority = self._authority
        if not authority:
            bundle = environment.trusted_by_requests()
            authority = bundle if os.path.exists(bundle) else ""
        folder, file = (authority, None) if os.path.isdir(authority) else (None, authority or None)
        try:
            context = ssl.create_default_context(cafile=file, capath=folder)
            if self._certificate:
                context.load_cert_chain(self._certificate, self._key or None)
        except OSError as error:  # `SSLError` is one
            names = ", ".join(item for item in (authority, self._certificate, self._key) if item)
            why = error.strerror or error
            raise OSError(f"{names} cannot be used for TLS ({why})") from error
        if not authority and not context.cert_store_stats()["x509_ca"]:
            _trust_usual(context)
        return context


def files_usable(signal: Signal) -> bool:
    """Return whether the files for TLS that the variables of a signal name can be used, and refuse
    the variable of the first that cannot.

    Without a file that was requested nothing is sent: to trust others would be less than was meant.
    """
    try:
        Tls(signal)
    except ConfigurationError as error:
        names = [
            otlp_settings.variable(
                file, signal if otlp_settings.value_of_signal(file, signal) else None
            )
            for file in _FILES
        ]
        named = [name for name in names if environment.is_set(name)]
        unreadable = [item for item in named if not os.access(environment.value(item), os.R_OK)]
        why = f"cannot be used, so nothing is sent: {error}"
        environment.refuse((unreadable or named)[0], why)
        return False
    return True


def _trust_usual(context: ssl.SSLContext) -> None:
    """Trust the usual authorities where the system has no certificates, as in many containers."""
    try:
        import certifi
    except ImportError:
        return
    context.load_verify_locations(certifi.where())


def _read(path: str) -> bytes | None:
    if not path:
        return None
    with open(path, "rb") as file:
        return file.read()


def split(url: str) -> SplitResult | None:
    """Return a URL in its parts; None if it names no host, or a port that is none."""
    try:
        parts = urlsplit(url)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


class Route(NamedTuple):
    """A connection that is not open yet, and the data that requests need on it."""

    connection: TimedConnection
    path: str
    """The request target: a path, or the whole URL for a proxy."""
    headers: dict[str, str]


def connect(url: SplitResult, tls: Tls, proxies: bool = True) -> Route:
    """Return the way to a URL, through the proxy of the environment unless `proxies` is False.

    Raises:
        OSError: the proxy does not speak HTTP, or the certificate bundle cannot be used.
    """
    secure = url.scheme == "https"
    host, port = url.hostname or "", url.port or (443 if secure else 80)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    proxy = _proxy(url.scheme, host, port) if proxies else None
    if proxy is None:
        return Route(_connection(host, port, tls if secure else None), path, {})
    login: dict[str, str] = {}
    if proxy.username:
        login["proxy-authorization"] = basic(proxy.username, proxy.password)
    via = _connection(proxy.hostname or "", proxy.port or 80, tls if secure else None)
    if secure:
        via.set_tunnel(host, port, login)
        return Route(via, path, {})
    # Without TLS the whole URL goes to the proxy: many open tunnels to port 443 alone.
    shown = url.netloc.rpartition("@")[2]
    return Route(via, f"http://{shown}{path}", login)


def _connection(host: str, port: int, tls: Tls | None) -> TimedConnection:
    if tls is None:
        return TimedConnection(host, port)
    return TimedTlsConnection(host, port, context=tls.context)


def _proxy(scheme: str, host: str, port: int) -> SplitResult | None:
    proxies = getproxies()
    url = proxies.get(scheme) or proxies.get("all")
    if not url or proxy_bypass(f"{host}:{port}") or proxy_bypass(host):
        return None
    proxy = split(url if "://" in url else f"http://{url}")
    if proxy is None:
        raise OSError(f"{scheme.upper()}_PROXY names no host: use http://host:port")
    if proxy.scheme != "http":
        raise OSError(
            f"a {proxy.scheme} proxy is not supported: name one with http:// "
            f"in {scheme.upper()}_PROXY, or {host} in NO_PROXY"
        )
    return proxy


def basic(user: str, password: str | None) -> str:
    """Return the value of an authorization header, of a quoted user name and password of a URL."""
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
