"""Check 70: WayFlow without its listener of Agent Spec is not recorded, and a line warns once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.seed_systems.agent_spec.runtimes import ROOT, missing
from tests.tracing.setup.test_setup import run

PROGRAM = """
import warnings; warnings.simplefilter("ignore")
import agentool_otel
agentool_otel.instrument()
from wayflowcore.agentspec import AgentSpecLoader
from wayflowcore.agentspec.tracing import AgentSpecEventListener
from wayflowcore.events.eventlistener import register_event_listeners
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import Turn
from tests.seed_systems.agent_spec.specs import agent, to_json
with LoopbackModel(Turn(text="hello"), Turn(text="hello")) as model:
    text = to_json(agent(model.base_url, tools=[]))
    assistant = AgentSpecLoader(tool_registry={}).load_json(text)
    with register_event_listeners(LISTENERS):
        for _ in range(2):
            conversation = assistant.start_conversation()
            conversation.append_user_message("hi")
            conversation.execute()
agentool_otel.flush()
print(agentool_otel.status().spans.created)
"""


@pytest.mark.parametrize(
    ("listeners", "quiet", "lines"),
    [("[]", "", 1), ("[]", "on", 0), ("[AgentSpecEventListener()]", "", 0)],
)
def test_check_70_a_missing_listener_is_warned_of_once(
    listeners: str, quiet: str, lines: int, tmp_path: Path
) -> None:
    missing("wayflow")
    code = PROGRAM.replace("LISTENERS", listeners)
    environ = {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none", "AGENTOOL_QUIET": quiet}
    done = run(tmp_path, code, **environ)
    assert done.stderr.count("no AgentSpecEventListener is registered") == lines
    assert (int(done.stdout) > 0) == (listeners != "[]")
