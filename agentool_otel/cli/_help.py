"""The texts of `--help` and `help` that belong to no single command: lines, examples, topics."""

from __future__ import annotations

from agentool_otel.ground import environment

__all__ = ["COMMANDS", "EXAMPLES", "EXTRA_TOPICS", "with_examples"]

COMMANDS = {
    "run": "Record a Python program without changing it.",
    "demo": "Run a small agent and show its recording.",
    "show": "Show the steps of recorded runs.",
    "eval": "Check recorded runs against cases.",
    "diff": "Compare two sets of recorded runs step by step.",
    "compare": "Compare runs of the same task in several frameworks.",
    "rebuild": "Turn spans into ReasoningTrace JSON Lines.",
    "export": "Turn ReasoningTrace documents into spans.",
    "convert": "Turn documents of other systems into each other.",
    "validate": "Check documents, cases and recordings.",
    "schema": "Print the JSON Schema of cases, for editors.",
    "clean": "Remove recordings.",
    "recover": "Close and re-send spans of a dead process.",
    "doctor": "Check the set-up and whether spans arrive.",
    "registry": "Print our attribute names for OpenTelemetry Weaver.",
    "help": "Explain a command, or the forms of a SOURCE.",
}
"""Command to its line in `--help`, which is shown without importing any of them."""

EXAMPLES = {
    "run": ("run -- python app.py", "run --endpoint http://localhost:4318 -- python app.py"),
    "demo": ("demo",),
    "show": ("show --last 1", "show --status error --since 2h", "show 1 --explain"),
    "eval": ("eval checks.jsonl --last 1", "eval cases.jsonl traces.jsonl --junit report.xml"),
    "diff": ("diff before.jsonl .agentool --last 1", "diff 1 2 --skip content,output"),
    "compare": ("compare", "compare .agentool --by model --last 20"),
    "rebuild": ("rebuild -o traces.jsonl", "rebuild --last 1 --format openai-messages"),
    "export": ("export traces.jsonl -o spans.jsonl",),
    "convert": ("convert tools.json --to openai-tools",),
    "validate": ("validate cases.jsonl traces.jsonl",),
    "schema": ("schema --path",),
    "clean": ("clean --older 7d --dry-run", "clean --keep 20"),
    "recover": ("recover", "recover --endpoint http://localhost:4318"),
    "doctor": ("doctor", "doctor --endpoint http://localhost:4318"),
    "registry": ("registry",),
    "help": ("help show", "help source"),
}
"""Command to examples of it, without the name of the program. Tests run them."""

_SOURCE = f"""\
A SOURCE is a place that commands read runs from.

  (none)                   .agentool/, or the folder that {environment.FOLDER} names
  FILE, FOLDER, 'PATTERN'  recordings and exports; `-` is standard input
  tempo://HOST:3200        Grafana Tempo; tempo+https:// over TLS
  jaeger://HOST:16686      Jaeger; jaeger+https:// over TLS
  s3://BUCKET/PREFIX       and other places of fsspec (extra `remote`)
  AGENT://                 sessions of a coding agent on this machine, of
    {{agents}}

What to read stands after `?`, joined by `&`. Of an agent, else those of today:
  since=7d project=NAME session=ID
Of a server (extra `servers`; {{tokens}}):
  trace=ID service=NAME attribute=KEY=VALUE since=2h until=TIME
  timeout=60s within=1h max_traces=9 max_requests=9 max_services=9

Formats, told by their content, plain, gzip or zstd:
  OTLP as JSON or protobuf; trace documents (ReasoningTrace, ATIF);
"""


def _source() -> str:
    from textwrap import fill

    from agentool_otel.ground.plugins import plugins

    names = {"server": list[str](), "sessions": list[str]()}
    for name, point in sorted(plugins("agentool_otel.sources").items()):
        names["sessions" if ".sessions:" in point.value else "server"].append(name)
    places = _SOURCE.format(
        agents=" or ".join(", ".join(names["sessions"]).rsplit(", ", 1)),
        tokens=", ".join(map(environment.token_variable, names["server"])),
    )
    stores = ", ".join(_titles("agentool_otel.stores"))
    logs = ", ".join(_titles("agentool_otel.log_readers"))
    formats = f"JSON of OpenTelemetry SDKs, Tempo, column stores, {stores};"
    text = f"{formats} CSV, TSV and Parquet; sessions and logs of {logs}"
    return f"{places}{fill(text, 78, initial_indent='  ', subsequent_indent='  ')}\n"


def _titles(group: str) -> list[str]:
    """Return the titles of the products that announce an object in a group of entry points."""
    from agentool_otel.ground.integrations import integrations
    from agentool_otel.ground.plugins import plugins

    products = integrations()
    return [products[name].title if name in products else name for name in sorted(plugins(group))]


EXTRA_TOPICS = {"source": _source}
"""Topics of `help` besides commands, each with a function that returns its text."""


def with_examples(name: str) -> str:
    """Return the end of a command's help."""
    examples = "\n".join(f"  agentool-otel {example}" for example in EXAMPLES[name])
    word = "Example" if len(EXAMPLES[name]) == 1 else "Examples"
    return f"\b\n{word}:\n{examples}"
