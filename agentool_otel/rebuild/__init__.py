"""Collected spans back to trajectories.

tree           the spans of one OTel trace, linked
runs           which spans make which run
wrappers       runs that only stand around another one
gathering      runs that several OTel traces tell
bare           model calls without an agent around them, until all are there
ghosts         bare calls that a run tells of as well
conversations  by what bare model calls refer to each other
joining        what belongs together by that
calls          the model calls of a run, each once
steps          the operations of a run to its ordered steps
tool_calls     a tool call in the making
guessing       which calls the tool spans run that say only a name
handoffs       how one agent hands over to another
timeline       steps that only our own events know
ends           what went into a run and what came out
status         how it ended, and the signal that says so
trace          the members around the steps
judgements     what judges a run, apart from it
results        EvalResults as spans and events, and back
residue        what a replayed trace says beyond its natural reading
fidelity       where each field came from, and what is missing
parallel       rebuilding in several processes
cost           what a run cost, where its spans do not say it
observed       what the spans say about their own truth
replay         the forward direction: a trace as spans with its original times
"""

from __future__ import annotations

from agentool_otel.rebuild._load import load, rebuild
from agentool_otel.rebuild.cost import Prices
from agentool_otel.rebuild.fidelity import Fidelity
from agentool_otel.rebuild.trace import Rebuilt

__all__ = ["Fidelity", "Prices", "Rebuilt", "load", "rebuild"]
