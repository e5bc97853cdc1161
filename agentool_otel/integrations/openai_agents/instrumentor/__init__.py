"""OpenAI's Agents SDK.

patches        the patch table
runs           a run: the agent or the workflow that the runner is called for
sdk_spans      the SDK's own spans, observed where they start and finish
sessions       the conversation that a session keeps
values         prompts and answers of the SDK as messages
"""
