"""Attribute names, their types and the attributes of every span type: data, no behaviour.

One module per vocabulary (`gen_ai`, `mcp`, `openai`, `core`, and ours in `agentool`) holds the
names as constants; `table` says what each of them is and which spans they belong on. Names move
upstream, so nothing outside this package spells one out.
"""
