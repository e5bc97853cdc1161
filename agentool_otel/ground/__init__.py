"""Utilities that know nothing of spans; every other package may import them.

attached         how a patch of a function of others turned out
environment      every environment variable that is read
instrumentors    entry points of instrumentors, and the packages they patch
json_codec       JSON text, also where orjson has no form for a value
literals         Python literals, read without running anything
optional         libraries that an extra of this package brings
ownership        whose a file is, before it is written to
private_folders  folders for recorded content, which git ignores
plugins          entry points, ours and those of others
temporary        private temporary folders
tracer_provider  the tracer provider that `instrument()` uses
urls             URLs of servers, without their credentials
version          the version of this package
untrusted_text   make untrusted text safe to print and log
"""
