"""Shared building blocks of the format modules.

objects  one object of a format and one of the spec, without losing what either lacks
tools    lists of tools
fields   members of a document, and what is wrong with them
"""
