"""The events of a session, and the records of them.

names    names of spans, log records and lines of session files
outputs  what tools returned, in the words that the model was sent
records  which event a record is of
"""
