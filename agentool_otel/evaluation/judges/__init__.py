"""Judges, for questions that no rule can decide: a model, or a callable of the user's.

questions    the questions to a judge, and its answers
prompts      a question, and the trace fenced off so that it cannot pass for instructions
masking      credentials in the values of a trace
shortening   a long trace within a budget of characters
answers      reading an answer strictly
asking       several questions at a time, from a thread of its own
suppressing  keeping its calls out of all telemetry
openai       a model as a judge, through the official client
endpoint     its calls, in a form that is accepted, repeated where that helps
failures     what to say about a failed call, and whether to try again
cache        answers kept on disk
usage        what judging uses, counted apart from the agent's

Nothing here connects anywhere unless a judge is given.
"""
