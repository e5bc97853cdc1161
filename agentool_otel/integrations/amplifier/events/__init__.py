"""Amplifier's kernel events, as hooks get them and as its logger writes them.

translator   what each event does to the steps of its session
session      one session: its turn, its model calls and its tool calls under way
payloads     what events hold, in the words of every orchestrator and provider module
event_names  which events there are

Source: microsoft/amplifier-core 2.0.2, and what its orchestrators loop-basic and loop-streaming
send.
"""
