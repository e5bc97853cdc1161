"""CrewAI: crews, flows, agents, tools, memory and knowledge, by the events of its bus."""

from agentool_otel.integrations.crewai.instrumentor.patches import CrewAIInstrumentor

__all__ = ["CrewAIInstrumentor"]
