"""The events of a session, and the records of them.

names    names of spans and lines of session files
records  which event a record is of
"""
