"""Attribute names of OpenLLMetry (Traceloop).

Source: opentelemetry-semantic-conventions-ai 0.5.1 and the instrumentations of 0.62.4 (2026-11).
"""

SPAN_KIND = "traceloop.span.kind"
WORKFLOW = "workflow"
TASK = "task"
AGENT = "agent"
TOOL = "tool"
HANDOFF = "handoff"

ENTITY_NAME = "traceloop.entity.name"
ENTITY_INPUT = "traceloop.entity.input"
ENTITY_OUTPUT = "traceloop.entity.output"
WORKFLOW_NAME = "traceloop.workflow.name"
ASSOCIATION = "traceloop.association.properties."

REQUEST_TYPE = "llm.request.type"
REQUEST_FUNCTIONS = "llm.request.functions"

TASK_INPUT = "gen_ai.task.input"
TASK_OUTPUT = "gen_ai.task.output"
GRAPH_NODES = "gen_ai.workflow.nodes"
HANDOFF_FROM = "gen_ai.handoff.from_agent"
HANDOFF_TO = "gen_ai.handoff.to_agent"

COMMAND = "langgraph.command."
GOTO = "goto"
GOTO_FROM = "langgraph.command.source_node"
GOTO_TO = "langgraph.command.goto_node"
