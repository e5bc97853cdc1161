"""The live side: from a call in a running program to a span in a file or on the wire.

setup            `instrument()`: configuration, providers, and what is in force
instrumentation  what instrumentors of libraries share
capture          decorators, `run()` and what else records a call by hand
export           where finished spans and log records go
spans            from operation to span

Nothing here imports `reading` or `evaluation`.
"""
