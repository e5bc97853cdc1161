"""Judges, for what no rule can decide: a model, or a callable of the user's.

questions    what a judge is asked, and what it answers
prompts      a question in words, and a trace fenced so that nothing in it can speak for us
shortening   a long trace in as many characters as a judge is given
answers      what a judge returned, read strictly
asking       several questions at a time, from a thread of its own
suppressing  its calls, recorded by nobody
openai       a model as a judge, through the official client
endpoint     its calls, in a form it takes, again where that helps
failures     what went wrong with a call, in words, and whether to try again
cache        answers kept on disk
usage        what judging used, counted apart from the agent's

Nothing here connects anywhere unless a judge is given.
"""
