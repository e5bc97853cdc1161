"""Amplifier: sessions by a hook module, since handlers are registered per session.

hook      what is registered with a session, and what it wraps
methods   methods of one object, wrapped for it alone

What the events mean is in `event_streams.amplifier`; the module that a mount plan names is
`agentool_otel.amplifier_hook`.
"""
