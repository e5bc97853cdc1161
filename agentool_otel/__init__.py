"""OpenTelemetry exporter and instrumentation SDK of the agentool spec.

    import agentool_otel
    agentool_otel.instrument()            # every supported framework, recorded in .agentool/

    @agentool_otel.tool, @agentool_otel.agent, @agentool_otel.step(...)
    with agentool_otel.run("researcher", input=...) as run: ...
    with agentool_otel.session("s1", user_id="u1"): ...     # whose work everything below is
    with agentool_otel.model_call("model", messages=...) as call: ...
    agentool_otel.score(run, "helpful", True)                   # feedback, now or later

    for trace in agentool_otel.load(".agentool"):
        print(trace)
        for call, result in trace.pairs():
            print(call, "→", result)
    for result in agentool_otel.evaluate(cases, traces): ...

Importing this package loads no framework, no SDK and no exporter; names load when first used.

Note:
    The last word is for pytest, which warns if `agentool-otel run` imports the package of a
    plug-in first. The package has no assertions to rewrite: PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentool_otel.errors import AgentoolError as AgentoolError
    from agentool_otel.evaluation import evaluate as evaluate
    from agentool_otel.ground.version import __version__ as __version__
    from agentool_otel.loading import load as load
    from agentool_otel.loading import rebuild as rebuild
    from agentool_otel.model import Assertion as Assertion
    from agentool_otel.model import AssertionResult as AssertionResult
    from agentool_otel.model import EvalCase as EvalCase
    from agentool_otel.model import EvalResult as EvalResult
    from agentool_otel.model import ReasoningTrace as ReasoningTrace
    from agentool_otel.model import RegisteredTool as RegisteredTool
    from agentool_otel.model import Step as Step
    from agentool_otel.model import ToolCall as ToolCall
    from agentool_otel.model import ToolRegistry as ToolRegistry
    from agentool_otel.model import ToolResult as ToolResult
    from agentool_otel.model import ToolSpec as ToolSpec
    from agentool_otel.model import TraceMetrics as TraceMetrics
    from agentool_otel.reading.rebuild.trace import Rebuilt as Rebuilt
    from agentool_otel.replaying import replay as replay
    from agentool_otel.tracing.capture import AgentRun as AgentRun
    from agentool_otel.tracing.capture import agent as agent
    from agentool_otel.tracing.capture import run as run
    from agentool_otel.tracing.capture import session as session
    from agentool_otel.tracing.capture import step as step
    from agentool_otel.tracing.capture import tool as tool
    from agentool_otel.tracing.capture.embedding_calls import EmbeddingsCall as EmbeddingsCall
    from agentool_otel.tracing.capture.embedding_calls import embeddings as embeddings
    from agentool_otel.tracing.capture.model_calls import ModelCall as ModelCall
    from agentool_otel.tracing.capture.model_calls import model_call as model_call
    from agentool_otel.tracing.capture.retrievals import RetrievalCall as RetrievalCall
    from agentool_otel.tracing.capture.retrievals import retrieval as retrieval
    from agentool_otel.tracing.capture.scores import score as score
    from agentool_otel.tracing.setup.runtime import flush as flush
    from agentool_otel.tracing.setup.runtime import instrument as instrument
    from agentool_otel.tracing.setup.runtime import status as status
    from agentool_otel.tracing.setup.runtime import uninstrument as uninstrument

_HOMES = {
    "ground.version": ("__version__",),
    "tracing.capture": ("AgentRun", "agent", "run", "session", "step", "tool"),
    "tracing.capture.embedding_calls": ("EmbeddingsCall", "embeddings"),
    "tracing.capture.model_calls": ("ModelCall", "model_call"),
    "tracing.capture.retrievals": ("RetrievalCall", "retrieval"),
    "tracing.capture.scores": ("score",),
    "replaying": ("replay",),
    "errors": ("AgentoolError",),
    "evaluation": ("evaluate",),
    "tracing.setup.runtime": ("flush", "instrument", "status", "uninstrument"),
    "model": (
        "Assertion",
        "AssertionResult",
        "EvalCase",
        "EvalResult",
        "ReasoningTrace",
        "RegisteredTool",
        "Step",
        "ToolCall",
        "ToolRegistry",
        "ToolResult",
        "ToolSpec",
        "TraceMetrics",
    ),
    "loading": ("load", "rebuild"),
    "reading.rebuild.trace": ("Rebuilt",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AgentRun",
    "AgentoolError",
    "Assertion",
    "AssertionResult",
    "EmbeddingsCall",
    "EvalCase",
    "EvalResult",
    "ModelCall",
    "ReasoningTrace",
    "Rebuilt",
    "RegisteredTool",
    "RetrievalCall",
    "Step",
    "ToolCall",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "TraceMetrics",
    "__version__",
    "agent",
    "embeddings",
    "evaluate",
    "flush",
    "instrument",
    "load",
    "model_call",
    "rebuild",
    "replay",
    "retrieval",
    "run",
    "score",
    "session",
    "status",
    "step",
    "tool",
    "uninstrument",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)


# `agentool-otel run` waits for this package, and pytest finds its plug-ins before other finders.
if (_hooks := sys.modules.get(f"{__name__}.ground.import_hooks")) is not None:
    _hooks.reach(__name__)
