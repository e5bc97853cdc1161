"""Amplifier: sessions by a hook module, since handlers are registered per session.

mounting      what Amplifier calls when it mounts the module, and when a session is ready
session_hook  what is registered with a session, and what it wraps
methods       methods of one object, wrapped for it alone

What the events mean is in `integrations.amplifier.events`.
"""

from agentool_otel.integrations.amplifier.hook.mounting import mount, on_session_ready

__all__ = ["mount", "on_session_ready"]
