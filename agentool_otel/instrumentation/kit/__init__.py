"""What instrumentors share, so that one of them is a table of where and what.

instrumentor   the patch table, and everything frameworks have in common
client_calls   a call of a client library: sync, async, raw response
streams        answers that come in chunks
wrapper_chain  wrappers of other tools around the same function
"""
