"""Spans in any order to whole traces, in bounded memory."""
