"""The events of a session, and the records of them.

names    names of spans and parts of messages
outputs  what a tool returned
records  which event a record is of
"""
