"""The MCP Python SDK, client and server.

Seen are `tools/call`, `prompts/get` and `resources/read` (`requests` says why these), as a CLIENT
span where they are sent and a SERVER span where they are handled, joined by the trace context in
`_meta`, over any transport. A tool that fails answers with `isError`: error `tool_error`, without
an exception. A call in several rounds (`input_required`) is one span of mcp 2's `Client`.

Not seen: requests of a server to its client (sampling, elicitation), prompts and resources as
content, subscriptions, `completion/complete`, tasks after their creation, which transport a client
uses, and its session's id. A connection that a server of mcp 2 has answered on before
`instrument()` stays unseen, clients do not.

A server that a client starts over stdio is given a few variables only, unless the program passes
`env`: for its spans to be recorded it needs to be run under this package itself.

Source: mcp 1.30 (client/session.py, shared/session.py, server/lowlevel/server.py) and 2.3
(client/client.py, client/session.py, shared/jsonrpc_dispatcher.py, server/runner.py,
server/_otel.py). Private are `_on_request`, `_allocate_id`, `_handle_request` and
`mcp.server._otel`.
"""

from __future__ import annotations

import importlib.metadata

from agentool_otel.integrations.mcp.instrumentor import client, server
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["MCPInstrumentor"]


def _is_1() -> bool:
    try:
        return importlib.metadata.version("mcp").startswith("1.")
    except importlib.metadata.PackageNotFoundError:
        return False


class MCPInstrumentor(AgentInstrumentor):
    """Clients and servers of the Python SDK, joined over memory, stdio and HTTP: patches."""

    framework = "mcp"
    supports = ("mcp >= 1.23",)
    patches = (
        *client.PATCHES,
        *(
            (*client.PATCHES_1, *server.PATCHES_1)
            if _is_1()
            else (*client.PATCHES_2, *server.PATCHES_2)
        ),
    )
    native_scopes = ("mcp-python-sdk",)
