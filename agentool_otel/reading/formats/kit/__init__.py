"""Shared building blocks of the format modules.

format    what a format is, and which ones are installed
members   members of a trace as a format takes them, and those that have no place
turns     a trace as turns of a model and its tools
"""
