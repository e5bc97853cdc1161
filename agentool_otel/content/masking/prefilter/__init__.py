"""The prefilter: one look at a text that tells whether the exact search can mask something in it.

patterns    the set of byte patterns, generated from the tables of the exact search
supersets   how an expression over text becomes a pattern over bytes
names       names of credentials, by the test of their values
values      the values that such a test accepts
"""
