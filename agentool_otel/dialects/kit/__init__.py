"""What dialects share: reading attributes, saying the same in GenAI words, stores' envelopes.

dialect            what a dialect is, and which one a span speaks
reading            attributes, read leniently
to_gen_ai          dialects that are read by saying the same in the words of the conventions
store_spans        an operation from a type, a name, an input and an output
store_envelope     spans that a store has put attributes of its own around
provider_messages  messages in the shapes of providers' own APIs
flattened          lists and objects spread over dotted, indexed names
errors             errors that only an exception event says
quoted_agents      other agents' words, given to a model as the user's
langchain_values   inputs and outputs of LangChain's runs
python_text        values that were printed rather than encoded
"""
