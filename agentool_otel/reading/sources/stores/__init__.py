"""JSON in which stores keep and export spans: one format per store, recognised by its members.

A store that keeps roles, inputs and outputs outside attributes gets them back into attributes under
the names its own OTLP exporter uses, listed in its file, so that one dialect reads both.

store_format  the protocol of a format: a `Container`
shapes        all formats, in the order in which they are tried
registry      the stores that are installed
"""
