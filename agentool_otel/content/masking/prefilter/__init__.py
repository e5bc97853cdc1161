"""The prefilter: one look at a text that decides whether the exact search runs on it.

What the exact search masks, the prefilter sees. The reverse does not hold: it sees more.

look        the prefilter of this process, and when it loads
database    the compiled patterns in the user's cache folder
engine      Hyperscan
patterns    the set of byte patterns, generated from the tables of the exact search
names       names of credentials, by the sort of their values
values      the values that the exact search accepts, by their test
supersets   how an expression over text becomes a pattern over bytes
"""
