"""Amazon Bedrock by boto3 and aioboto3: the method that all their calls go through.

    Converse, ConverseStream         chat
    InvokeModel, ...ResponseStream   chat, in the format of the model's maker; embeddings
    InvokeAgent, InvokeInlineAgent   invoke_agent of a remote agent; with `enableTrace` its model
                                     calls, actions and look-ups too
    Retrieve                         retrieval
    RetrieveAndGenerate, ...Stream   chat

Not seen: bidirectional streams, asynchronous invocations, flows, guardrails that are applied by
themselves, sessions that are managed.
"""

from __future__ import annotations

from agentool_otel.integrations.bedrock.instrumentor.calls import PATCHES
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["BedrockInstrumentor"]


class BedrockInstrumentor(AgentInstrumentor):
    """Converse, InvokeModel, agents and knowledge bases of Amazon Bedrock, by boto3 and aioboto3:
    patches of the method that makes their calls"""

    framework = "boto3"
    supports = ("boto3 >= 1.37",)
    patches = PATCHES
