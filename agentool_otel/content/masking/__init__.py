"""Credentials in texts: how they are recognised and taken out.

credentials        the whole of it: a text in, a text without credentials out
secret_names       by the name of the member, variable, header or parameter that holds them
credential_shapes  by their own shape: a new kind of key goes here
assignments        by the name they are assigned to, in text that is no JSON
command_lines      by an option of a command
grammars           by a name in another grammar: XML, SQL, tables, configurations
prefilter          one look, in C, that decides whether the search runs
"""
