"""Who uses Plotline: what they may read and write, how they log in, their account pages and their quotas.

`access` is the module to read first: everything that decides about a person's rights is there.
"""
