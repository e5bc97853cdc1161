"""Shapes of JSON object that hold spans: one file per shape, recognised by its members.

Each file says where a system keeps what a `SpanRecord` has. A system that keeps roles, inputs and
outputs outside attributes gets them back into attributes under the names its own OTLP exporter
uses, listed in its file, so that one dialect reads both.

`known` has the stores that are installed, `shapes` all containers in the order in which they are
asked.
"""
