"""Recall and precision on real traces: the share of their contents that is found, and of the found
that is right.
"""
