"""Every environment variable that this package reads: its effect, default and source. Those of
OTLP, which every signal has again, are in `otlp_settings`.

Other modules call the functions here and spell no name. A function takes the environment, that of
the process by default. White space around a value never counts, and an empty variable is unset. An
invalid value does not stop a program: it is reported by name, once in the log and in `status()`,
and counts as unset unless its reader handles it (`usable`).

Of the variables that the SDK, gRPC or OpenTelemetry's API read by themselves, those stand here that
`agentool-otel doctor` explains.
Those that httpx reads are here as well, because a message names them.

Spec of those that begin with `OTEL_`, where nothing else stands: opentelemetry-specification,
configuration/sdk-environment-variables.md, with the units of opentelemetry-sdk 1.45.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

from agentool_otel.errors import AgentoolError
from agentool_otel.ground import variable_values as values

__all__ = [
    "AGENT",
    "AGENT_USAGE",
    "ALSO",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ATTRIBUTE_COUNT_LIMIT",
    "BATCH_SIZE",
    "CAPTURE",
    "CASE",
    "CERTIFICATES",
    "COLUMNS",
    "COPIES",
    "COUNT_LIMITS",
    "DELAY",
    "DISABLED",
    "EVENT_LIMIT",
    "EXCEPTIONS",
    "EXPORT_TIMEOUT",
    "FOLDER",
    "GEMINI_API_KEY",
    "GENERATION",
    "GOOGLE_GEMINI_BASE_URL",
    "INFER_RUNS",
    "INSTRUMENTATIONS_DISABLED",
    "JOURNAL",
    "LARGEST_ATTRIBUTE",
    "LARGEST_SPAN",
    "MAX_AGE",
    "MAX_SIZE",
    "OFFLOAD",
    "OPENAI_API_BASE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "PREFILTER",
    "PROXIES",
    "PYTHON_PATH",
    "QUEUE_SIZE",
    "QUIET",
    "RECORD",
    "RESOURCE_ATTRIBUTES",
    "RUN_OPTIONS",
    "SAMPLER",
    "SAMPLER_ARGUMENT",
    "SERVICE_NAME",
    "STRICT",
    "SYNC",
    "UNPACK_LIMIT",
    "VALUE_LENGTH_LIMITS",
    "Signal",
    "age_limit",
    "agent",
    "agent_usage_wanted",
    "cache_folder",
    "case_id",
    "copies_wanted",
    "disabled_instrumentations",
    "event_limit",
    "exporter_variable",
    "handed_down",
    "infer_runs",
    "is_set",
    "journal_wanted",
    "names_of_opentelemetry",
    "notice",
    "of_opentelemetry",
    "of_this_package",
    "pairs",
    "prefilter_wanted",
    "quiet",
    "record_wanted",
    "recordings_folder",
    "refuse",
    "refused",
    "run_sums_up",
    "sdk_disabled",
    "sdk_measures_itself",
    "size_limit",
    "strict",
    "sync_wanted",
    "tenant_variable",
    "token_variable",
    "trusted_by_requests",
    "unpack_limit",
    "usable",
    "value",
]

Signal = Literal["traces", "metrics", "logs"]

_T = TypeVar("_T")
_U = TypeVar("_U")
_notices = values.Notices()

# ------------------------------------------------------------------------------------------ ours

FOLDER: Final = "AGENTOOL_DIR"
"""The folder of the recordings and of what waits to be sent. Default: `.agentool`."""

JOURNAL: Final = "AGENTOOL_JOURNAL"
"""`off`, `false`, `0` or `no`: no span is on disk before it is written in a batch, so those of a
killed process are lost. Default: on."""

SYNC: Final = "AGENTOOL_SYNC"
"""`on`, `true`, `1` or `yes`: what is written to the folder of the recordings is synced to the disk
in groups, so that a power failure loses the last tenth of a second at most. Default: off."""

MAX_SIZE: Final = "AGENTOOL_MAX_SIZE"
"""Bytes that the folder of the recordings may have: `500MB`, `2GiB`, at least `100KB`. The oldest
files of recordings are removed first, and never what waits to be sent. Default: no limit."""

MAX_AGE: Final = "AGENTOOL_MAX_AGE"
"""Time after its last write when a file of a recording is removed: `7d`, `12h`. Default: no
limit."""

GENERATION: Final = "AGENTOOL_SEMCONV"
"""The generation of the GenAI conventions whose names are written: `2026-08`, `1.41`, `1.36`.
Default: today's."""

ALSO: Final = "AGENTOOL_ALSO"
"""The vocabulary whose names are written beside ours on spans that are sent: `openinference`, or
`none`. Default: none."""

AGENT_USAGE: Final = "AGENTOOL_AGENT_USAGE"
"""`on`, `true`, `1` or `yes`: spans of agents have the tokens of the model calls below, wherever
they go. Backends that sum over all spans count those twice. Default: in recordings alone."""

OFFLOAD: Final = "AGENTOOL_OFFLOAD"
"""Storage for texts that are too large for an attribute: a folder or an fsspec URL such as
`s3://bucket/prefix`; `none` keeps nothing. Default: `content` in the folder of the recording, if
spans are recorded.
"""

LARGEST_ATTRIBUTE: Final = "AGENTOOL_MAX_ATTRIBUTE_BYTES"
"""Bytes of UTF-8 that the text of an attribute may have. Default: 1 MiB."""

LARGEST_SPAN: Final = "AGENTOOL_MAX_SPAN_BYTES"
"""Bytes of UTF-8 that all texts of a span may have together. Default: 3 MiB."""

UNPACK_LIMIT: Final = "AGENTOOL_UNPACK_LIMIT"
"""Bytes that may come out of a compressed input (gzip, zstd) that is read: `1000000000`, `20GB`,
`512MiB`. Default: 200 times its size, or 64 MiB if that is more."""

COPIES: Final = "AGENTOOL_SPAN_COPIES"
"""`on`, `true`, `1` or `yes`: spans repeat times, kind and parent as attributes wherever they go.
Default: in recordings alone."""

CASE: Final = "AGENTOOL_EVAL_CASE"
"""The evaluation case that the runs of this process are tries of. Default: none."""

AGENT: Final = "AGENTOOL_AGENT"
"""Name of the agent that a plain loop around a client is. Default: none, and readers take the name
of the program."""

INFER_RUNS: Final = "AGENTOOL_INFER_RUNS"
"""`off`, `false`, `0` or `no`: the model calls of a plain loop stay traces of their own.
Default: on."""

PREFILTER: Final = "AGENTOOL_PREFILTER"
"""`off`, `false`, `0` or `no`: no engine decides which texts are searched for credentials. All are
searched, and the result is the same. Default: on."""

QUIET: Final = "AGENTOOL_QUIET"
"""`on`, `true`, `1` or `yes`: nothing is logged of where spans go, nor of values that are refused;
`status()` has both. Default: each is logged once, as a warning."""

RECORD: Final = "AGENTOOL_RECORD"
"""`on`, `true`, `1` or `yes`: spans that the application's own tracer provider takes are also
recorded. Default: off."""

STRICT: Final = "AGENTOOL_OTEL_STRICT"
"""`1` raises errors of this package, for its own tests. Default: they are logged."""

RUN_OPTIONS: Final = "AGENTOOL_OTEL_RUN"
"""The options of `agentool-otel run`, as JSON, for the Pythons that it starts. Default: none.
Read by `cli/_bootstrap/sitecustomize.py`, which spells the name itself."""

_CACHES: Final = ("XDG_CACHE_HOME", "LOCALAPPDATA")
"""The user's folder of caches, on Linux and on Windows. Default: `~/.cache`, `~/AppData/Local`.
Spec: XDG base directories 0.8; Windows, known folders."""

# ---------------------------------------------------------------------------------- OpenTelemetry

DISABLED: Final = "OTEL_SDK_DISABLED"
"""`true`: nothing is recorded. Default: false."""

CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Whether to capture content, and where to put it: `NO_CONTENT`, `SPAN_ONLY`, `EVENT_ONLY`,
`SPAN_AND_EVENT`; `true` and `false` as in the older generation. Default: on the spans of a local
recording, and not on spans that are sent.
Spec: GenAI conventions, 2026-08, as opentelemetry-util-genai 1.3b0 reads it.
"""

EXCEPTIONS: Final = "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN"
"""`logs`: exceptions are log records; `logs/dup`: on spans as well. Default: on spans.
Spec: OpenTelemetry semantic conventions, exceptions on spans and in logs."""

INSTRUMENTATIONS_DISABLED: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
"""Instrumentors to leave out, separated by commas, `*` for all. Default: none.
Source: opentelemetry-instrumentation 0.66, `opentelemetry-instrument`."""

DELAY: Final = "OTEL_BSP_SCHEDULE_DELAY"
"""Milliseconds that ended spans wait for others before they are sent. Default: 1000 (5000 in the
specification); 500 into a recording without a journal.
"""

BATCH_SIZE: Final = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
"""Spans in a request at most. Default: as many as 4 MiB hold."""

QUEUE_SIZE: Final = "OTEL_BSP_MAX_QUEUE_SIZE"
"""Spans that wait in memory without a journal. Default: 16384."""

EXPORT_TIMEOUT: Final = "OTEL_BSP_EXPORT_TIMEOUT"
"""Milliseconds that an attempt to send spans may take. Default: that of the exporter."""

_SDK_METRICS: Final = "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED"
"""`true`: the SDK counts the spans it starts. Default: false.
Source: opentelemetry-sdk 1.45, sdk/environment_variables."""

EVENT_LIMIT: Final = "OTEL_SPAN_EVENT_COUNT_LIMIT"
"""Events that a span keeps. Default: 128."""

_HANDED_DOWN: Final = {
    "traceparent": "TRACEPARENT",
    "tracestate": "TRACESTATE",
    "baggage": "BAGGAGE",
}
"""The context of the parent process, by the key of its propagator. Default: none.
Spec: OpenTelemetry, environment variables as context propagation carriers."""

_OF_REQUESTS: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Authorities that receivers are trusted by, where `OTEL_EXPORTER_OTLP_CERTIFICATE` names none.
Default: those of the system.
Source: requests 2.34, sessions.py, by which OpenTelemetry's exporter sends."""

# ------------------------------------------------------------------------ read by the SDK alone

SERVICE_NAME: Final = "OTEL_SERVICE_NAME"
"""`service.name` of the spans. Default: the name of the script."""

RESOURCE_ATTRIBUTES: Final = "OTEL_RESOURCE_ATTRIBUTES"
"""Further attributes of the resource, `key=value` pairs separated by commas. Default: none."""

SAMPLER: Final = "OTEL_TRACES_SAMPLER"
"""Choice of the runs to record. Default: `parentbased_always_on`."""

SAMPLER_ARGUMENT: Final = "OTEL_TRACES_SAMPLER_ARG"
"""The share of runs that a sampler by ratio records, from 0 to 1. Default: 1."""

ATTRIBUTE_COUNT_LIMIT: Final = "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"
"""Attributes that a span keeps. Default: 128."""

COUNT_LIMITS: Final = (
    "OTEL_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_LINK_COUNT_LIMIT",
)
"""Attributes that anything keeps, that an event and a link keep, and links that a span keeps.
Default: 128."""

VALUE_LENGTH_LIMITS: Final = (
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
)
"""Characters that the SDK keeps of an attribute, of spans alone the second. Default: all."""

# ----------------------------------------------------------------------------------- others'

OPENAI_BASE_URL: Final = "OPENAI_BASE_URL"
"""The endpoint of a judge. Default: OpenAI's.
Source: openai 1.40, `OpenAI(base_url=)`."""

OPENAI_API_KEY: Final = "OPENAI_API_KEY"
"""The key of a judge. Default: none, which an endpoint of one's own may not need.
Source: openai 1.40, `OpenAI(api_key=)`."""

OPENAI_API_BASE: Final = "OPENAI_API_BASE"
"""The older name of `OPENAI_BASE_URL`, which only `agentool_otel.testing` sets. Default: none.
Source: openai 0.28; langchain-openai 1.4, `ChatOpenAI(base_url=)`."""

ANTHROPIC_BASE_URL: Final = "ANTHROPIC_BASE_URL"
"""Server of Anthropic's client, which only `agentool_otel.testing` sets. Default: Anthropic's.
Source: anthropic 2.12, `Anthropic(base_url=)`.
"""

ANTHROPIC_API_KEY: Final = "ANTHROPIC_API_KEY"
"""The key of Anthropic's client, which only `agentool_otel.testing` sets. Default: none.
Source: anthropic 2.12, `Anthropic(api_key=)`."""

GOOGLE_GEMINI_BASE_URL: Final = "GOOGLE_GEMINI_BASE_URL"
"""Server of Google's client, which only `agentool_otel.testing` sets. Default: Google's.
Source: google-genai 3.6, _base_url.py.
"""

GEMINI_API_KEY: Final = "GEMINI_API_KEY"
"""The key of Google's client, which only `agentool_otel.testing` sets. Default: none.
Source: google-genai 3.6, `Client(api_key=)`."""

PYTHON_PATH: Final = "PYTHONPATH"
"""Folders that Python imports from; `agentool-otel run` puts one before them. Default: none.
Source: CPython, Doc/using/cmdline.rst."""

COLUMNS: Final = "COLUMNS"
"""Width of the output of commands, in columns. Default: that of the terminal, 120 in a file.
Source: POSIX, environment variables; rich 13, `Console(width=)`.
"""

PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
"""Proxies through which servers of traces are read. Default: none.
Source: httpx 0.28, _utils.py."""

CERTIFICATES: Final = "SSL_CERT_FILE"
"""Authorities that servers of traces are trusted by, as a file. Default: those of certifi.
Source: httpx 0.28, _config.py."""


def token_variable(store: str) -> str:
    """Return the variable with the bearer token for a server, such as `AGENTOOL_TEMPO_TOKEN`.

    Default: none; user and password of the server's URL come before it.
    """
    return f"AGENTOOL_{store.upper()}_TOKEN"


def tenant_variable(store: str) -> str:
    """Return the variable with the tenant whose traces are read, such as `AGENTOOL_TEMPO_TENANT`.

    Default: none.
    """
    return f"AGENTOOL_{store.upper()}_TENANT"


def exporter_variable(signal: Signal) -> str:
    """Return the variable with the destination of a signal: `otlp`, `console` or `none`.

    Default: spans into a recording, log records and metrics where spans go.
    """
    return f"OTEL_{signal.upper()}_EXPORTER"


# ---------------------------------------------------------------------------------------- reading


def value(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the value of a variable without white space around it, "" if it is unset."""
    return (os.environ if environ is None else environ).get(name, "").strip()


def run_sums_up() -> bool:
    """Return whether `agentool-otel run` has started this program, still runs, and sums up at its
    end what was delivered."""
    import json

    try:
        options = json.loads(value(RUN_OPTIONS) or "{}")
        return bool(options.get("sums_up")) and os.path.isdir(options["notes"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def is_set(name: str, environ: Mapping[str, str] | None = None) -> bool:
    return bool(value(name, environ))


def usable(
    name: str,
    read: Callable[[str], _T],
    default: _U,
    environ: Mapping[str, str] | None = None,
    instead: str = "it counts as unset",
) -> _T | _U:
    """Return the parsed value of a variable: the default if it is unset or invalid.

    `read` raises ValueError, or an error of ours, with words that follow `NAME=text`; `instead` is
    what holds then.
    """
    text = value(name, environ)
    if not text:
        return default
    try:
        return read(text)
    except (ValueError, AgentoolError) as error:
        refuse(name, f"{error}; {instead}", environ)
        return default


def refuse(name: str, why: str, environ: Mapping[str, str] | None = None) -> None:
    """Note that the value of a variable is not used, and log it once."""
    _notices.refuse(name, value(name, environ), why, quiet(environ))


def refused() -> dict[str, str]:
    """Return the notices about variables whose current values are invalid, by name."""
    return {
        name: sentence
        for name, (text, sentence) in sorted(_notices.refused.items())
        if value(name) == text
    }


def notice(sentence: str) -> None:
    """Log a notice about the configuration of this process, once."""
    _notices.log(sentence, quiet())


def quiet(environ: Mapping[str, str] | None = None) -> bool:
    return value(QUIET, environ).lower() in values.ON


def sdk_disabled(environ: Mapping[str, str] | None = None) -> bool:
    read = values.word("true", "false")
    return usable(DISABLED, read, "false", environ) == "true"


def strict(environ: Mapping[str, str] | None = None) -> bool:
    return usable(STRICT, values.switch, False, environ)


def record_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether spans are to be recorded in addition to the application's own tracer
    provider.
    """
    return usable(RECORD, values.switch, False, environ)


def recordings_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the recordings."""
    return Path((os.environ if environ is None else environ).get(FOLDER) or ".agentool")


def cache_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder for what this package can make again, of this user alone; None if the user
    has no home."""
    environ = os.environ if environ is None else environ
    on_windows, on_mac = os.name == "nt", sys.platform == "darwin"
    named = "" if on_mac else environ.get(_CACHES[on_windows], "")
    if os.path.isabs(named):
        return Path(named) / "agentool-otel"
    default = "AppData/Local" if on_windows else "Library/Caches" if on_mac else ".cache"
    try:
        return Path.home() / default / "agentool-otel"
    except RuntimeError:
        return None


def journal_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether each span is written to disk before its `end()` returns."""
    return usable(JOURNAL, values.switch, True, environ)


def prefilter_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether an engine may decide which texts are searched for credentials."""
    return usable(PREFILTER, values.switch, True, environ)


def sync_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether writes are synced to the disk."""
    return usable(SYNC, values.switch, False, environ)


def size_limit(environ: Mapping[str, str] | None = None) -> int | None:
    """Return the size limit of the folder of recordings, in bytes; None if it is not set."""
    return usable(MAX_SIZE, values.size_limit, None, environ, "there is no limit")


def age_limit(environ: Mapping[str, str] | None = None) -> int | None:
    """Return the age limit of files of recordings, in nanoseconds; None if it is not set."""
    return usable(MAX_AGE, values.age, None, environ, "there is no limit")


def unpack_limit(environ: Mapping[str, str] | None = None) -> int | None:
    """Return the size limit of a decompressed input, in bytes; None if it is not set."""
    return usable(UNPACK_LIMIT, values.size, None, environ)


def copies_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether spans are to repeat their times, kind and parent wherever they go."""
    return usable(COPIES, values.switch, False, environ)


def agent_usage_wanted(environ: Mapping[str, str] | None = None, default: bool = False) -> bool:
    """Return whether spans of agents have the tokens of the model calls below."""
    return usable(AGENT_USAGE, values.switch, default, environ)


def agent(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the name of the agent that a plain loop is, None for none."""
    return value(AGENT, environ) or None


def infer_runs(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the model calls of a plain loop become a run."""
    return usable(INFER_RUNS, values.switch, True, environ)


def case_id(environ: Mapping[str, str] | None = None) -> str:
    return value(CASE, environ)


def disabled_instrumentations(environ: Mapping[str, str] | None = None) -> frozenset[str]:
    names = value(INSTRUMENTATIONS_DISABLED, environ).split(",")
    return frozenset(name.strip() for name in names)


def sdk_measures_itself(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the SDK counts the spans that it starts."""
    read = values.word("true", "false")
    return usable(_SDK_METRICS, read, "false", environ) == "true"


def event_limit(environ: Mapping[str, str] | None = None) -> int:
    """Return how many events a span keeps."""
    return usable(EVENT_LIMIT, values.count, 128, environ)


def names_of_opentelemetry() -> Iterator[str]:
    """Yield the variables of OpenTelemetry that are named here."""
    for item in [*globals().values()]:
        for name in item if isinstance(item, tuple) else (item,):
            if isinstance(name, str) and name.startswith("OTEL_"):
                yield name
    yield from map(exporter_variable, get_args(Signal))


def of_opentelemetry(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of OpenTelemetry that are set, whoever reads them."""
    environ = os.environ if environ is None else environ
    return {name: text for name, text in environ.items() if name.startswith("OTEL_")}


def of_this_package(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of this package that are set."""
    environ = os.environ if environ is None else environ
    return {name: text for name, text in environ.items() if name.startswith("AGENTOOL_")}


def pairs(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the `key=value` pairs of a variable, separated by commas, without invalid ones."""
    text, is_complete = values.pairs(value(name, environ))
    if not is_complete:
        refuse(name, "has entries that are no key=value pairs; they are left out", environ)
    return text


def handed_down(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the context that a parent process has left, as a propagator reads it."""
    environ = os.environ if environ is None else environ
    return {key: environ[name] for key, name in _HANDED_DOWN.items() if name in environ}


def trusted_by_requests(environ: Mapping[str, str] | None = None) -> str:
    """Return the file or folder of the authorities that `requests` trusts, "" for the system's."""
    first, second = (value(name, environ) for name in _OF_REQUESTS)
    return first or second
