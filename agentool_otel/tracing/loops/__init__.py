"""Plain loops around a client: their model calls and tools become one inferred run.

history      evidence in the messages of a call: the answers and results they hold
loop         the span of one inferred run, and the tools that nobody decorated
open_loops   the loops of the process, and which of them a call continues
ends         ends the loops that nobody continues
placement    where the span of a model call or a tool belongs
chat_objects the sessions of chats that a client keeps as an object
"""
