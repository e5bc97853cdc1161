"""Judges, for questions that no rule can decide: a model, or a callable of the user's.

questions    the questions to a judge, and its answers
prompts      a question, and the trace fenced off so that it cannot pass for instructions
masking      credentials in the values of a trace
shortening   a long trace within a budget of characters
answers      reading an answer strictly
asking       concurrent questions, from a separate thread
suppressing  keep its calls out of all telemetry
openai       a model as a judge, through the official client
endpoint     its calls, in a form that is accepted, with retries
failures     messages about failed calls, and whether to try again
cache        answers kept on disk
usage        usage of the judge, apart from the agent's

Nothing here connects anywhere unless a judge is given.
"""
