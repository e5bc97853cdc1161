"""Shared parts of dialects: attribute readers, translation to GenAI names, envelopes of stores.

dialect            what a dialect is, and which one a span is written in
agent_tools        tools of handoffs, delegations, commands and edits, as a dialect declares them
reading            attributes, read leniently
to_gen_ai          translate other vocabularies into the attributes of the GenAI conventions
store_spans        an operation from a type, a name, an input and an output
store_envelope     spans that a store has wrapped in attributes of its own
provider_messages  messages in the shapes of providers' own APIs
flattened          lists and objects spread over dotted, indexed names
errors             errors that are recorded only as an exception event
quoted_agents      messages of other agents that a model is sent as the user's
langchain_values   inputs and outputs of LangChain's runs
python_text        values that were printed rather than encoded
session_entries    records of a coding agent's session, and the events that they are of
session_groups     which records are of the same event, by their ids
session_pairs      ids for records that have none, by content and time
session_events     one event, of all of its records
session_tree       the spans of a session, one for each event
"""
