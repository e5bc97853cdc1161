"""Run the instrumentors' tests against other versions of the frameworks, and beside other tracing
packages, each in an environment of its own.

    python -m tests.frameworks            all that every change has to pass
    python -m tests.frameworks openai-2   one
    python -m tests.frameworks nightly    the versions that change no more

The development environment holds the newest major versions; these hold the ones before, because
both are in wide use, and the oldest OpenTelemetry and wrapt the package admits. Of other tracing
packages there are the newest, and the oldest that install together and are made of OpenTelemetry.
Environments for one product are in `tests/integrations/<product>/environments.py`; products that
name the same one share it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

from tests.environments import CONTRACT, SITUATIONS, Environment, prepare

ROOT = Path(__file__).parent.parent
HOME = ROOT / ".venv-frameworks"
COMMON = ["pytest", "pytest-xdist", "hypothesis", "opentelemetry-proto"]
ENVIRONMENTS = {
    "openai-2": [
        "openai>=2,<3",
        "langchain==1.0.*",
        "langchain-core==1.0.*",
        "langchain-openai==1.0.*",
        # Left alone, langgraph 1.0 resolves to a prebuilt package made for a newer langgraph.
        "langgraph==1.0.3",
        "langgraph-prebuilt==1.0.2",
        "langgraph-checkpoint<4",
    ],
    "oldest": ["openai==1.66.*", "opentelemetry-sdk==1.30.*", "wrapt<2", "httpx<1"],
    # Lower bounds, or pip may settle for releases that are years old.
    "beside-newest": [
        "openai>=3",
        "openinference-instrumentation-openai>=0.1.60",
        "opentelemetry-instrumentation-openai>=0.62",
        "logfire>=5",
        "langfuse>=5",
    ],
    # langchain-openai does not admit the newest openai yet.
    "beside-langchain": [
        "langchain>=1",
        "langchain-openai>=1",
        "openinference-instrumentation-langchain>=0.1.60",
        "opentelemetry-instrumentation-langchain>=0.62",
    ],
    "beside-agents": [
        "openai>=3",
        "anthropic>=2",
        "mcp>=2",
        "fastmcp>=4",
        "openai-agents>=0.20",
        "pydantic-ai-slim[openai]>=2",
        "openinference-instrumentation-openai>=0.1.60",
        "openinference-instrumentation-anthropic>=3",
        "openinference-instrumentation-mcp>=2",
        "openinference-instrumentation-openai-agents>=2",
        "openinference-instrumentation-pydantic-ai>=0.1.30",
        "opentelemetry-instrumentation-openai>=0.62",
        "opentelemetry-instrumentation-anthropic>=0.62",
        "opentelemetry-instrumentation-mcp>=0.62",
        "opentelemetry-instrumentation-openai-agents>=0.62",
    ],
    "beside-oldest": [
        "openai==1.66.*",
        "httpx<1",
        "opentelemetry-sdk==1.33.*",
        "openinference-instrumentation-openai==0.1.22",
        "opentelemetry-instrumentation-openai==0.40.*",
        "logfire==3.16.*",
        "langfuse==3.0.0",
    ],
    "agents": [
        "openai>=3",
        "anthropic>=2",
        "mcp>=2",
        "fastmcp>=4",
        "openai-agents>=0.20",
        "pydantic-ai-slim[openai,anthropic]>=2",
    ],
    # The oldest that the instrumentors admit.
    "agents-oldest": [
        # Of the time of the others, which do not work with later ones.
        "openai==2.9.*",
        "pydantic-settings<2.13",
        "mcp==1.23.*",
        "openai-agents==0.6.9",
    ],
    # Clients of models, which a service and a worker use; the packages are with the products.
    "clients": ["fastapi", "uvicorn", "celery"],
    # Servers, notebooks, checkers of manifests, and what puts greenlets into the place of threads.
    "places": [
        *("gunicorn", "celery", "gevent", "eventlet"),
        *("nbclient", "ipykernel", "kubernetes-validate", "check-jsonschema"),
        *("openai", "jsonschema", "pyyaml"),
    ],
}
TESTS = [
    *("tests/integrations", "tests/tracing/instrumentation", "tests/tracing/setup"),
    *("tests/tracing/capture", "tests/roundtrip"),
]
BESIDE = ["tests/guest/test_beside_tracers.py"]
BESIDE_FRAMEWORKS = ["tests/situations/test_beside.py", "-m", "not backends"]
AGENTS = [
    "tests/loops",
    *("tests/integrations/mcp", "tests/integrations/fastmcp"),
    *("tests/integrations/openai_agents", "tests/integrations/pydantic_ai"),
]
OTHER_TESTS = {
    # Without the comparisons with the official encoder, which said less then.
    "oldest": [
        *TESTS,
        *(
            f"tests/tracing/export/test_{name}.py"
            for name in ("exits", "journal", "kills", "otlp", "outbox")
        ),
    ],
    "agents": [*SITUATIONS, "tests/integrations/anthropic", *AGENTS],
    "agents-oldest": [*CONTRACT, *AGENTS],
    "clients": ["tests/guest/test_work.py", "-k", "google_genai or litellm or bedrock or work"],
    "places": [
        "tests/tracing/export/test_servers.py",
        "tests/examples/test_where_it_runs.py",
        "tests/security/test_greenlets.py",
    ],
    "beside-newest": BESIDE,
    "beside-oldest": BESIDE,
    "beside-langchain": ["tests/guest/test_beside_langchain.py", *BESIDE_FRAMEWORKS],
    "beside-agents": [
        *("tests/guest/test_beside_openai_agents.py", "tests/guest/test_beside_anthropic.py"),
        *BESIDE_FRAMEWORKS,
    ],
}


NIGHTLY = {"agents-oldest", "beside-oldest"}
for _file in sorted((ROOT / "tests" / "integrations").glob("*/environments.py")):
    _module = import_module(f"tests.integrations.{_file.parent.name}.environments")
    _declared: dict[str, Environment] = _module.ENVIRONMENTS
    for _name, _environment in _declared.items():  # several products may share one
        _shared = ENVIRONMENTS.get(_name, []), OTHER_TESTS.get(_name, [])
        ENVIRONMENTS[_name] = list(dict.fromkeys((*_shared[0], *_environment.packages)))
        OTHER_TESTS[_name] = list(dict.fromkeys((*_shared[1], *_environment.tests)))
        if _environment.nightly:
            NIGHTLY.add(_name)


def main(names: list[str]) -> int:
    if names == ["nightly"]:
        names = sorted(NIGHTLY)
    unknown = sorted(set(names) - set(ENVIRONMENTS))
    if unknown:
        print(f"unknown environment {unknown[0]!r}: use {', '.join(ENVIRONMENTS)}", file=sys.stderr)
        return 2
    failed: list[str] = []
    for name in names or [
        environment for environment in ENVIRONMENTS if environment not in NIGHTLY
    ]:
        print(f"--- {name}: {', '.join(ENVIRONMENTS[name])}", file=sys.stderr, flush=True)
        python = prepare(HOME / name, ["-e", str(ROOT), *COMMON, *ENVIRONMENTS[name]])
        tests = [str(python), "-m", "pytest", "-n", "2", *OTHER_TESTS.get(name, TESTS)]
        if subprocess.run(tests, cwd=ROOT, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
