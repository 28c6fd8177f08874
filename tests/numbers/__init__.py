"""Labelled answers about tables: how well the ledger of numbers tells true figures from altered ones.

`tables` makes 50 tables with pandas and prints real outputs of them, in the Python of kernels. `answers` writes ten
answers about each table in its language, half of them with altered figures, and `measure` traces their numbers.
`fresh.json` has 60 answers and `independent.json` 80 that were written and labelled without knowledge of the ledger.
`python -m tests.numbers` prints the figures.
"""
